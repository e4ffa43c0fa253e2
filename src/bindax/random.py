"""Random numbers: keys, and the distributions of ``jax.random`` with its numbers.

>>> from bindax import random
>>> random.split(random.key(0))
Array((2,), dtype=key<fry>) overlaying:
[[1797259609 2579123966]
 [ 928981903 3453687069]]
"""

from bindax_core.extend import public_names as _public_names
from bindax_random import *  # noqa: F403 -- everything there is public

vars()["__all__"] = _public_names(vars())
