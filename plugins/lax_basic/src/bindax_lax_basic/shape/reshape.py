"""Changing the shape of an array without changing its elements: reshape, squeeze, collapse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.errors import ShapeError
from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, linear
from bindax_lax_basic.rules.lowering import as_one
from bindax_lax_basic.rules.sharding import without
from bindax_lax_basic.rules.types import axes_argument, shape_argument, static_int, static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import (
    Dims,
    broadcast_in_dim_p,
    reduction_batch,
)
from bindax_lax_basic.shape.reshape_sharding import reshape_sharding
from bindax_lax_basic.shape.transpose import moveaxis, transpose_p
from bindax_transforms.extend import decided
from bindax_transforms.zeros import UndefPrimal

__all__ = ["collapse", "expand_dims", "reshape", "reshape_p", "squeeze", "squeeze_p"]


def reshape(
    operand: Any,
    new_sizes: Any,
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Give the elements of an array, in order, another shape.

    Args:
        operand: an array of any dtype.
        new_sizes: the shape of the result; it has as many elements.
        dimensions: a permutation of the axes of ``operand`` to apply before.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: when the number of elements differs.

    >>> reshape(np.arange(4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int64)
    """
    if out_sharding is not None:
        return decided(reshape, out_sharding, (operand, new_sizes, dimensions))
    sizes = shape_argument("reshape", new_sizes)
    aval = typeof(operand)
    if dimensions is not None:
        order = static_ints("reshape", "dimensions", dimensions)
        if order != tuple(range(aval.ndim)):
            operand = transpose_p.bind(operand, permutation=order)
    if aval.shape == sizes and dimensions is None and hasattr(operand, "aval"):
        return operand
    return reshape_p.bind(operand, new_sizes=sizes, dimensions=None)


def _reshape_type(x: ShapedArray, *, new_sizes: Dims, dimensions: None) -> ShapedArray:
    if math.prod(new_sizes) != x.size:
        raise ShapeError(
            f"reshape: {x.str_short()} has {x.size} elements and cannot take the shape "
            f"{new_sizes}, which has {math.prod(new_sizes)}."
        )
    return x.update(shape=new_sizes)


def _reshape_vmap(
    size: int, operands: Values, dims: BatchDims, *, new_sizes: Dims, dimensions: None
) -> Batched:
    x = moveaxis(operands[0], dims[0], 0)
    return reshape_p.bind(x, new_sizes=(size, *new_sizes), dimensions=None), 0


def _reshape_transpose(ct: Any, x: UndefPrimal, **params: Any) -> list[Any]:
    return [reshape_p.bind(ct, new_sizes=x.aval.shape, dimensions=None)]


reshape_p: Primitive = primitive(
    "reshape",
    rules.impl(lambda x, *, new_sizes, dimensions: x.reshape(new_sizes)),
    rules.abstract_eval(_reshape_type),
    linear(),
    rules.vmap(_reshape_vmap),
    rules.transpose(_reshape_transpose),
    rules.lowering["stablehlo"](as_one("stablehlo.reshape")),
    rules.sharding(reshape_sharding, takes_primitive=True, linear=True),
)


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Join neighbouring axes into one.

    Args:
        operand: an array of any dtype.
        start_dimension: the first axis to join.
        stop_dimension: the axis after the last one; by default all that follow are joined.

    Raises:
        ValueError: when the axis after the last one is before the first one.

    >>> collapse(np.zeros((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    shape = typeof(operand).shape
    start = static_int("collapse", "start_dimension", start_dimension)
    stop = len(shape)
    if stop_dimension is not None:
        stop = static_int("collapse", "stop_dimension", stop_dimension)
    axes = range(len(shape))[start:stop]
    start, stop = axes.start, axes.stop
    if stop < start:
        raise ValueError(
            f"collapse: stop_dimension {stop_dimension} must not be before start_dimension "
            f"{start_dimension} of the axes of {typeof(operand).str_short()}."
        )
    joined = math.prod(shape[start:stop])
    return reshape(operand, (*shape[:start], joined, *shape[stop:]))


def squeeze(array: Any, dimensions: Any = None) -> Array:
    """Remove axes of size one.

    Args:
        array: an array of any dtype.
        dimensions: the axes to remove; by default all of size one.

    Raises:
        ValueError: when an axis to remove has another size.

    >>> squeeze(np.zeros((2, 1, 3))).shape
    (2, 3)
    """
    aval = typeof(array)
    if dimensions is None:
        dimensions = tuple(i for i, size in enumerate(aval.shape) if size == 1)
    axes = axes_argument("squeeze", dimensions, aval.ndim, "dimensions")
    if not axes and hasattr(array, "aval"):
        return array
    return squeeze_p.bind(array, dimensions=axes)


def _squeeze_type(x: ShapedArray, *, dimensions: Dims) -> ShapedArray:
    for axis in dimensions:
        if not 0 <= axis < x.ndim or x.shape[axis] != 1:
            raise ValueError(
                f"squeeze: axis {axis} of {x.str_short()} cannot be removed; its size must be 1."
            )
    return x.update(shape=tuple([s for i, s in enumerate(x.shape) if i not in dimensions]))


def _squeeze_transpose(ct: Any, x: UndefPrimal, *, dimensions: Dims) -> list[Any]:
    return [expand_dims(ct, dimensions)]


squeeze_p: Primitive = primitive(
    "squeeze",
    rules.impl(lambda x, *, dimensions: x.squeeze(dimensions)),
    rules.abstract_eval(_squeeze_type),
    linear(),
    reduction_batch("dimensions"),
    rules.transpose(_squeeze_transpose),
    rules.lowering["stablehlo"](as_one("stablehlo.reshape")),
    without("dimensions", linear=True),
)


def expand_dims(array: Any, dimensions: Any) -> Array:
    """Add axes of size one.

    Args:
        array: an array of any dtype.
        dimensions: where the new axes are in the result.

    >>> expand_dims(np.zeros(3), (0, 2)).shape
    (1, 3, 1)
    """
    shape = typeof(array).shape
    places = static_ints("expand_dims", "dimensions", dimensions)
    rank = len(shape) + len(places)
    if any(not -rank <= place < rank for place in places):
        raise np.exceptions.AxisError(
            f"expand_dims: dimensions {places} must be axes of the result, which has {rank}, but "
            f"the operand is {typeof(array).str_short()}."
        )
    new = axes_argument("expand_dims", places, rank, "dimensions")
    kept = tuple([i for i in range(rank) if i not in new])
    sizes = [1] * rank
    for i, size in zip(kept, shape, strict=True):
        sizes[i] = size
    return broadcast_in_dim_p.bind(array, shape=tuple(sizes), broadcast_dimensions=kept)
