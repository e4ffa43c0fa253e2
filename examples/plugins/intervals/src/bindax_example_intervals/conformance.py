"""Checks for the conformance suite: values are inside of their bounds, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import DebugInfo, is_differentiable, tree_map, typeof
from bindax_example_intervals.interval import Interval, exact
from bindax_example_intervals.transformation import bounds, bounds_flat
from bindax_testing import Case, NotApplicable, TransformationSample, transformation

WIDTH = 1 / 16
ROUNDING = {2: 1e-2, 4: 1e-5, 8: 1e-12}
"""Relative differences by the bytes of a number; bounds are not rounded outwards."""


def check_bounds(case: Case) -> None:
    """Compare the bounds of a primitive with what it computes at the ends of the intervals."""
    upper = [_moved(x) for x in case.operands]
    if all(x is y for x, y in zip(case.operands, upper, strict=True)):
        raise NotApplicable("no operand is a floating-point number")
    pairs = zip(case.operands, upper, strict=True)
    intervals = [exact(x) if x is y else Interval(x, y) for x, y in pairs]
    # Functions among the parameters may use what has no rule, of which nothing is known then.
    found = bounds_flat(case.call, intervals, "unbounded", DebugInfo("bounds", case.call))
    for ends in (case.operands, upper):
        for bound, out in zip(found, case.call(*ends), strict=True):
            _check_inside(bound, out)


def _moved(x: Any) -> Any:
    dtype = np.dtype(typeof(x).dtype)
    if dtype.kind != "f" or not is_differentiable(dtype):
        return x
    return np.asarray(x) + dtype.type(WIDTH)


def _check_inside(bound: Interval, out: Any) -> None:
    low, high, value = (np.asarray(x) for x in (*bound, out))
    types = [(x.shape, x.dtype) for x in (low, high, value)]
    if len(set(types)) > 1:
        raise AssertionError(f"the types of the bounds and of the value are {types}.")
    if value.dtype.kind == "f":
        slack = np.where(np.isfinite(value), ROUNDING[value.itemsize] * (1 + np.abs(value)), 0)
        outside = (low > value + slack) | (value - slack > high)
    else:
        outside = (low > value) | (value > high)
    if outside.any():
        raise AssertionError(
            f"{value[outside][0]} is not in [{low[outside][0]}, {high[outside][0]}]."
        )


def transformations() -> Iterator[TransformationSample]:
    """Give the transformation: an interval from a number to itself is that number."""
    unknown = "where an index is given as an interval, every element may be meant"
    skip = dict.fromkeys(("cond", "gather", "dynamic_slice"), unknown)
    yield transformation(bounds, lift=_point, known=_around, value=_lower, skip=skip)


def _point(x: Any) -> Interval:
    """The interval that holds one array, which rules have to be called on."""
    return Interval(x, lax.reshape(x, typeof(x).shape))


def _around(x: Any) -> Interval:
    dtype = np.dtype(typeof(x).dtype)
    return Interval(x - WIDTH, x + WIDTH) if dtype.kind == "f" else _point(x)


def _lower(out: Any) -> Any:
    return tree_map(lambda x: x.lower, out, is_leaf=lambda x: isinstance(x, Interval))
