"""Special functions of arrays: the gamma, beta, Bessel and zeta functions."""

from types import FunctionType as _FunctionType

from bindax_core.extend import api_boundary as _api_boundary
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_special.bessel_functions import *
from bindax_special.gamma_functions import *
from bindax_special.incomplete_functions import *

vars()["__all__"] = _public_names(vars())

# Here users call: errors that leave show the user's own frames.
for _name, _value in list(vars().items()):
    if isinstance(_value, _FunctionType) and not _name.startswith("_"):
        vars()[_name] = _api_boundary(_value)

_register_internal(__file__)
