"""Cutting a box out of an array at a position that is traced, and replacing it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_core.sharding import ambiguous
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    Dims,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import gather
from bindax_lax_basic.gather_scatter.scatter import scatter
from bindax_lax_basic.gather_scatter.take import wrap_index
from bindax_lax_basic.rules.batching import batch_first
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import jointly_linear
from bindax_lax_basic.rules.lowering import as_one, integers
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.sharding import entries, resized
from bindax_lax_basic.rules.types import (
    axis_argument,
    describe,
    require_same_dtype,
    static_int,
    static_ints,
)
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.creation import filled, scalar
from bindax_lax_basic.shape.reshape import expand_dims, squeeze
from bindax_lax_basic.shape.transpose import moveaxis
from bindax_transforms.zeros import UndefPrimal

__all__ = [
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_slice_p",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "dynamic_update_slice_p",
]


Operands = Sequence[Any]


def _positions(name: str, shape: Dims, indices: Sequence[Any]) -> list[Any]:
    """Start indices of one dtype, negative ones counted from the end."""
    if len(indices) != len(shape):
        raise TypeError(
            f"{name} takes one start index for each axis, but got {len(indices)} for the shape "
            f"{shape}."
        )
    static = [static_int(name, "start_indices", i) if type(i) is int else None for i in indices]
    traced = [typeof(i) for i, known in zip(indices, static, strict=True) if known is None]
    for aval in traced:
        if aval.shape or not dtypes.is_integer(aval.dtype):
            raise TypeError(
                f"{name} takes scalar integers as start indices, but got {aval.str_short()}."
            )
    # int32 beside int64 is one type in two widths: which one a position has is no mistake.
    strong = {(a.dtype.kind, min(a.dtype.itemsize, 4)) for a in traced if not a.weak_type}
    if len(strong) > 1:
        raise TypeError(
            f"{name} takes start indices of one dtype, but got {describe(traced)}; convert them "
            f"with .astype."
        )
    wide = any(aval.dtype.itemsize == 8 and not aval.weak_type for aval in traced)
    dtype = np.dtype(np.int64 if wide else np.int32)
    return [
        _position(index, known, size, dtype)
        for index, known, size in zip(indices, static, shape, strict=True)
    ]


def _position(index: Any, known: int | None, size: int, dtype: DType) -> Any:
    if known is None:
        return convert(wrap_index(index, size), dtype, False)
    return scalar(known + size if known < 0 else known, dtype, False)


def _check_starts(name: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != x.ndim or any(start.shape for start in starts):
        raise TypeError(
            f"{name}: {x.str_short()} needs {x.ndim} scalar start indices, but got "
            f"{describe(starts) or 'none'}."
        )
    if any(not dtypes.is_integer(start.dtype) for start in starts):
        raise TypeError(f"{name}: start indices must be integers, but got {describe(starts)}.")
    if starts:
        require_same_dtype(name, starts)


def _is_outside(n: int, size: int) -> bool:
    return not 0 <= n <= size


def _box(shape: Dims, starts: Sequence[NumPyArray], sizes: Dims) -> tuple[slice, ...]:
    """The slices of a box, moved to within the array."""
    firsts = [
        min(max(int(start), 0), total - size)
        for start, total, size in zip(starts, shape, sizes, strict=True)
    ]
    return tuple([slice(first, first + n) for first, n in zip(firsts, sizes, strict=True)])


def dynamic_slice(operand: Any, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Array:
    """Cut a box of a fixed size out of an array, at a position that may be traced.

    Args:
        operand: an array of any dtype.
        start_indices: for each axis the first index, a scalar integer; negative ones count from
            the end, and the box is moved to be within the array.
        slice_sizes: for each axis the size of the box.

    >>> dynamic_slice(np.arange(5), (3,), (3,))
    Array([2, 3, 4], dtype=int64)
    """
    starts = _positions("dynamic_slice", typeof(operand).shape, list(start_indices))
    sizes = static_ints("dynamic_slice", "slice_sizes", slice_sizes)
    return dynamic_slice_p.bind(operand, *starts, slice_sizes=sizes)


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Array:
    """``dynamic_slice`` along one axis, whole along the others.

    >>> dynamic_slice_in_dim(np.arange(5), 1, 2)
    Array([1, 2], dtype=int64)
    """
    shape = typeof(operand).shape
    axis = axis_argument("dynamic_slice_in_dim", axis, len(shape))
    starts, sizes = [0] * len(shape), list(shape)
    starts[axis] = start_index
    sizes[axis] = static_int("dynamic_slice_in_dim", "slice_size", slice_size)
    return dynamic_slice(operand, starts, sizes)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Array:
    """One slice of an array along an axis, at an index that may be traced.

    >>> dynamic_index_in_dim(np.arange(4).reshape(2, 2), 1, keepdims=False)
    Array([2, 3], dtype=int64)
    """
    out = dynamic_slice_in_dim(operand, index, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def _slice_type(x: ShapedArray, *starts: ShapedArray, slice_sizes: Dims) -> ShapedArray:
    _check_starts("dynamic_slice", x, starts)
    if len(slice_sizes) != x.ndim or any(map(_is_outside, slice_sizes, x.shape)):
        raise TypeError(
            f"dynamic_slice: a box of the sizes {slice_sizes} does not fit into {x.str_short()}."
        )
    return x.update(shape=slice_sizes)


def _slice_transpose(ct: Any, x: UndefPrimal, *starts: Any, slice_sizes: Dims) -> list[Any]:
    out = dynamic_update_slice_p.bind(filled(x.aval, 0), ct, *starts)
    return [out, *[None] * len(starts)]


def _index_vectors(starts: Operands, dims: Sequence[int | None], size: int) -> Any:
    """Start indices of which some are batched as vectors."""
    pairs = zip(starts, dims, strict=True)
    columns = [expand_dims(batch_first(s, d, size), (1,)) for s, d in pairs]
    return concatenate_p.bind(*columns, dimension=1)


def _origin(starts: Operands) -> Any:
    """The start index 0, of the dtype of others."""
    return scalar(0, typeof(starts[0]).dtype if starts else np.dtype(np.int32), False)


def _slice_vmap(
    size: int, operands: Operands, dims: Sequence[int | None], *, slice_sizes: Dims
) -> tuple[Any, int]:
    x, *starts = operands
    d = dims[0]
    if all(start_dim is None for start_dim in dims[1:]) and d is not None:
        sizes = (*slice_sizes[:d], size, *slice_sizes[d:])
        starts.insert(d, _origin(starts))
        return dynamic_slice_p.bind(x, *starts, slice_sizes=sizes), d
    vectors = _index_vectors(starts, dims[1:], size)
    axes = tuple(range(len(slice_sizes)))
    window = tuple([axis + 1 for axis in axes])
    if d is None:
        numbers = GatherDimensionNumbers(window, (), axes)
    else:
        x = moveaxis(x, d, 0)
        numbers = GatherDimensionNumbers(window, (), window, (0,), (0,))
        slice_sizes = (1 if size else 0, *slice_sizes)
        if size == 0:
            return filled(typeof(x).update(shape=slice_sizes), 0), 0
    return gather(x, vectors, numbers, slice_sizes, mode=GatherScatterMode.CLIP), 0


dynamic_slice_p: Primitive = primitive(
    "dynamic_slice",
    rules.impl(lambda x, *starts, slice_sizes: x[_box(x.shape, starts, slice_sizes)]),
    rules.abstract_eval(_slice_type),
    jointly_linear(slice(1)),
    rules.vmap(_slice_vmap),
    rules.transpose(_slice_transpose),
    rules.lowering["stablehlo"](as_one("stablehlo.dynamic_slice", slice_sizes=integers)),
    resized("slicing on sharded dims", linear=(0,)),
)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Sequence[Any]) -> Array:
    """Replace a box of an array, at a position that may be traced.

    Args:
        operand: the array, which is not changed.
        update: what to put there, of the same dtype and number of axes.
        start_indices: as for ``dynamic_slice``.

    >>> dynamic_update_slice(np.zeros(4), np.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float64)
    """
    starts = _positions("dynamic_update_slice", typeof(operand).shape, list(start_indices))
    return dynamic_update_slice_p.bind(*adopt_dtype(operand, update), *starts)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Array:
    """``dynamic_update_slice`` along one axis, from the beginning of the others.

    >>> dynamic_update_slice_in_dim(np.zeros(4), np.ones(2), 2, 0)
    Array([0., 0., 1., 1.], dtype=float64)
    """
    ndim = typeof(operand).ndim
    starts: list[Any] = [0] * ndim
    starts[axis_argument("dynamic_update_slice_in_dim", axis, ndim)] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Array:
    """Replace one slice along an axis, at an index that may be traced.

    >>> dynamic_update_index_in_dim(np.zeros(3), 5.0, 1, 0)
    Array([0., 5., 0.], dtype=float64)
    """
    (update, operand) = adopt_dtype(update, operand)
    if typeof(update).ndim != typeof(operand).ndim:
        update = expand_dims(update, (axis_argument("index", axis, typeof(operand).ndim),))
    return dynamic_update_slice_in_dim(operand, update, index, axis)


def _update_type(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    _check_starts("dynamic_update_slice", x, starts)
    require_same_dtype("dynamic_update_slice", (x, update))
    if update.ndim != x.ndim or any(map(_is_outside, update.shape, x.shape)):
        raise TypeError(
            f"dynamic_update_slice: the update {update.str_short()} does not fit into "
            f"{x.str_short()}."
        )
    return x.update(weak_type=x.weak_type and update.weak_type)


def _update_impl(x: NumPyArray, update: NumPyArray, *starts: NumPyArray) -> NumPyArray:
    out = x.copy()
    out[_box(x.shape, starts, update.shape)] = update
    return out


def _update_transpose(ct: Any, x: Any, update: Any, *starts: Any) -> list[Any]:
    undefined = type(update) is UndefPrimal
    aval = update.aval if undefined else typeof(update)
    to_x = to_update = None
    if type(x) is UndefPrimal:
        zeros = filled(aval.update(dtype=typeof(ct).dtype, weak_type=False), 0)
        to_x = dynamic_update_slice_p.bind(ct, zeros, *starts)
    if undefined:
        to_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=aval.shape)
    return [to_x, to_update, *[None] * len(starts)]


def _update_vmap(size: int, operands: Operands, dims: Sequence[int | None]) -> tuple[Any, int]:
    x, update, *starts = operands
    x, update = batch_first(x, dims[0], size), batch_first(update, dims[1], size)
    if all(d is None for d in dims[2:]):
        return dynamic_update_slice_p.bind(x, update, _origin(starts), *starts), 0
    if size == 0:
        return x, 0
    vectors = _index_vectors(starts, dims[2:], size)
    axes = tuple(range(1, typeof(x).ndim))
    numbers = ScatterDimensionNumbers(axes, (), axes, (0,), (0,))
    promises = {"indices_are_sorted": True, "unique_indices": True}
    return scatter(x, vectors, update, numbers, mode=GatherScatterMode.CLIP, **promises), 0


def _update_sharding(
    primitive: Primitive, x: ShapedArray, update: ShapedArray, *starts: ShapedArray
) -> Any:
    pairs = zip(entries(x), entries(update), x.shape, update.shape, strict=True)
    if any(own != new and (new or size != part) for own, new, size, part in pairs):
        problem = "operand sharding must be equal to update sharding"
        raise ambiguous(primitive, problem, [x, update])
    return entries(x)


dynamic_update_slice_p: Primitive = primitive(
    "dynamic_update_slice",
    rules.impl(_update_impl),
    rules.abstract_eval(_update_type),
    jointly_linear(slice(2)),
    rules.vmap(_update_vmap),
    rules.transpose(_update_transpose),
    rules.lowering["stablehlo"](as_one("stablehlo.dynamic_update_slice")),
    rules.sharding(_update_sharding, takes_primitive=True, linear=(0, 1)),
)
