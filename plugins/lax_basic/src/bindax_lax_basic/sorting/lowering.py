"""Sorting in StableHLO: the comparator of several keys, and ``chlo.top_k``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, Region, ShapedArray
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.rules import lowering as lower

FLAG = ShapedArray((), dtypes.bool_)


def sort_lowering(
    ctx: LoweringContext, *values: Any, dimension: int, is_stable: bool, num_keys: int
) -> list[Any]:
    """``stablehlo.sort`` by the leading operands."""
    scalars = [aval.update(shape=(), weak_type=False) for aval in ctx.avals_in]

    def comparator(inner: LoweringContext, *elements: Any) -> Sequence[Any]:
        # The elements come in pairs: the two of the first operand, those of the second, …
        pairs = [
            pair
            for i in range(num_keys)
            for pair in _key_parts(inner, scalars[i], elements[2 * i], elements[2 * i + 1])
        ]
        return [_less(inner, pairs)]

    region = Region([aval for aval in scalars for _ in range(2)], comparator)
    attributes = {
        "dimension": f"{dimension} : i64",
        "is_stable": "true" if is_stable else "false",
    }
    return list(ctx.op("stablehlo.sort", values, attributes=attributes, regions=[region]))


Pair = tuple[ShapedArray, Any, Any]


def _key_parts(ctx: LoweringContext, aval: ShapedArray, x: Any, y: Any) -> list[Pair]:
    """Pairs of real numbers whose order is that of two elements of a key."""
    if not dtypes.is_complex(aval.dtype):
        return [(aval, _canonical(ctx, aval, x), _canonical(ctx, aval, y))]
    part = aval.update(dtype=dtypes.real_dtype(aval.dtype))
    parts = []
    for name in ("stablehlo.real", "stablehlo.imag"):
        values = [ctx.op(name, [v], result_avals=[part])[0] for v in (x, y)]
        parts.append((part, *[_canonical(ctx, part, v) for v in values]))
    return parts


def _canonical(ctx: LoweringContext, aval: ShapedArray, x: Any) -> Any:
    """A float whose place in the total order is that of its value: one zero, one nan."""
    if not dtypes.is_inexact(aval.dtype):
        return x
    zero, nan = (lower.full(ctx, aval, v) for v in (0, np.nan))
    is_zero = compare(ctx, "EQ", x, zero, aval)
    (x,) = ctx.op("stablehlo.select", [is_zero, zero, x], result_avals=[aval])
    is_nan = compare(ctx, "NE", x, x, aval)
    return ctx.op("stablehlo.select", [is_nan, nan, x], result_avals=[aval])[0]


def _less(ctx: LoweringContext, pairs: Sequence[Pair]) -> Any:
    """Whether the first elements of the pairs come before the second ones."""
    *earlier, (aval, x, y) = pairs
    less = _compare_total(ctx, "LT", x, y, aval)
    for aval, x, y in reversed(earlier):
        equal = _compare_total(ctx, "EQ", x, y, aval)
        (both,) = ctx.op("stablehlo.and", [equal, less], result_avals=[FLAG])
        first = _compare_total(ctx, "LT", x, y, aval)
        (less,) = ctx.op("stablehlo.or", [first, both], result_avals=[FLAG])
    return less


def _compare_total(ctx: LoweringContext, direction: str, x: Any, y: Any, aval: ShapedArray) -> Any:
    if not dtypes.is_inexact(aval.dtype):
        return compare(ctx, direction, x, y, aval)
    attributes = {
        "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
        "compare_type": "#stablehlo<comparison_type TOTALORDER>",
    }
    return ctx.op("stablehlo.compare", [x, y], result_avals=[FLAG], attributes=attributes)[0]
