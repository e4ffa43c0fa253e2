"""Cutting pieces out of arrays and putting arrays together: slice and concatenate."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np
from bindax_core.extend import (
    Array,
    LoweringContext,
    ShapedArray,
    UndefPrimal,
    Zero,
    abstract_eval,
    impl,
    instantiate_zeros,
    jvp,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)

from bindax_lax_basic import _lowering as lower
from bindax_lax_basic._batching import batch_first
from bindax_lax_basic._linear import linear, zero_tangent
from bindax_lax_basic._numpy import NumPyArray
from bindax_lax_basic._operands import adopt_dtype, constant
from bindax_lax_basic._types import (
    axis_argument,
    describe,
    require_same_dtype,
    static_int,
    static_ints,
)
from bindax_lax_basic.arithmetic import sub_p
from bindax_lax_basic.axes import broadcast_in_dim_p, sum_axes
from bindax_lax_basic.comparison import eq_p
from bindax_lax_basic.selection import select_scalars
from bindax_lax_basic.shape import squeeze

Operands = Sequence[Any]
PaddingConfig = tuple[tuple[int, int, int], ...]

# ------------------------------------------------------------------------------------- slice


def slice(  # noqa: A001 -- the field's name
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """Cut a box out of an array.

    Args:
        operand: an array of any dtype.
        start_indices: for each axis the first index.
        limit_indices: for each axis the index after the last.
        strides: for each axis the step, positive; by default one.

    Raises:
        TypeError, ValueError: when the box is not within the array.

    >>> slice(np.arange(10), (2,), (9,), (3,))
    Array([2, 5, 8], dtype=int64)
    """
    steps = None if strides is None else static_ints("slice", "strides", strides)
    return slice_p.bind(
        operand,
        start_indices=static_ints("slice", "start_indices", start_indices),
        limit_indices=static_ints("slice", "limit_indices", limit_indices),
        strides=None if steps is None or all(s == 1 for s in steps) else steps,
    )


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """Cut a piece out of an array along one axis.

    Args:
        operand: an array of any dtype.
        start_index: the first index, counted from the end when negative; None means 0.
        limit_index: the index after the last, likewise; None means the axis's size.
        stride: the step, positive.
        axis: the axis to cut.

    >>> slice_in_dim(np.arange(5), 1, -1)
    Array([1, 2, 3], dtype=int64)
    """
    shape = typeof(operand).shape
    axis = axis_argument("slice_in_dim", axis, len(shape))
    size = shape[axis]
    start = 0 if start_index is None else static_int("slice_in_dim", "start_index", start_index)
    stop = size if limit_index is None else static_int("slice_in_dim", "limit_index", limit_index)
    starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis] = start + size if start < 0 else start
    stops[axis] = stop + size if stop < 0 else stop
    steps[axis] = static_int("slice_in_dim", "stride", stride)
    return slice(operand, starts, stops, steps)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """One slice of an array along an axis.

    >>> index_in_dim(np.arange(6).reshape(2, 3), -1, 1, keepdims=False)
    Array([2, 5], dtype=int64)
    """
    axis = axis_argument("index_in_dim", axis, typeof(operand).ndim)
    index = axis_argument("index_in_dim", index, typeof(operand).shape[axis], "index")
    out = slice_in_dim(operand, index, index + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def _slice_type(
    x: ShapedArray,
    *,
    start_indices: tuple[int, ...],
    limit_indices: tuple[int, ...],
    strides: tuple[int, ...] | None,
) -> ShapedArray:
    steps = (1,) * x.ndim if strides is None else strides
    for argument, values in (
        ("start_indices", start_indices),
        ("limit_indices", limit_indices),
        ("strides", steps),
    ):
        if len(values) != x.ndim:
            raise TypeError(
                f"slice: {argument} {values} must have one entry for each of the {x.ndim} axes of "
                f"{x.str_short()}."
            )
    shape = []
    for axis, size in enumerate(x.shape):
        start, stop, step = start_indices[axis], limit_indices[axis], steps[axis]
        if not 0 <= start <= stop <= size or step < 1:
            raise ValueError(
                f"slice: {start}:{stop}:{step} is not a piece of axis {axis} of {x.str_short()}; "
                f"it takes 0 <= start <= limit <= {size} and a step of at least 1."
            )
        shape.append(-(-(stop - start) // step))
    return x.update(shape=tuple(shape))


def _slice_impl(
    x: NumPyArray,
    *,
    start_indices: tuple[int, ...],
    limit_indices: tuple[int, ...],
    strides: tuple[int, ...] | None,
) -> NumPyArray:
    steps = strides or (1,) * x.ndim
    return x[tuple(map(builtins.slice, start_indices, limit_indices, steps))]


def _slice_vmap(
    size: int,
    operands: Operands,
    dims: Sequence[int],
    *,
    start_indices: tuple[int, ...],
    limit_indices: tuple[int, ...],
    strides: tuple[int, ...] | None,
) -> tuple[Any, int]:
    d = dims[0]
    out = slice_p.bind(
        operands[0],
        start_indices=(*start_indices[:d], 0, *start_indices[d:]),
        limit_indices=(*limit_indices[:d], size, *limit_indices[d:]),
        strides=None if strides is None else (*strides[:d], 1, *strides[d:]),
    )
    return out, d


def _slice_transpose(
    ct: Any,
    x: UndefPrimal,
    *,
    start_indices: tuple[int, ...],
    limit_indices: tuple[int, ...],
    strides: tuple[int, ...] | None,
) -> list[Any]:
    config = []
    for axis, size in enumerate(x.aval.shape):
        step = 1 if strides is None else strides[axis]
        length = typeof(ct).shape[axis]
        used = 0 if length == 0 else (length - 1) * step + 1
        low = start_indices[axis]
        config.append((low, size - low - used, step - 1))
    return [pad_p.bind(ct, constant(0, ct), padding_config=tuple(config))]


def _slice_lowering(
    ctx: LoweringContext,
    x: Any,
    *,
    start_indices: tuple[int, ...],
    limit_indices: tuple[int, ...],
    strides: tuple[int, ...] | None,
) -> Any:
    attributes = {
        "start_indices": lower.integers(start_indices),
        "limit_indices": lower.integers(limit_indices),
        "strides": lower.integers(strides or (1,) * len(start_indices)),
    }
    return ctx.op("stablehlo.slice", [x], attributes=attributes)[0]


slice_p = primitive(
    "slice",
    impl(_slice_impl),
    abstract_eval(_slice_type),
    linear(lambda t, **params: slice_p.bind(t, **params)),
    vmap(_slice_vmap),
    transpose(_slice_transpose),
    lowering["stablehlo"](_slice_lowering),
)

# ------------------------------------------------------------------------------- concatenate


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Join arrays along an axis that they have.

    Args:
        operands: arrays of one dtype, and of one shape but for the axis; at least one.
        dimension: the axis.

    Raises:
        TypeError: when dtypes or shapes do not agree.

    >>> concatenate([np.arange(2), np.arange(3)], 0)
    Array([0, 1, 0, 1, 2], dtype=int64)
    """
    if len(operands) == 0:
        raise ValueError("concatenate needs at least one array.")
    axis = axis_argument("concatenate", dimension, typeof(operands[0]).ndim, "dimension")
    return concatenate_p.bind(*operands, dimension=axis)


def _concatenate_type(*avals: ShapedArray, dimension: int) -> ShapedArray:
    require_same_dtype("concatenate", avals)
    first = avals[0]
    others = {
        (a.ndim, a.shape[:dimension], a.shape[dimension + 1 :]) for a in avals
    }
    if len(others) > 1:
        raise TypeError(
            f"concatenate: the shapes must be equal but for axis {dimension}, but got "
            f"{describe(avals)}."
        )
    if not 0 <= dimension < first.ndim:
        raise ValueError(f"concatenate: {first.str_short()} has no axis {dimension}.")
    size = sum([aval.shape[dimension] for aval in avals])
    shape = (*first.shape[:dimension], size, *first.shape[dimension + 1 :])
    return first.update(shape=shape, weak_type=all(aval.weak_type for aval in avals))


def _concatenate_jvp(
    primals: Operands, tangents: Operands, *, dimension: int
) -> tuple[Any, Any]:
    out = concatenate_p.bind(*primals, dimension=dimension)
    if all(type(t) is Zero for t in tangents):
        return out, zero_tangent(out)
    return out, concatenate_p.bind(
        *[instantiate_zeros(t) for t in tangents], dimension=dimension
    )


def _concatenate_vmap(
    size: int, operands: Operands, dims: Sequence[int | None], *, dimension: int
) -> tuple[Any, int]:
    aligned = [batch_first(x, d, size) for x, d in zip(operands, dims, strict=True)]
    return concatenate_p.bind(*aligned, dimension=dimension + 1), 0


def _concatenate_transpose(ct: Any, *operands: Any, dimension: int) -> list[Any]:
    shape = typeof(ct).shape
    results: list[Any] = []
    start = 0
    for x in operands:
        undefined = type(x) is UndefPrimal
        stop = start + (x.aval if undefined else typeof(x)).shape[dimension]
        starts, stops = [0] * len(shape), list(shape)
        starts[dimension], stops[dimension] = start, stop
        results.append(slice(ct, starts, stops) if undefined else None)
        start = stop
    return results


def _concatenate_lowering(ctx: LoweringContext, *values: Any, dimension: int) -> Any:
    attributes = {"dimension": f"{dimension} : i64"}
    return ctx.op("stablehlo.concatenate", list(values), attributes=attributes)[0]


concatenate_p = primitive(
    "concatenate",
    impl(lambda *arrays, dimension: np.concatenate(arrays, axis=dimension)),
    abstract_eval(_concatenate_type),
    jvp(_concatenate_jvp, symbolic_zeros=True),
    vmap(_concatenate_vmap),
    transpose(_concatenate_transpose),
    lowering["stablehlo"](_concatenate_lowering),
)
