"""Kernels of other languages, by XLA's foreign function interface."""

from bindax_core.extend import public_names as _public_names
from bindax_ffi import ffi_call as ffi_call
from bindax_ffi import ffi_lowering as ffi_lowering
from bindax_ffi import include_dir as include_dir
from bindax_ffi import pycapsule as pycapsule
from bindax_ffi import register_ffi_target as register_ffi_target
from bindax_ffi import (
    register_ffi_target_as_batch_partitionable as register_ffi_target_as_batch_partitionable,
)
from bindax_ffi import register_ffi_type as register_ffi_type

vars()["__all__"] = _public_names(vars())
