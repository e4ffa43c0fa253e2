"""``jax.experimental.hijax``: what a package needs to define types of its own, which stay unused.

Values of types that packages define are no operands here; ``flax.nnx`` makes none by default.
"""

from __future__ import annotations

from typing import Any, Final

from bindax_core.extend import AbstractValue as AbstractValue
from bindax_core.extend import ShapedArray as ShapedArray
from bindax_jax_names.shims._primitive import Primitive
from bindax_jax_names.shims.ref import AbstractRef as AbstractRef
from bindax_transforms.zeros import Zero as Zero
from bindax_transforms.zeros import instantiate_zeros as instantiate_zeros
from bindax_transforms.zeros import is_undef_primal as is_undefined_primal

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableHiType",
    "ShapedArray",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
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
