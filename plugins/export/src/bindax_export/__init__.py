"""Programs as files: exported with symbolic sizes, read back, called in any program."""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_export._checks import DisabledSafetyCheck as DisabledSafetyCheck
from bindax_export._containers import (
    register_namedtuple_serialization as register_namedtuple_serialization,
)
from bindax_export._containers import (
    register_pytree_node_serialization as register_pytree_node_serialization,
)
from bindax_export._dimensions import is_symbolic_dim as is_symbolic_dim
from bindax_export._dimensions import symbolic_dim_bounds as symbolic_dim_bounds
from bindax_export._errors import ExportError as ExportError
from bindax_export._errors import FormatError as FormatError
from bindax_export._errors import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from bindax_export._export import default_export_platform as default_export_platform
from bindax_export._export import export as export
from bindax_export._exported import Exported as Exported
from bindax_export._format import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,
)
from bindax_export._format import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,
)
from bindax_export._parse import symbolic_args_specs as symbolic_args_specs
from bindax_export._parse import symbolic_shape as symbolic_shape
from bindax_export._reading import deserialize as deserialize
from bindax_export._scope import SymbolicScope as SymbolicScope

_register_internal(__file__)

vars()["__all__"] = _public_names(vars())
