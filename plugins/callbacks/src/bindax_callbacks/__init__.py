"""Python functions that programs call: to print, to compute on the host, to have effects.

>>> import numpy as np
>>> from bindax_callbacks import pure_callback
>>> from bindax_core import ShapeDtypeStruct
>>> from bindax_transforms import jit
>>> @jit
... def hypot(x, y):
...     return pure_callback(np.hypot, ShapeDtypeStruct(x.shape, x.dtype), x, y)
>>> hypot(np.float32(3.0), np.float32(4.0))
Array(5., dtype=float32)
"""

from bindax_callbacks import debug as debug
from bindax_callbacks.results import io_callback as io_callback
from bindax_callbacks.results import pure_callback as pure_callback
from bindax_core.extend import register_internal

register_internal(__file__)
