"""The lowering of gather and scatter to StableHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, ShapedArray
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    CLIP,
    FILL,
    Dims,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    update_sizes,
)
from bindax_lax_basic.rules import lowering as lower


def _wide_indices(ctx: LoweringContext, indices: Any, aval: ShapedArray) -> tuple[Any, ShapedArray]:
    """Indices in 32 bits at least, so that they reach every position."""
    if aval.dtype.itemsize >= 4:
        return indices, aval
    wide = aval.update(dtype=np.dtype(np.int32))
    return ctx.op("stablehlo.convert", [indices], result_avals=[wide])[0], wide


def _numbers_text(kind: str, indices: ShapedArray, **axes: Dims) -> str:
    """Dimension numbers as the text of an attribute."""
    lists = [f"{name} = [{', '.join(map(str, own))}], " for name, own in axes.items()]
    return f"#stablehlo.{kind}<{''.join(lists)}index_vector_dim = {indices.ndim - 1}>"


def _last_positions(
    ctx: LoweringContext, aval: ShapedArray, x: ShapedArray, axes: Dims, sizes: Dims
) -> Any:
    """For each index vector, of a type, the last position that is within the operand."""
    limits = [x.shape[axis] - sizes[axis] for axis in axes]
    row = ShapedArray((len(limits),), aval.dtype)
    return ctx.broadcast(lower.sizes(ctx, limits, aval.dtype), row, aval, (aval.ndim - 1,))


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
    attributes = {
        "dimension_numbers": _numbers_text("gather", index_aval, **numbers._asdict()),
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
    bound = _last_positions(ctx, aval, x, numbers.start_index_map, sizes)
    low = compare(ctx, "GE", indices, lower.full(ctx, aval, 0), aval)
    high = compare(ctx, "LE", indices, bound, aval)
    flags = aval.update(dtype=dtypes.bool_, weak_type=False)
    (both,) = ctx.op("stablehlo.and", [low, high], result_avals=[flags])
    return ctx.op(
        "stablehlo.reduce",
        [both, ctx.constant(np.asarray(True))],
        result_avals=[flags.update(shape=aval.shape[:-1])],
        attributes={"dimensions": lower.integers((aval.ndim - 1,))},
        regions=[lower.of_two("stablehlo.and", ShapedArray((), dtypes.bool_))],
    )[0]


def scatter_lowering(combine: str | Callable[..., Any]) -> lower.Lowering:
    """The ``lowering`` rule of a scatter that combines elements and updates; see ``of_two``."""

    def rule(
        ctx: LoweringContext,
        x: Any,
        indices: Any,
        updates: Any,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        mode: GatherScatterMode,
        indices_are_sorted: bool,
        unique_indices: bool,
    ) -> Any:
        x_aval, _, update_aval = ctx.avals_in
        indices, aval = _wide_indices(ctx, indices, ctx.avals_in[1])
        window, inserted, axes, own, theirs = dimension_numbers
        if mode is CLIP and axes:
            sizes = update_sizes(x_aval.ndim, update_aval.shape, dimension_numbers)
            high = _last_positions(ctx, aval, x_aval, axes, sizes)
            low = lower.full(ctx, aval, 0)
            (indices,) = ctx.op("stablehlo.clamp", [low, indices, high], result_avals=[aval])
        numbers = _numbers_text(
            "scatter",
            aval,
            update_window_dims=window,
            inserted_window_dims=inserted,
            input_batching_dims=own,
            scatter_indices_batching_dims=theirs,
            scatter_dims_to_operand_dims=axes,
        )
        return ctx.op(
            "stablehlo.scatter",
            [x, indices, updates],
            attributes={
                "scatter_dimension_numbers": numbers,
                "indices_are_sorted": "true" if indices_are_sorted else "false",
                "unique_indices": "true" if unique_indices else "false",
            },
            regions=[lower.of_two(combine, ShapedArray((), x_aval.dtype))],
        )[0]

    return rule
