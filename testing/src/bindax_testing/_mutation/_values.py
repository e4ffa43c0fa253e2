"""Mistakes in a rule, and in values, types and the parameters of a primitive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

import attrs
import numpy as np

from bindax_core.extend import ClosedJaxpr, Zero, float0, is_value, operations_for, typeof

Rule: TypeAlias = "partial[Any]"
"""A rule with the parameters of a primitive."""


@attrs.frozen
class Damage:
    """One kind of mistake.

    ``apply`` takes the true rule with its parameters, and its arguments; it gives the wrong result,
    or None where the mistake would change nothing.
    """

    name: str
    apply: Callable[[Rule, Sequence[Any]], Any]


def is_number(x: Any) -> bool:
    """Tell whether something is an array that a mistake could change, not a zero known as such."""
    return x is not None and type(x) is not Zero and is_value(x) and typeof(x).dtype != float0


def negated(x: Any) -> Any:
    """The value with the other sign; the opposite of a boolean."""
    return ~x if typeof(x).dtype == np.bool_ else -x


def doubled(x: Any) -> Any:
    """Twice the value; the opposite of a boolean."""
    return ~x if typeof(x).dtype == np.bool_ else x + x


def other_dtype(dtype: Any) -> Any:
    """A dtype of the same kind and another width."""
    other = {"f": "float32", "c": "complex64", "i": "int32", "u": "uint32", "b": "int8"}.get(
        np.dtype(dtype).kind, "float32"
    )
    if np.dtype(other) == dtype:
        other = {"f": "float64", "c": "complex128", "i": "int8", "u": "uint8"}[dtype.kind]
    return np.dtype(other)


def converted(x: Any) -> Any:
    """The value in another width."""
    aval = typeof(x)
    return operations_for(aval).convert(x, other_dtype(aval.dtype), False)


def reversed_along(x: Any, axis: int) -> Any:
    """The value with the order along an axis reversed."""
    aval = typeof(x)
    operations = operations_for(aval)
    slices = [operations.index_axis(x, i, axis) for i in reversed(range(aval.shape[axis]))]
    return operations.stack(slices, axis)


def backwards(x: Any) -> Any:
    """The value with the order along its first axis reversed, if it has more than one entry."""
    return reversed_along(x, 0) if typeof(x).shape and typeof(x).shape[0] > 1 else x


def first_everywhere(x: Any, axis: int) -> Any:
    """The first slice along an axis in the place of all of them."""
    aval = typeof(x)
    operations = operations_for(aval)
    first = operations.index_axis(x, 0, axis)
    return operations.broadcast_axis(first, aval.shape[axis], axis)


def changed(xs: Sequence[Any], change: Callable[[Any], Any]) -> tuple[list[Any], bool]:
    """Values with a change made to those that are numbers, and whether there was one."""
    out = [change(x) if is_number(x) and typeof(x).size else x for x in xs]
    return out, any(x is not y for x, y in zip(xs, out, strict=True))


def results_changed(change: Callable[[Any], Any], rule: Rule, args: Sequence[Any]) -> Any:
    """The result of a rule, or its list of them, with a change."""
    out = rule(*args)
    wrong, touched = changed(list(out) if isinstance(out, list | tuple) else [out], change)
    if not touched:
        return None
    return wrong if isinstance(out, list | tuple) else wrong[0]


def _type(x: Any) -> Any:
    aval = getattr(x, "aval", None)
    return typeof(x) if aval is None else aval


def swapped(
    xs: Sequence[Any],
    usable: Callable[[Any], bool] = is_number,
    type_of: Callable[[Any], Any] = _type,
) -> list[Any] | None:
    """Values with the first two different ones of a type in each other's place; None without."""
    for (i, x), (j, y) in combinations(enumerate(xs), 2):
        if usable(x) and usable(y) and x is not y and type_of(x) == type_of(y):
            out = list(xs)
            out[i], out[j] = y, x
            return out
    return None


# ------------------------------------------------------------------------------- parameters


def flipped(params: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Parameters with a flag turned, or None when there is no such flag."""
    return {**params, name: not params[name]} if type(params.get(name)) is bool else None


def shifted(params: dict[str, Any], name: str, ndim: int) -> dict[str, Any] | None:
    """Parameters with an axis off by one, or None when that changes nothing."""
    value = params.get(name)
    if type(value) is int:
        other: Any = (value + 1) % max(ndim, 1)
    elif type(value) is tuple and value and all(type(axis) is int for axis in value):
        other = tuple((axis + 1) % max(ndim, 1) for axis in value)
    else:
        return None
    return None if other == value else {**params, name: other}


def with_wrong_branch(params: dict[str, Any]) -> dict[str, Any] | None:
    """Parameters with several programs in the reverse order, or None when there are none."""
    for name, value in params.items():
        if type(value) is tuple and len(value) > 1 and type(value[0]) is ClosedJaxpr:
            return {**params, name: value[::-1]}
    return None
