"""Linear algebra: systems of equations, decompositions, norms.

>>> import bindax.numpy.linalg
>>> bindax.numpy.linalg.norm(bindax.numpy.array([3.0, 4.0]))
Array(5., dtype=float32)
"""

from bindax_numpy.linalg import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_numpy.linalg import __all__ as __all__
