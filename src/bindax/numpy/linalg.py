"""Linear algebra: systems of equations, decompositions, norms.

>>> import bindax.numpy.linalg
>>> bindax.numpy.linalg.norm(bindax.numpy.array([3.0, 4.0]))
Array(5., dtype=float32)
"""

from bindax_core.extend import public_names as _public_names
from bindax_numpy.linalg import *  # noqa: F403 -- the module says in __all__ what is public

vars()["__all__"] = _public_names(vars())
