"""The operations of bindax: array primitives and control flow, with JAX's names."""

from types import FunctionType as _FunctionType

from bindax_control_flow import *  # noqa: F403 -- everything there is public
from bindax_core.extend import api_boundary as _api_boundary
from bindax_lax_basic import *  # noqa: F403 -- everything there is public
from bindax_lax_basic.direct_calls import direct_calls as _direct_calls
from bindax_transforms import direct as _direct

# Here users call: errors that leave show the user's own frames.
_direct_functions = _direct_calls()
for _name, _value in list(globals().items()):
    if isinstance(_value, _FunctionType) and not _name.startswith("_"):
        _call = _direct_functions.get(_name)
        globals()[_name] = _direct(_value, *_call) if _call else _api_boundary(_value)
