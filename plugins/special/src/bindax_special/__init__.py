"""Special functions of arrays: the gamma, beta, Bessel and zeta functions."""

from bindax_core.extend import bound_functions as _bound_functions
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_special.bessel_functions import *
from bindax_special.gamma_functions import *
from bindax_special.incomplete_functions import *

vars()["__all__"] = _public_names(vars())

_bound_functions(vars())

_register_internal(__file__)
