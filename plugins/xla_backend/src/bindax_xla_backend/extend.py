"""The names of this package that other packages may use.

Lowering rules need nothing of it: they get all they need from the context that they are called
with.
"""

from __future__ import annotations

from bindax_core.extend import public_names as _public_names
from bindax_xla_backend._element_types import element_type as element_type
from bindax_xla_backend._element_types import tensor_text as tensor_text
from bindax_xla_backend._errors import AllocationError as AllocationError
from bindax_xla_backend._errors import ArgumentError as ArgumentError
from bindax_xla_backend._errors import CallbackResultError as CallbackResultError
from bindax_xla_backend._errors import CompilationError as CompilationError
from bindax_xla_backend._errors import ExecutionError as ExecutionError
from bindax_xla_backend._errors import InstallationError as InstallationError
from bindax_xla_backend._errors import LoweringError as LoweringError
from bindax_xla_backend._errors import UnsupportedTypeError as UnsupportedTypeError
from bindax_xla_backend.execution.backend import XlaBackend as XlaBackend

vars()["__all__"] = _public_names(vars())
