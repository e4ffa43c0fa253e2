"""The lowering of gather and scatter to StableHLO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, Region, ShapedArray
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.gather_scatter.windows import (
    Dims,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    update_sizes,
)
from bindax_lax_basic.rules import lowering as lower

Combine = Callable[[LoweringContext, ShapedArray, Any, Any], Any]
Lowering = Callable[..., Any]

CLIP, FILL = GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP


def _wide_indices(ctx: LoweringContext, indices: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
    """Indices in 32 bits at least, so that they reach every position."""
    if aval.dtype.itemsize >= 4:
        return indices, aval
    wide = aval.update(dtype=np.dtype(np.int32))
    return ctx.op("stablehlo.convert", [indices], result_avals=[wide])[0], wide


def _list(axes: Dims) -> str:
    return f"[{', '.join(map(str, axes))}]"


def gather_lowering(
    ctx: LoweringContext,
    x: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Dims,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> Any:
    """The ``lowering`` rule of gather."""
    x_aval, out = ctx.avals_in[0], ctx.avals_out[0]
    indices, index_aval = _wide_indices(ctx, indices, ctx.avals_in[1])
    numbers = dimension_numbers
    text = (
        f"#stablehlo.gather<offset_dims = {_list(numbers.offset_dims)}, "
        f"collapsed_slice_dims = {_list(numbers.collapsed_slice_dims)}, "
        f"operand_batching_dims = {_list(numbers.operand_batching_dims)}, "
        f"start_indices_batching_dims = {_list(numbers.start_indices_batching_dims)}, "
        f"start_index_map = {_list(numbers.start_index_map)}, "
        f"index_vector_dim = {index_aval.ndim - 1}>"
    )
    attributes = {
        "dimension_numbers": text,
        "slice_sizes": lower.integers(slice_sizes),
        "indices_are_sorted": "true" if indices_are_sorted else "false",
    }
    (read,) = ctx.op("stablehlo.gather", [x, indices], attributes=attributes)
    if mode is not FILL or not numbers.start_index_map:
        return read
    valid = _valid_windows(ctx, indices, index_aval, x_aval, numbers, slice_sizes)
    kept = tuple([axis for axis in range(out.ndim) if axis not in numbers.offset_dims])
    flags = ShapedArray(index_aval.shape[:-1], dtypes.bool_)
    mask = ctx.broadcast(valid, flags, out.update(dtype=dtypes.bool_, weak_type=False), kept)
    return ctx.op("stablehlo.select", [mask, read, lower.full(ctx, out, fill_value)])[0]


def _valid_windows(
    ctx: LoweringContext,
    indices: Any,
    aval: ShapedArray,
    x: ShapedArray,
    numbers: GatherDimensionNumbers,
    sizes: Dims,
) -> Any:
    """For each index vector whether its window is within the operand."""
    limits = [x.shape[axis] - sizes[axis] for axis in numbers.start_index_map]
    row = ShapedArray((len(limits),), aval.dtype)
    bound = lower.sizes(ctx, limits, aval.dtype)
    bound = ctx.broadcast(bound, row, aval, (aval.ndim - 1,))
    low = compare(ctx, "GE", indices, lower.full(ctx, aval, 0), aval)
    high = compare(ctx, "LE", indices, bound, aval)
    flags, flag = aval.update(dtype=dtypes.bool_, weak_type=False), ShapedArray((), dtypes.bool_)
    (both,) = ctx.op("stablehlo.and", [low, high], result_avals=[flags])

    def body(inner: LoweringContext, a: Any, b: Any) -> Sequence[Any]:
        return inner.op("stablehlo.and", [a, b], result_avals=[flag])

    return ctx.op(
        "stablehlo.reduce",
        [both, ctx.constant(np.asarray(True))],
        result_avals=[flags.update(shape=aval.shape[:-1])],
        attributes={"dimensions": lower.integers((aval.ndim - 1,))},
        regions=[Region((flag, flag), body)],
    )[0]


def scatter_lowering(combine: Combine) -> Lowering:
    """The ``lowering`` rule of a scatter.

    Args:
        combine: ``(ctx, scalar type, element, update) -> element``, what is written to a place.
    """

    def rule(
        ctx: LoweringContext,
        x: Any,
        indices: Any,
        updates: Any,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        mode: GatherScatterMode,
        **params: Any,
    ) -> Any:
        x_aval, _, update_aval = ctx.avals_in
        indices, aval = _wide_indices(ctx, indices, ctx.avals_in[1])
        if mode is CLIP and dimension_numbers.scatter_dims_to_operand_dims:
            sizes = update_sizes(x_aval.ndim, update_aval.shape, dimension_numbers)
            indices = _clipped(ctx, indices, aval, x_aval, dimension_numbers, sizes)
        scalar = ShapedArray((), x_aval.dtype)

        def body(inner: LoweringContext, a: Any, b: Any) -> Sequence[Any]:
            return [combine(inner, scalar, a, b)]

        return ctx.op(
            "stablehlo.scatter",
            [x, indices, updates],
            attributes=_scatter_attributes(aval.ndim - 1, dimension_numbers, **params),
            regions=[Region((scalar, scalar), body)],
        )[0]

    return rule


def combined_by(name: str) -> Combine:
    """An element and its update combined by one operation, such as ``"stablehlo.add"``."""

    def combine(ctx: LoweringContext, scalar: ShapedArray, a: Any, b: Any) -> Any:
        return ctx.op(name, [a, b], result_avals=[scalar])[0]

    return combine


def _scatter_attributes(
    index_vector_dim: int,
    numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool,
    unique_indices: bool,
) -> dict[str, str]:
    text = (
        f"#stablehlo.scatter<update_window_dims = {_list(numbers.update_window_dims)}, "
        f"inserted_window_dims = {_list(numbers.inserted_window_dims)}, "
        f"input_batching_dims = {_list(numbers.operand_batching_dims)}, "
        f"scatter_indices_batching_dims = {_list(numbers.scatter_indices_batching_dims)}, "
        f"scatter_dims_to_operand_dims = {_list(numbers.scatter_dims_to_operand_dims)}, "
        f"index_vector_dim = {index_vector_dim}>"
    )
    return {
        "scatter_dimension_numbers": text,
        "indices_are_sorted": "true" if indices_are_sorted else "false",
        "unique_indices": "true" if unique_indices else "false",
    }


def _clipped(
    ctx: LoweringContext,
    indices: Any,
    aval: ShapedArray,
    x: ShapedArray,
    numbers: ScatterDimensionNumbers,
    sizes: Dims,
) -> Any:
    limits = [x.shape[axis] - sizes[axis] for axis in numbers.scatter_dims_to_operand_dims]
    row = ShapedArray((len(limits),), aval.dtype)
    high = ctx.broadcast(lower.sizes(ctx, limits, aval.dtype), row, aval, (aval.ndim - 1,))
    low = lower.full(ctx, aval, 0)
    return ctx.op("stablehlo.clamp", [low, indices, high], result_avals=[aval])[0]
