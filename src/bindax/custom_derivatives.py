"""Functions with derivative rules of their own, and what the rules are given."""

from bindax_core.extend import public_names as _public_names
from bindax_transforms import CustomVJPPrimal as CustomVJPPrimal
from bindax_transforms import SymbolicZero as SymbolicZero
from bindax_transforms import closure_convert as closure_convert
from bindax_transforms import custom_gradient as custom_gradient
from bindax_transforms import custom_jvp as custom_jvp
from bindax_transforms import custom_vjp as custom_vjp
from bindax_transforms import linear_call as linear_call
from bindax_transforms import zero_from_primal as zero_from_primal

vars()["__all__"] = _public_names(vars())
