"""The door of this package: the names that other packages may use.

Lowering rules need nothing of it: they get all they need from the context that they are called
with.
"""

from __future__ import annotations

from bindax_xla_backend._backend import XlaBackend
from bindax_xla_backend._errors import (
    ArgumentError,
    CallbackResultError,
    CompilationError,
    ExecutionError,
    InstallationError,
    LoweringError,
    UnsupportedTypeError,
)
from bindax_xla_backend._types import element_type, tensor_text

__all__ = [
    "ArgumentError",
    "CallbackResultError",
    "CompilationError",
    "ExecutionError",
    "InstallationError",
    "LoweringError",
    "UnsupportedTypeError",
    "XlaBackend",
    "element_type",
    "tensor_text",
]
