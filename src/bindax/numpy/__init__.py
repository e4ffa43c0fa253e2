"""The names of NumPy: functions of arrays that promote, broadcast and can be transformed.

>>> import bindax.numpy as jnp
>>> jnp.zeros(2) + jnp.arange(2)
Array([0., 1.], dtype=float32)
"""

# The modules of this package come last, in the place of those of the same names.
# isort: off
from bindax_numpy import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_numpy import __all__ as __all__
from bindax.numpy import fft as fft  # type: ignore[no-redef]
from bindax.numpy import linalg as linalg  # type: ignore[no-redef]
