"""Intervals of arrays, and arithmetic on them that needs no transformation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import typeof


class Interval(NamedTuple):
    """Every array between two arrays, elementwise.

    As a named tuple it is a pytree, so ``jit``, ``vmap`` and ``grad`` take and return it.

    Attributes:
        lower: the lower bounds.
        upper: the upper bounds, of the same shape and dtype.
    """

    lower: Any
    upper: Any

    @property
    def is_exact(self) -> bool:
        """True if the interval is known to hold one array alone."""
        return self.lower is self.upper


def exact(x: Any) -> Interval:
    """The interval that holds one array."""
    return Interval(x, x)


def hull(intervals: list[Interval]) -> Interval:
    """The smallest interval around several."""
    lower, upper = intervals[0]
    for other in intervals[1:]:
        lower, upper = least(lower, other.lower), greatest(upper, other.upper)
    return Interval(lower, upper)


def unbounded(aval: Any) -> Interval:
    """The interval of all values of a type."""
    kind = np.dtype(aval.dtype).kind
    if kind == "b":
        low, high = False, True
    elif kind in "iu":
        low, high = np.iinfo(aval.dtype).min, np.iinfo(aval.dtype).max
    else:
        low, high = -np.inf, np.inf
    return Interval(lax.full(aval.shape, low, aval.dtype), lax.full(aval.shape, high, aval.dtype))


def least(x: Any, y: Any) -> Any:
    """The elementwise minimum, of booleans too."""
    return lax.bitwise_and(x, y) if typeof(x).dtype == np.bool_ else lax.min(x, y)


def greatest(x: Any, y: Any) -> Any:
    """The elementwise maximum, of booleans too."""
    return lax.bitwise_or(x, y) if typeof(x).dtype == np.bool_ else lax.max(x, y)


def constant(value: float, like: Any) -> Any:
    """A number with the type of an array."""
    return lax.full_like(like, value)


def contains_zero(x: Interval) -> Any:
    """Tell whether zero is inside, elementwise."""
    zero = constant(0, x.lower)
    return lax.bitwise_and(lax.le(x.lower, zero), lax.ge(x.upper, zero))
