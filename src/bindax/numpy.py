"""The names of NumPy: functions of arrays that promote, broadcast and can be transformed.

>>> import bindax.numpy as jnp
>>> jnp.zeros(2) + jnp.arange(2)
Array([0., 1.], dtype=float32)
"""

from bindax_numpy import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_numpy import __all__ as __all__
