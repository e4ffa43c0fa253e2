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
from bindax_callbacks.debug import debug_callback_p as debug_callback_p
from bindax_callbacks.io_callback import *
from bindax_callbacks.pure_callback import *
from bindax_callbacks.shardings import inspect_sharding_p as inspect_sharding_p
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal

vars()["__all__"] = [*_public_names(vars()), "debug"]
_register_internal(__file__)
