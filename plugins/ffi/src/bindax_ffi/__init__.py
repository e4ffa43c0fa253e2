"""Kernels of other languages, called from programs by XLA's foreign function interface.

>>> import numpy as np
>>> from bindax_core import ShapeDtypeStruct
>>> from bindax_ffi import ffi_call, register_ffi_target
>>> register_ffi_target("doc.scaled", numpy=lambda x, *, factor: x * np.float32(factor))
>>> ffi_call("doc.scaled", ShapeDtypeStruct((2,), np.float32))(np.ones(2, np.float32), factor=3.0)
Array([3., 3.], dtype=float32)
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_ffi.ffi_call import *
from bindax_ffi.lowering import *
from bindax_ffi.targets import *

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
