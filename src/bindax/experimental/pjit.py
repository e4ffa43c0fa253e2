"""The name under which programs written for older releases of JAX find ``jit``.

>>> import numpy as np
>>> from bindax.experimental.pjit import pjit
>>> float(pjit(lambda x: x * 2)(np.float32(3)))
6.0
"""

from bindax_transforms import jit as pjit

__all__ = ["pjit"]
