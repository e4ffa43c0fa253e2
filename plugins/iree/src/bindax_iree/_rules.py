"""Lowering rules for operations of which IREE's own form means something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bindax_core import find_primitive
from bindax_core.extend import Extension, LoweringContext, Primitive, extend, rules, typeof
from bindax_iree._support import PLATFORM
from bindax_lax_basic import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    bitcast_convert_type,
    bitwise_and,
    bitwise_xor,
    broadcast_in_dim,
    broadcasted_iota,
    convert_element_type,
    full_like,
    ge,
    lt,
    pad,
    reduce_and,
    rev,
    select,
    slice_in_dim,
    sort,
)
from bindax_lax_basic.extend import inlined, is_inexact, update_sizes

_SCATTERS = (
    *("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"),
)


def extensions() -> Iterator[Extension]:
    """The rules, each for a primitive of another package."""
    kind = rules.lowering["stablehlo"]
    yield extend(find_primitive("top_k"), kind(_top_k, platform=PLATFORM))
    for name in _SCATTERS:
        rule = kind(_scatter, platform=PLATFORM, takes_primitive=True)
        yield extend(find_primitive(name), rule)


def _in_total_order(x: Any) -> Any:
    """Integers that are ordered as floats are, with their zeros and nans."""
    bits = bitcast_convert_type(x, f"int{8 * typeof(x).dtype.itemsize}")
    greatest = full_like(bits, np.iinfo(typeof(bits).dtype).max)
    return select(lt(bits, full_like(bits, 0)), bitwise_xor(bits, greatest), bits)


def _top_k(ctx: LoweringContext, x: Any, *, k: int, axis: int) -> list[Any]:
    """The last elements of all in order: IREE's own operation chooses any among equal ones.

    They are sorted from behind, so that of equal elements the first comes last.
    """

    def program(x: Any) -> list[Any]:
        size = typeof(x).shape[axis]
        places = broadcasted_iota("int32", typeof(x).shape, axis)
        keys = [_in_total_order(x)] if is_inexact(typeof(x).dtype) else []
        *_, values, found = sort([rev(one, [axis]) for one in (*keys, x, places)], axis)
        last = [slice_in_dim(one, size - k, size, axis=axis) for one in (values, found)]
        return [rev(one, [axis]) for one in last]

    return inlined(ctx, program, [x], ctx.avals_in)


def _scatter(
    primitive: Primitive,
    ctx: LoweringContext,
    *values: Any,
    dimension_numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    **params: Any,
) -> Any:
    """Updates out of bounds go to elements behind the others, which are cut off.

    IREE would write them wherever their indices point, out of the array's memory, too.
    """
    axes, numbers = dimension_numbers.scatter_dims_to_operand_dims, dimension_numbers
    if mode is GatherScatterMode.CLIP or not axes:
        rule = rules.lowering["stablehlo"].get(primitive)
        params.update(dimension_numbers=numbers, mode=mode)
        return rule(ctx, *values, **params)[0]

    def program(x: Any, indices: Any, updates: Any) -> list[Any]:
        shape = typeof(x).shape
        sizes = update_sizes(len(shape), typeof(updates).shape, numbers)
        if typeof(indices).dtype.itemsize < 4:
            indices = convert_element_type(indices, "int32")
        moved = _with_others_behind(indices, [(shape[i], sizes[i]) for i in axes])
        first = axes[0]
        padding = [(0, sizes[i] if i == first else 0, 0) for i in range(len(shape))]
        longer = pad(x, full_like(x, 0, shape=()), padding)
        options = {"indices_are_sorted": False, "unique_indices": False}
        out = primitive.bind(
            longer,
            moved,
            updates,
            dimension_numbers=numbers,
            mode=GatherScatterMode.CLIP,
            **{**params, **options},
        )
        return [slice_in_dim(out, 0, shape[first], axis=first)]

    return inlined(ctx, program, values, ctx.avals_in)[0]


def _with_others_behind(indices: Any, axes: Sequence[tuple[int, int]]) -> Any:
    """Index vectors, with those out of bounds at the end of the first axis.

    Args:
        indices: the index vectors along the last axis.
        axes: of each axis that they speak of, the size and that of a window.
    """
    last = typeof(indices).ndim - 1

    def row(numbers: Sequence[int]) -> Any:
        values = np.array(numbers, typeof(indices).dtype)
        return broadcast_in_dim(values, typeof(indices).shape, (last,))

    low = ge(indices, full_like(indices, 0))
    # One beyond the last position, which is no negative number of an unsigned dtype.
    high = lt(indices, row([max(size - window + 1, 0) for size, window in axes]))
    valid = reduce_and(bitwise_and(low, high), (last,))
    valid = broadcast_in_dim(valid, typeof(indices).shape, tuple(range(last)))
    return select(valid, indices, row([axes[0][0], *[0] * (len(axes) - 1)]))
