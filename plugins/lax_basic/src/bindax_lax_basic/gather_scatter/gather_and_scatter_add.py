"""Reading windows of an array at positions that are arrays themselves, and adding to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import NUMBER
from bindax_lax_basic.gather_scatter import dimension_numbers as _numbers
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    FILL,
    Dims,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from bindax_lax_basic.gather_scatter.lowering import gather_lowering
from bindax_lax_basic.gather_scatter.scatter_rules import bind_scatter, scatter_family
from bindax_lax_basic.gather_scatter.sharding import gather_sharding
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import zero_tangent
from bindax_lax_basic.rules.types import static_ints
from bindax_lax_basic.shape.creation import filled
from bindax_lax_basic.shape.transpose import moveaxis
from bindax_transforms.zeros import UndefPrimal, Zero, instantiate_zeros

__all__ = ["gather", "gather_p", "scatter_add", "scatter_add_p"]


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Array:
    """Read windows of an array at many positions.

    Args:
        operand: the array to read from.
        start_indices: an array of integers; its last axis holds index vectors.
        dimension_numbers: which axis is which, a ``GatherDimensionNumbers``.
        slice_sizes: for each axis of ``operand`` the size of a window.
        indices_are_sorted: a promise that may help a compiler.
        unique_indices: likewise.
        mode: what to do with windows out of bounds, a ``GatherScatterMode`` or its name; by default
            they read ``fill_value``.
        fill_value: by default nan for floats, the least value of signed and the greatest of
            unsigned integers, True for booleans.

    >>> numbers = GatherDimensionNumbers((1,), (0,), (0,))
    >>> gather(np.arange(6).reshape(3, 2), np.array([[2], [0]]), numbers, (1, 2))
    Array([[4, 5],
           [0, 1]], dtype=int64)
    """
    chosen = GatherScatterMode.from_any(mode)
    if chosen is GatherScatterMode.ONE_HOT:
        chosen, fill_value = FILL, 0
    if chosen is FILL and fill_value is None:
        fill_value = default_fill(typeof(operand).dtype)
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=_numbers.numbers_argument(
            "gather", GatherDimensionNumbers, dimension_numbers
        ),
        slice_sizes=static_ints("gather", "slice_sizes", slice_sizes),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=chosen,
        fill_value=fill_value if chosen is FILL else None,
    )


def default_fill(dtype: Any) -> Any:
    """Default value of reads out of bounds."""
    if dtypes.is_inexact(dtype):
        return float("nan")
    if dtypes.kind_of(dtype) == "signed integer":
        return dtypes.smallest(dtype)
    if dtypes.kind_of(dtype) == "extended":
        return default_fill(dtype[0].base)
    return dtypes.largest(dtype)


def _gather_type(
    x: ShapedArray,
    indices: ShapedArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Dims,
    **params: Any,
) -> ShapedArray:
    _numbers.check_windows("gather", x, indices, dimension_numbers, slice_sizes)
    axes = _numbers.window_dims(x.ndim, dimension_numbers)
    unordered = (*indices.shape[:-1], *[slice_sizes[axis] for axis in axes])
    order = _numbers.result_order(len(unordered), dimension_numbers)
    return x.update(shape=tuple([unordered[i] for i in order]))


def _gather_impl(
    x: NumPyArray,
    indices: NumPyArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Dims,
    mode: GatherScatterMode,
    fill_value: Any,
    **params: Any,
) -> Any:
    found = _numbers.windows(x.shape, indices, dimension_numbers, slice_sizes)
    out = _numbers.gather(x, found)
    if mode is not FILL or found.valid.all():
        return out
    keep = found.valid.reshape((*found.valid.shape, *(1,) * (out.ndim - found.valid.ndim)))
    keep = np.broadcast_to(keep, found.shape).transpose(found.order)
    return np.where(keep, out, np.asarray(fill_value).astype(x.dtype))


def _gather_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, fill_value: Any, **params: Any
) -> tuple[Any, Any]:
    x, indices = primals
    out = gather_p.bind(x, indices, fill_value=fill_value, **params)
    if type(tangents[0]) is Zero:
        return out, zero_tangent(out)
    fill = None if fill_value is None else 0
    return out, gather_p.bind(tangents[0], indices, fill_value=fill, **params)


def _gather_transpose(
    ct: Any,
    x: UndefPrimal,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Dims,
    fill_value: Any,
    **params: Any,
) -> list[Any]:
    numbers = ScatterDimensionNumbers(*dimension_numbers)
    zeros = filled(x.aval, 0)
    return [scatter_add_p.bind(zeros, indices, ct, dimension_numbers=numbers, **params), None]


def _gather_vmap(
    size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Dims,
    **params: Any,
) -> tuple[Any, int]:
    pairs = zip(operands, dims, strict=True)
    x, indices = (v if d is None else moveaxis(v, d, 0) for v, d in pairs)
    batched = [d is not None for d in dims]
    if size == 0 and all(batched):
        # No window of size one fits into an empty axis; the result is empty, of the same type.
        one = [aval.update(shape=aval.shape[1:]) for aval in (typeof(x), typeof(indices))]
        row = _gather_type(*one, dimension_numbers=dimension_numbers, slice_sizes=slice_sizes)
        return filled(row.update(shape=(0, *row.shape)), 0), 0
    if batched[0]:
        slice_sizes = (1 if batched[1] else size, *slice_sizes)
    numbers = _numbers.batched_numbers(dimension_numbers, *batched)
    out = gather_p.bind(x, indices, dimension_numbers=numbers, slice_sizes=slice_sizes, **params)
    return out, 0


gather_p: Primitive = primitive(
    "gather",
    rules.impl(_gather_impl),
    rules.abstract_eval(_gather_type),
    rules.jvp(_gather_jvp, symbolic_zeros=True),
    rules.vmap(_gather_vmap),
    rules.transpose(_gather_transpose),
    rules.lowering["stablehlo"](gather_lowering),
    rules.sharding(gather_sharding, takes_primitive=True, linear=(0,)),
)


def scatter_add(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Add windows to an array at many positions; the transpose of ``gather``.

    Args:
        operand: the array to add to, which is not changed.
        scatter_indices: an array of integers; its last axis holds index vectors.
        updates: the windows, of the dtype of ``operand``.
        dimension_numbers: which axis is which, a ``ScatterDimensionNumbers``.
        indices_are_sorted: a promise that may help a compiler.
        unique_indices: likewise.
        mode: what to do with windows out of bounds; by default they are dropped.

    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_add(np.zeros(3), np.array([[2], [2]]), np.array([1.0, 5.0]), numbers)
    Array([0., 0., 6.], dtype=float64)
    """
    arguments = dimension_numbers, indices_are_sorted, unique_indices, mode
    return bind_scatter(scatter_add_p, operand, scatter_indices, updates, *arguments)


def _scatter_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    x, indices, updates = primals
    out = scatter_add_p.bind(x, indices, updates, **params)
    tx, _, tu = tangents
    if type(tx) is Zero and type(tu) is Zero:
        return out, zero_tangent(out)
    if type(tu) is Zero:
        return out, tx
    return out, scatter_add_p.bind(instantiate_zeros(tx), indices, tu, **params)


def gather_back(
    x: Any,
    indices: Any,
    updates_shape: Dims,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    **params: Any,
) -> Any:
    """Read from an array what a scatter of updates writes to; 0 for what it drops."""
    if typeof(x).size == 0:
        return filled(ShapedArray(updates_shape, typeof(x).dtype), 0)
    drops = mode in (FILL, GatherScatterMode.ONE_HOT)
    sizes = _numbers.update_sizes(typeof(x).ndim, updates_shape, dimension_numbers)
    return gather_p.bind(
        x,
        indices,
        dimension_numbers=dimension_numbers.as_gather(),
        slice_sizes=sizes,
        mode=FILL if drops else mode,
        fill_value=0 if drops else None,
        **params,
    )


def _scatter_transpose(ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> list[Any]:
    to_updates = None
    if type(updates) is UndefPrimal:
        to_updates = gather_back(ct, indices, updates.aval.shape, **params)
    return [ct if type(x) is UndefPrimal else None, None, to_updates]


scatter_add_p: Primitive = primitive(
    "scatter_add",
    *scatter_family("scatter_add", NUMBER, np.add, "stablehlo.add", widen=True, linear=(0, 2)),
    rules.jvp(_scatter_jvp, symbolic_zeros=True),
    rules.transpose(_scatter_transpose),
)
