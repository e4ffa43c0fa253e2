"""Programs as files: exported with symbolic sizes, read back, called in any program."""

from bindax_export import DisabledSafetyCheck as DisabledSafetyCheck
from bindax_export import Exported as Exported
from bindax_export import ExportError as ExportError
from bindax_export import FormatError as FormatError
from bindax_export import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from bindax_export import SymbolicScope as SymbolicScope
from bindax_export import default_export_platform as default_export_platform
from bindax_export import deserialize as deserialize
from bindax_export import export as export
from bindax_export import is_symbolic_dim as is_symbolic_dim
from bindax_export import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,
)
from bindax_export import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,
)
from bindax_export import register_namedtuple_serialization as register_namedtuple_serialization
from bindax_export import register_pytree_node_serialization as register_pytree_node_serialization
from bindax_export import symbolic_args_specs as symbolic_args_specs
from bindax_export import symbolic_shape as symbolic_shape

__all__ = [
    "DisabledSafetyCheck",
    "ExportError",
    "Exported",
    "FormatError",
    "InconclusiveDimensionOperation",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "maximum_supported_calling_convention_version",
    "minimum_supported_calling_convention_version",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "symbolic_args_specs",
    "symbolic_shape",
]
