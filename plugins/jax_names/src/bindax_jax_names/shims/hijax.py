"""``jax.experimental.hijax``: primitives as classes, and what a package needs to define types.

Values of types that packages define are no operands here; ``flax.nnx`` makes none by default.
"""

from __future__ import annotations

from typing import Any, Final

from bindax.experimental.hijax import GradAccum as GradAccum
from bindax.experimental.hijax import HiPrim as HiPrim
from bindax.experimental.hijax import NullAccum as NullAccum
from bindax.experimental.hijax import ValAccum as ValAccum
from bindax.experimental.hijax import VJPHiPrimitive as VJPHiPrimitive
from bindax.experimental.hijax import Zero as Zero
from bindax.experimental.hijax import bdims_at_front as bdims_at_front
from bindax.experimental.hijax import instantiate_zeros as instantiate_zeros
from bindax.experimental.hijax import jvp_from_lin as jvp_from_lin
from bindax.experimental.hijax import linearize_from_jvp as linearize_from_jvp
from bindax.experimental.hijax import unmap_avals as unmap_avals
from bindax.experimental.hijax import vjp_from_jvp as vjp_from_jvp
from bindax.experimental.hijax import vjp_from_lin as vjp_from_lin
from bindax_core.extend import AbstractValue as AbstractValue
from bindax_core.extend import ShapedArray as ShapedArray
from bindax_jax_names.shims._primitive import Primitive
from bindax_jax_names.shims.ref import AbstractRef as AbstractRef
from bindax_transforms.zeros import is_undef_primal as is_undefined_primal

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "GradAccum",
    "HiPrim",
    "HiPrimitive",
    "HiType",
    "MutableHiType",
    "NullAccum",
    "ShapedArray",
    "VJPHiPrimitive",
    "ValAccum",
    "Zero",
    "aval_method",
    "aval_property",
    "bdims_at_front",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp_from_lin",
    "linearize_from_jvp",
    "register_hitype",
    "unmap_avals",
    "vjp_from_jvp",
    "vjp_from_lin",
]


class HiType(AbstractValue):
    """Base of types that packages define."""


class MutableHiType(HiType):
    """Base of types of mutable values that packages define."""


class AvalQDD:
    """A type and what is known of the state of its value."""

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval = aval
        self.qdd = qdd


class AvalMutableQDD(AvalQDD):
    """The same, of a value that changes."""


class HiPrimitive(Primitive):
    """Base of primitives on values of such types."""


class aval_method:
    """A method of values of a type."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun


class aval_property:
    """A property of values of a type."""

    def __init__(self, fget: Any) -> None:
        self.fget = fget


class _Effects:
    """The kinds of effects that control flow may have; bindax asks each effect."""

    def add_type(self, kind: type) -> None:
        """Do nothing."""


control_flow_allowed_effects: Final = _Effects()


def register_hitype(kind: type, typeof: Any) -> None:
    """Do nothing: values of the type are no operands."""
