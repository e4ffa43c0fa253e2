"""Primitives as classes: the operation and its rules are methods, the parameters attributes.

>>> import bindax_numpy as jnp
>>> from bindax_core.extend import typeof
>>> from bindax_experimental.hijax import HiPrim
>>> from bindax_transforms import grad
>>> class Power(HiPrim):
...     def __init__(self, aval, *, exponent):
...         self.in_avals = (aval,)
...         self.out_aval = aval
...         self.params = {"exponent": exponent}
...         super().__init__()
...     def expand(self, x):
...         return x**self.exponent
...     def vjp_fwd(self, nzs_in, x):
...         return self(x), x
...     def vjp_bwd_retval(self, x, ct):
...         return (ct * self.exponent * x ** (self.exponent - 1),)
>>> def cube(x):
...     return Power(typeof(x), exponent=3)(x)
>>> x = jnp.float32(2.0)
>>> float(cube(x)), float(grad(cube)(x))
(8.0, 12.0)
"""

from bindax_core.extend import register_internal as _register_internal
from bindax_experimental.hijax.batches import AxisData as AxisData
from bindax_experimental.hijax.batches import bdims_at_front as bdims_at_front
from bindax_experimental.hijax.batches import unmap_avals as unmap_avals
from bindax_experimental.hijax.derivations import jvp_from_lin as jvp_from_lin
from bindax_experimental.hijax.derivations import linearize_from_jvp as linearize_from_jvp
from bindax_experimental.hijax.derivations import vjp_from_jvp as vjp_from_jvp
from bindax_experimental.hijax.derivations import vjp_from_lin as vjp_from_lin
from bindax_experimental.hijax.hi_prim import HiPrim as HiPrim
from bindax_experimental.hijax.hi_prim import VJPHiPrimitive as VJPHiPrimitive
from bindax_transforms.extend import GradAccum as GradAccum
from bindax_transforms.extend import NullAccum as NullAccum
from bindax_transforms.extend import ValAccum as ValAccum
from bindax_transforms.zeros import Zero as Zero
from bindax_transforms.zeros import instantiate_zeros as instantiate_zeros

__all__ = [
    "AxisData",
    "GradAccum",
    "HiPrim",
    "NullAccum",
    "VJPHiPrimitive",
    "ValAccum",
    "Zero",
    "bdims_at_front",
    "instantiate_zeros",
    "jvp_from_lin",
    "linearize_from_jvp",
    "unmap_avals",
    "vjp_from_jvp",
    "vjp_from_lin",
]
_register_internal(__file__)
