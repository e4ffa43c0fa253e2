"""The few array operations that interpreters need and the kernel does not have.

Moving a batch axis, adding two cotangents, making zeros: a plugin supplies them for each kind of
abstract value, and the interpreters use them without knowing any primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core.arrays._shaped_array import ShapedArray
from bindax_core.errors import MissingOperationsError
from bindax_core.kernel._aval import AbstractValue


class ArrayOperations(NamedTuple):
    """The operations that interpreters need on values of one kind; all of them traceable.

    Attributes:
        zeros: ``(aval) -> x``, the zero of a type.
        ones: ``(aval) -> x``, the one of a type.
        add: ``(x, y) -> x``, the sum of two tangents or cotangents of one type.
        broadcast_axis: ``(x, axis_size, axis) -> x``, repeat along a new axis.
        move_axis: ``(x, source, destination) -> x``.
        index_axis: ``(x, i, axis) -> x``, one slice, the axis removed.
        stack: ``(xs, axis) -> x``, join along a new axis.
        convert: ``(x, dtype, weak_type) -> x``.
    """

    zeros: Callable[[Any], Any]
    ones: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    broadcast_axis: Callable[[Any, int, int], Any]
    move_axis: Callable[[Any, int, int], Any]
    index_axis: Callable[[Any, int, int], Any]
    stack: Callable[[Sequence[Any], int], Any]
    convert: Callable[[Any, Any, bool], Any]


_operations: dict[type[AbstractValue], ArrayOperations] = {}


def register_array_operations(
    operations: ArrayOperations, aval_type: type[AbstractValue] = ShapedArray
) -> None:
    """Supply the operations for one kind of abstract value.

    Raises:
        ValueError: when the kind has operations already.
    """
    if _operations.setdefault(aval_type, operations) is not operations:
        raise ValueError(f"array operations for {aval_type.__name__} are registered already.")
    on_rollback(lambda: unregister_array_operations(aval_type))


def unregister_array_operations(aval_type: type[AbstractValue] = ShapedArray) -> None:
    """Undo ``register_array_operations``."""
    _operations.pop(aval_type, None)


def operations_for(aval: AbstractValue) -> ArrayOperations:
    """The operations for values of an abstract value's kind, loading plugins on a first miss."""
    found = _operations.get(type(aval))
    if found is None and runtime.plugins.load_for_operations():
        found = _operations.get(type(aval))
    if found is None:
        raise MissingOperationsError(
            f"no installed plugin supplies array operations for {type(aval).__name__}; install "
            f"bindax-lax-basic, or the package that the values of this type come from."
        )
    return found


def zeros_like_aval(aval: Any) -> Any:
    """The zero of a type, as a value."""
    return operations_for(aval).zeros(aval)
