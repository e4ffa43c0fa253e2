"""Cutting arrays apart, stacking and repeating them: split, unstack, stack, tile."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.errors import ShardingTypeError
from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import ambiguous
from bindax_lax_basic.rules import types
from bindax_lax_basic.rules.batching import along_axis, leading_batch
from bindax_lax_basic.rules.elementwise import composition
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, jointly_linear, linear
from bindax_lax_basic.rules.lowering import inlined
from bindax_lax_basic.rules.sharding import alike, entries, resized
from bindax_lax_basic.shape.broadcast_and_reduce_sum import Dims, broadcast_in_dim_p, sum_axes
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.reshape import expand_dims, reshape_p, squeeze_p
from bindax_lax_basic.shape.slice_and_pad import every
from bindax_transforms.zeros import UndefPrimal, instantiate_zeros

__all__ = ["broadcast_to_rank", "split", "split_p", "stack", "stack_p", "tile", "tile_p", "unstack"]


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Cut an array into pieces along an axis.

    Args:
        operand: an array of any dtype.
        sizes: the sizes of the pieces along the axis; together they are its size.
        axis: the axis.

    Returns:
        The pieces, in order.

    Raises:
        ValueError: when the sizes are negative or do not sum to that of the axis.

    >>> split(np.arange(4), (1, 3))
    [Array([0], dtype=int64), Array([1, 2, 3], dtype=int64)]
    """
    place = types.axis_argument("split", axis, typeof(operand).ndim)
    return split_p.bind(operand, sizes=types.static_ints("split", "sizes", sizes), axis=place)


def _split_type(x: ShapedArray, *, sizes: Dims, axis: int) -> list[ShapedArray]:
    if not 0 <= axis < x.ndim:
        raise ValueError(f"split: {axis} is not an axis of {x.str_short()}.")
    if any(size < 0 for size in sizes):
        raise ValueError(f"split: sizes must not be negative, but they are {sizes}.")
    if sum(sizes) != x.shape[axis]:
        raise ValueError(
            f"split: the sizes {sizes} sum to {sum(sizes)}, but axis {axis} of {x.str_short()} has "
            f"size {x.shape[axis]}."
        )
    return [x.update(shape=(*x.shape[:axis], n, *x.shape[axis + 1 :])) for n in sizes]


def _split_impl(x: NumPyArray, *, sizes: Dims, axis: int) -> list[NumPyArray]:
    pieces = np.split(x, np.cumsum(sizes[:-1], dtype=np.int64), axis)
    return pieces if sizes else []


def _split_transpose(cotangents: Values, x: UndefPrimal, *, sizes: Dims, axis: int) -> list[Any]:
    if not sizes:
        return [None]
    return [concatenate_p.bind(*[instantiate_zeros(ct) for ct in cotangents], dimension=axis)]


def _split_lowering(ctx: LoweringContext, x: Any, *, sizes: Dims, axis: int) -> list[Any]:
    def program(x: Any) -> list[Any]:
        pairs = zip(itertools.accumulate(sizes), sizes, strict=True)
        return [every(x, axis, stop - size, stop) for stop, size in pairs]

    return inlined(ctx, program, [x], ctx.avals_in)


split_p: Primitive = primitive(
    "split",
    rules.impl(_split_impl),
    rules.abstract_eval(_split_type),
    linear(),
    along_axis(),
    rules.transpose(_split_transpose, symbolic_zeros=True),
    rules.lowering["stablehlo"](_split_lowering),
    resized("split on sharded dims", linear=True),
    multiple_results=True,
)


def unstack(x: Any, axis: int = 0) -> tuple[Array, ...]:
    """The slices of an array along an axis, without that axis.

    Args:
        x: an array of any dtype with at least one axis.
        axis: the axis.

    >>> unstack(np.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int64), Array([3, 4], dtype=int64))
    """
    aval = typeof(x)
    place = types.axis_argument("unstack", axis, aval.ndim)
    if aval.is_divided and entries(aval)[place] is not None:
        raise ShardingTypeError(
            f"unstack operand cannot be sharded on the unstacking axis, but axis {place} of "
            f"{aval.str_short()} is divided. Lay it out whole there by reshard."
        )
    pieces = split_p.bind(x, sizes=(1,) * aval.shape[place], axis=place)
    return tuple([squeeze_p.bind(piece, dimensions=(place,)) for piece in pieces])


def stack(operands: Sequence[Any], axis: int = 0) -> Array:
    """Join arrays of one shape and dtype along a new axis.

    Args:
        operands: at least one array.
        axis: where the new axis is in the result.

    Raises:
        ValueError: when there are no arrays, or their shapes differ.
        TypeError: when their dtypes differ.

    >>> stack([np.arange(2), np.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int64)
    """
    xs = list(operands)
    if not xs:
        raise ValueError("stack needs at least one array, but operands is empty.")
    avals = [typeof(x) for x in xs]
    if len({aval.shape for aval in avals}) > 1:
        raise ValueError(f"stack requires arrays of equal shapes, but got {types.describe(avals)}.")
    types.require_same_dtype("stack", avals)
    place = types.axis_argument("stack", axis, avals[0].ndim + 1)
    return stack_p.bind(*xs, axis=place)


def _stack_type(*avals: ShapedArray, axis: int) -> ShapedArray:
    types.require_same_dtype("stack", avals)
    first = avals[0]
    if any(aval.shape != first.shape for aval in avals):
        raise ValueError(f"stack requires arrays of equal shapes, but got {types.describe(avals)}.")
    if not 0 <= axis <= first.ndim:
        raise ValueError(f"stack: {axis} is no axis of {len(avals)} arrays {first.str_short()}.")
    shape = (*first.shape[:axis], len(avals), *first.shape[axis:])
    return first.update(shape=shape, weak_type=all(aval.weak_type for aval in avals))


def _stack_sharding(primitive: Primitive, *avals: ShapedArray, axis: int) -> tuple[Any, ...]:
    own = alike(primitive, avals)
    return (*own[:axis], None, *own[axis:])


def _stack_transpose(ct: Any, *operands: Any, axis: int) -> list[Any]:
    parts = split_p.bind(ct, sizes=(1,) * len(operands), axis=axis)
    return [
        squeeze_p.bind(part, dimensions=(axis,)) if type(x) is UndefPrimal else None
        for part, x in zip(parts, operands, strict=True)
    ]


def _joined(*operands: Any, axis: int) -> Any:
    return concatenate_p.bind(*[expand_dims(x, (axis,)) for x in operands], dimension=axis)


stack_p: Primitive = primitive(
    "stack",
    rules.impl(lambda *arrays, axis: np.stack(arrays, axis)),
    rules.abstract_eval(_stack_type),
    jointly_linear(),
    leading_batch("axis"),
    rules.transpose(_stack_transpose),
    rules.lowering["stablehlo"](composition(_joined)),
    rules.sharding(_stack_sharding, takes_primitive=True, linear=True),
)


def broadcast_to_rank(x: Any, rank: int) -> Array:
    """Add leading axes of size one until an array has a rank; one that has more stays.

    >>> broadcast_to_rank(np.zeros(3), 3).shape
    (1, 1, 3)
    """
    missing = types.static_int("broadcast_to_rank", "rank", rank) - typeof(x).ndim
    return expand_dims(x, tuple(range(missing))) if missing > 0 else expand_dims(x, ())


def tile(operand: Any, reps: Sequence[int]) -> Array:
    """Repeat an array as a whole along each of its axes.

    Args:
        operand: an array of any dtype.
        reps: for each axis how often.

    Raises:
        TypeError: when ``reps`` has not one entry for each axis.
        ValueError: when an entry is negative.

    >>> tile(np.array([1, 2]), (2,))
    Array([1, 2, 1, 2], dtype=int64)
    """
    return tile_p.bind(operand, reps=types.static_ints("tile", "reps", reps))


def _tile_type(x: ShapedArray, *, reps: Dims) -> ShapedArray:
    if len(reps) != x.ndim:
        raise TypeError(
            f"tile: reps {reps} must have one entry for each of the {x.ndim} axes of "
            f"{x.str_short()}."
        )
    if any(n < 0 for n in reps):
        raise ValueError(f"tile: reps must not be negative, but they are {reps}.")
    return x.update(shape=tuple([n * size for n, size in zip(reps, x.shape, strict=True)]))


def _paired_shape(shape: Dims, reps: Dims) -> Dims:
    """The shape with each axis beside one for its repetitions."""
    return tuple([n for pair in zip(reps, shape, strict=True) for n in pair])


def _tiled(x: Any, *, reps: Dims) -> Any:
    """The same made of other operations."""
    shape = typeof(x).shape
    dims = tuple(range(1, 2 * len(shape), 2))
    pairs = _paired_shape(shape, reps)
    repeated = broadcast_in_dim_p.bind(x, shape=pairs, broadcast_dimensions=dims)
    sizes = tuple([n * size for n, size in zip(reps, shape, strict=True)])
    return reshape_p.bind(repeated, new_sizes=sizes, dimensions=None)


def _tile_vmap(size: int, operands: Values, dims: BatchDims, *, reps: Dims) -> Batched:
    (x,), (d,) = operands, dims
    return tile_p.bind(x, reps=(*reps[:d], 1, *reps[d:])), d


def _tile_transpose(ct: Any, x: UndefPrimal, *, reps: Dims) -> list[Any]:
    pairs = _paired_shape(x.aval.shape, reps)
    apart = reshape_p.bind(ct, new_sizes=pairs, dimensions=None)
    return [sum_axes(apart, tuple(range(0, len(pairs), 2)))]


def _tile_sharding(primitive: Primitive, x: ShapedArray, *, reps: Dims) -> tuple[Any, ...]:
    found = entries(x)
    if any(n != 1 and entry is not None for n, entry in zip(reps, found, strict=True)):
        raise ambiguous(
            primitive,
            "cannot be sharded where the tiling is non-trivial: it repeats a divided axis",
            [x],
        )
    return found


tile_p: Primitive = primitive(
    "tile",
    rules.impl(lambda x, *, reps: np.tile(x, reps)),
    rules.abstract_eval(_tile_type),
    linear(),
    rules.vmap(_tile_vmap),
    rules.transpose(_tile_transpose),
    rules.lowering["stablehlo"](composition(_tiled)),
    rules.sharding(_tile_sharding, takes_primitive=True, linear=True),
)
