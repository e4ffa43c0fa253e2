"""Abstract values, the types of values in jaxprs.

``typeof`` gives the abstract value of anything that is a legal operand. Which Python types are
legal is an open table: the arrays, and any package, register theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core.kernel._operands import is_wrapper, to_operand, unwrapped


class AbstractValue:
    """Base of abstract values; each kind of value has a subclass."""

    __slots__ = ()

    def str_short(self) -> str:
        """Format the type as jaxprs print it."""
        raise TypeError(f"{type(self).__name__} must define str_short")

    def tangent_aval(self) -> AbstractValue:
        """Return the abstract value of a tangent at a value of this type."""
        raise TypeError(f"{type(self).__name__} must define tangent_aval")

    def cotangent_aval(self) -> AbstractValue:
        """Return the abstract value of a cotangent of a value of this type."""
        return self.tangent_aval()

    def strip_weak_type(self) -> AbstractValue:
        """Return the same type, not weak."""
        return self

    def plain(self) -> AbstractValue:
        """Return the type without how its values lie on devices, as ``abstract_eval`` sees it."""
        return self


class ValueType(NamedTuple):
    """A Python type whose instances are legal operands.

    Attributes:
        type: the Python type.
        typeof: gives the abstract value of an instance.
        to_numpy: gives the host array for ``impl`` rules; None where they receive the instance.
        covers: tells of which subclasses instances are legal operands, too; by default of none.
    """

    type: type
    typeof: Callable[[Any], AbstractValue]
    to_numpy: Callable[[Any, Any], Any] | None = None
    covers: Callable[[Any], bool] | None = None


value_types: dict[type, ValueType] = {}

plain_types: set[type] = set()
"""The registered types that are no tracers: ``bind`` passes them without a further look."""


def register_value_type(value_type: ValueType) -> None:
    """Make instances of a Python type legal operands.

    Raises:
        ValueError: when the type is registered already.
    """
    if value_types.setdefault(value_type.type, value_type) is not value_type:
        raise ValueError(
            f"{value_type.type!r} is a registered value type already; unregister or subclass it."
        )
    plain_types.add(value_type.type)
    on_rollback(lambda: unregister_value_type(value_type))


def unregister_value_type(value_type: ValueType) -> None:
    """Undo ``register_value_type``."""
    if value_types.get(value_type.type) is value_type:
        del value_types[value_type.type]
        plain_types.discard(value_type.type)


def find_value_type(type_: type) -> ValueType | None:
    """Find the registered value type of a Python type, asking plugins on the first miss."""
    found = value_types.get(type_)
    if found is None and not is_wrapper(type_):
        for base in type_.__mro__[1:]:
            if (found := value_types.get(base)) and found.covers and found.covers(type_):
                return found
        found = value_types.get(type_) if runtime.plugins.load_for_type(type_) else None
    return found


def typeof(x: Any) -> Any:
    """Return the abstract value of a legal operand: shape, dtype and weak type.

    Args:
        x: an array, a tracer, a NumPy scalar, a Python scalar or a value of a registered type.

    Raises:
        AbstractionError: when the type of ``x`` is not registered.

    >>> import numpy as np
    >>> typeof(np.zeros((3, 2)))
    ShapeDtypeStruct(shape=(3, 2), dtype=float64)
    >>> typeof(1.0)
    ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True)
    """
    found = value_types.get(type(x)) or find_value_type(type(x))
    return typeof(to_operand(x)) if found is None else found.typeof(x)


def is_value(x: Any) -> bool:
    """Tell whether ``x`` is a legal operand."""
    if type(x) in value_types or find_value_type(type(x)) is not None:
        return True
    inner = unwrapped(x)
    return inner is not x and is_value(inner)


def as_operand(x: Any) -> Any:
    """Return a legal operand as it is, or the operand that a value stands for."""
    is_legal = type(x) in value_types or find_value_type(type(x)) is not None
    return x if is_legal else as_operand(to_operand(x))
