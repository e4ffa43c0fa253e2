"""Repeating arrays along axes and summing over them; each is the transpose of the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Rule,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import PartitionSpec, laid_as
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules import types
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, linear
from bindax_lax_basic.rules.sharding import Entries, entries, left_open, names_of
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.transpose import moveaxis
from bindax_transforms.extend import decided
from bindax_transforms.zeros import UndefPrimal

__all__ = [
    "broadcast",
    "broadcast_in_dim",
    "broadcast_in_dim_p",
    "broadcast_like",
    "reduce_sum",
    "reduce_sum_p",
]

Dims = tuple[int, ...]


def broadcast_in_dim(
    operand: Any,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Array:
    """Give an array a larger shape by repeating it along new axes and along axes of size one.

    Args:
        operand: an array of any dtype.
        shape: the shape of the result.
        broadcast_dimensions: for each axis of ``operand`` the axis of the result it becomes;
            strictly increasing.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError, ValueError: when the shapes or the dimensions do not fit together.

    >>> broadcast_in_dim(np.arange(2), (2, 3), (0,))
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int64)
    """
    if out_sharding is not None:
        return decided(broadcast_in_dim, out_sharding, (operand, shape, broadcast_dimensions))
    sizes = types.shape_argument("broadcast_in_dim", shape)
    dims = types.static_ints("broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions)
    return broadcast_in_dim_p.bind(operand, shape=sizes, broadcast_dimensions=dims)


def broadcast(
    operand: Any,
    sizes: Sequence[int],
    axes: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Repeat an array along new axes.

    Args:
        operand: an array of any dtype.
        sizes: without ``axes``, the sizes of new leading axes; with ``axes``, the shape of the
            whole result.
        axes: the axes of the result that are new.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> broadcast(np.zeros(2), (3,)).shape
    (3, 2)
    >>> broadcast(np.zeros(2), (2, 3), axes=(1,)).shape
    (2, 3)
    """
    if out_sharding is not None:
        return decided(broadcast, out_sharding, (operand, sizes, axes))
    sizes = types.shape_argument("broadcast", sizes)
    if axes is None:
        axes = range(len(sizes))
        sizes = (*sizes, *typeof(operand).shape)
    new = types.axes_argument("broadcast", axes, len(sizes))
    kept = tuple(i for i in range(len(sizes)) if i not in new)
    aval = typeof(operand)
    if tuple(sizes) == aval.shape:
        return convert(operand, aval.dtype, aval.weak_type)
    return broadcast_in_dim_p.bind(operand, shape=sizes, broadcast_dimensions=kept)


def _broadcast_type(x: ShapedArray, *, shape: Dims, broadcast_dimensions: Dims) -> ShapedArray:
    dims = broadcast_dimensions
    if len(dims) != x.ndim:
        raise TypeError(
            f"broadcast_in_dim: broadcast_dimensions {dims} must name one axis of the result for "
            f"each of the {x.ndim} axes of {x.str_short()}."
        )
    ordered = all(a < b for a, b in itertools.pairwise(dims))
    if not ordered or any(not 0 <= d < len(shape) for d in dims):
        raise ValueError(
            f"broadcast_in_dim: broadcast_dimensions {dims} must be strictly increasing and within "
            f"the {len(shape)} axes of the shape {shape}."
        )
    for axis, d in enumerate(dims):
        if x.shape[axis] not in (1, shape[d]):
            raise ValueError(
                f"broadcast_in_dim: axis {axis} of {x.str_short()} has size {x.shape[axis]} and "
                f"cannot become axis {d} of the shape {shape}: it must have size 1 or {shape[d]}."
            )
    return x.update(shape=shape)


def _broadcast_impl(x: NumPyArray, *, shape: Dims, broadcast_dimensions: Dims) -> NumPyArray:
    if len(broadcast_dimensions) != len(shape):
        expanded = [1] * len(shape)
        for size, d in zip(x.shape, broadcast_dimensions, strict=True):
            expanded[d] = size
        x = x.reshape(expanded)
    return np.broadcast_to(x, shape)


def _broadcast_vmap(
    size: int, operands: Values, dims: BatchDims, *, shape: Dims, broadcast_dimensions: Dims
) -> Batched:
    x = moveaxis(operands[0], dims[0], 0)
    lifted = (0, *(d + 1 for d in broadcast_dimensions))
    out = broadcast_in_dim_p.bind(x, shape=(size, *shape), broadcast_dimensions=lifted)
    return out, 0


def _broadcast_transpose(
    ct: Any, x: UndefPrimal, *, shape: Dims, broadcast_dimensions: Dims
) -> list[Any]:
    sizes = x.aval.shape
    stretched = [d for size, d in zip(sizes, broadcast_dimensions, strict=True) if size != shape[d]]
    new = [d for d in range(len(shape)) if d not in broadcast_dimensions]
    summed = sum_axes(ct, tuple(sorted([*new, *stretched])))
    if stretched:
        kept = tuple(i for i, d in enumerate(broadcast_dimensions) if d not in stretched)
        summed = broadcast_in_dim_p.bind(summed, shape=sizes, broadcast_dimensions=kept)
    return [summed]


def _broadcast_lowering(
    ctx: LoweringContext, x: Any, *, shape: Dims, broadcast_dimensions: Dims
) -> Any:
    return ctx.broadcast(x, ctx.avals_in[0], ctx.avals_out[0], broadcast_dimensions)


def _broadcast_sharding(x: ShapedArray, *, shape: Dims, broadcast_dimensions: Dims) -> Entries:
    found: list[Any] = [None] * len(shape)
    for size, d, entry in zip(x.shape, broadcast_dimensions, entries(x), strict=True):
        found[d] = entry if size == shape[d] else None
    return tuple(found)


broadcast_in_dim_p: Primitive = primitive(
    "broadcast_in_dim",
    rules.impl(_broadcast_impl),
    rules.abstract_eval(_broadcast_type),
    linear(),
    rules.vmap(_broadcast_vmap),
    rules.transpose(_broadcast_transpose),
    rules.lowering["stablehlo"](_broadcast_lowering),
    rules.sharding(_broadcast_sharding, linear=True),
)


def broadcast_axis(x: Any, size: int, axis: int) -> Any:
    """Repeat an array along a new axis.

    >>> broadcast_axis(np.array([1, 2]), 3, 1)
    Array([[1, 1, 1],
           [2, 2, 2]], dtype=int64)
    """
    shape = typeof(x).shape
    dims = (*range(axis), *range(axis + 1, len(shape) + 1))
    return broadcast_in_dim_p.bind(
        x, shape=(*shape[:axis], size, *shape[axis:]), broadcast_dimensions=dims
    )


def broadcast_to(x: Any, shape: Dims) -> Any:
    """Broadcast an array to a shape by NumPy's rules: trailing axes are aligned.

    >>> broadcast_to(np.array([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int64)
    """
    present = typeof(x).shape
    if present == shape:
        return x
    dims = tuple(range(len(shape) - len(present), len(shape)))
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims)


def broadcast_like(arr: Any, like_arr: Any) -> Array:
    """Repeat an array to the shape of another one, by NumPy's rules; it lies as that one.

    Args:
        arr: an array of any dtype, which the result has too.
        like_arr: the array whose shape is taken.

    Raises:
        ValueError: when the shapes do not fit, or the divisions along explicit axes of a mesh.

    >>> broadcast_like(np.array([1, 2]), np.zeros((2, 2)))
    Array([[1, 2],
           [1, 2]], dtype=int64)
    """
    aval, like = typeof(arr), typeof(like_arr)
    missing = len(like.shape) - len(aval.shape)
    sizes = zip(aval.shape, like.shape[max(0, missing) :], strict=False)
    if missing < 0 or any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(
            f"broadcast_like: {aval.str_short()} does not fit the shape {like.shape}: trailing "
            f"axes must have equal sizes, or size 1 in arr."
        )
    dims = tuple(range(missing, len(like.shape)))
    if like.placement is not None:
        like = like.lying(like.sharding)  # where users describe one, without its devices
    if aval.is_divided:
        pairs = zip(entries(aval), entries(like)[missing:], strict=True)
        if any(own not in (None, wanted) for own, wanted in pairs):
            raise ValueError(
                f"broadcast_like: Incompatible types for broadcasting: {aval.str_short()} does not "
                f"lie as {like.str_short()}. Lay one of them out by reshard."
            )
    made = broadcast_in_dim_p.bind(arr, shape=like.shape, broadcast_dimensions=dims)
    return laid_as(made, like) if like.is_divided else made


def reduce_sum(
    operand: Any, axes: Any = None, *, axis: Any = None, out_sharding: Any = None
) -> Array:
    """Sum an array over some of its axes.

    Args:
        operand: an array of numbers.
        axes: the axes to sum over; one integer, several, or None for all.
        axis: another name for ``axes``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when an axis is out of bounds or named twice.
        TypeError: when ``operand`` holds booleans.

    Values of less than 32 bits are summed in 32 bits and rounded once.

    >>> reduce_sum(np.array([[1.0, 2.0], [3.0, 4.0]]), axes=(0,))
    Array([4., 6.], dtype=float64)
    """
    if out_sharding is not None:
        # Where the sum stays open over devices, compilers must be told of it before it is rounded.
        aval = typeof(operand)
        wide = convert(operand, dtypes.summing_dtype(aval.dtype), aval.weak_type)
        out = decided(reduce_sum, out_sharding, (wide, axes), {"axis": axis})
        return convert(out, aval.dtype, aval.weak_type)
    rank = types.rank_of(operand)
    chosen = types.axes_argument("reduce_sum", axes if axis is None else axis, rank)
    return reduce_sum_p.bind(operand, axes=chosen)


def sum_axes(x: Any, axes: Dims) -> Any:
    """``reduce_sum`` over axes that are known to be legal; none are a no-op.

    >>> sum_axes(np.array([[1, 2], [3, 4]]), (0,))
    Array([4, 6], dtype=int64)
    """
    return reduce_sum_p.bind(x, axes=axes) if axes else x


def reduced_shape(name: str, x: ShapedArray, axes: Dims) -> Dims:
    """The shape without the reduced axes; raises when they are out of bounds or repeated."""
    if any(not 0 <= axis < x.ndim for axis in axes) or len(set(axes)) < len(axes):
        raise ValueError(
            f"{name}: the axes {axes} must be distinct and within the {x.ndim} axes of "
            f"{x.str_short()}."
        )
    return tuple([size for axis, size in enumerate(x.shape) if axis not in axes])


def reduction_type(name: str, accepts: types.Kinds) -> Rule:
    """The ``abstract_eval`` rule of a reduction."""

    def rule(x: ShapedArray, *, axes: Dims) -> ShapedArray:
        types.require_kind(name, x, accepts)
        return x.update(shape=reduced_shape(name, x, axes))

    return rules.abstract_eval(rule)


def accumulation(ufunc: np.ufunc) -> Rule:
    """The ``impl`` rule of a sum or product, which is formed in a wide dtype and rounded once."""

    def run(x: NumPyArray, *, axes: Dims) -> Any:
        wide = dtypes.accumulator_dtype(x.dtype)
        if wide == x.dtype:
            return ufunc.reduce(x, axes, wide)
        return ufunc.reduce(x.astype(wide), axes).astype(x.dtype)

    return rules.impl(run)


def lift_axes(axes: Dims, d: int) -> tuple[Dims, int]:
    """The reduced axes beside a batch axis ``d``, and where that axis is afterwards."""
    lifted = tuple([axis + (axis >= d) for axis in axes])
    return lifted, d - sum([axis < d for axis in lifted])


def reduction_batch(axes: str = "axes") -> Rule:
    """The ``vmap`` rule of a primitive that removes the axes of its parameter of this name."""

    def rule(
        primitive: Primitive, size: int, operands: Values, dims: BatchDims, **params: Any
    ) -> Batched:
        lifted, out_dim = lift_axes(params[axes], dims[0])
        return primitive.bind(operands[0], **{**params, axes: lifted}), out_dim

    return rules.vmap(rule, takes_primitive=True)


def _sum_transpose(ct: Any, x: UndefPrimal, *, axes: Dims) -> list[Any]:
    shape = x.aval.shape
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    return [broadcast_in_dim_p.bind(ct, shape=shape, broadcast_dimensions=kept)]


def reduction_lowering(name: Any, initial: Any) -> lower.Lowering:
    """Lower a reduction to ``stablehlo.reduce`` by an operation of two scalars.

    Args:
        name: the operation, such as ``"stablehlo.add"``, or a function that adds it: of a lowering
            context, the type of the scalars, and the two.
        initial: its neutral element, or a function that gives it for a dtype.
    """

    def rule(ctx: LoweringContext, x: Any, *, axes: Dims) -> Any:
        scalar = ShapedArray((), ctx.avals_in[0].dtype)
        start = initial(scalar.dtype) if callable(initial) else initial
        return ctx.op(
            "stablehlo.reduce",
            [x, lower.full(ctx, scalar, start)],
            attributes={"dimensions": lower.integers(axes)},
            regions=[lower.of_two(name, scalar)],
        )[0]

    return rule


def _sum_sharding(x: ShapedArray, *, axes: Dims) -> Any:
    spec = x.sharding.spec
    kept = [entry for i, entry in enumerate(spec) if i not in axes]
    terms = [name for i in axes if left_open(spec[i]) for name in names_of(spec[i])]
    if not terms:
        return tuple(kept)
    return PartitionSpec(*kept, unreduced=spec.unreduced.union(terms), reduced=spec.reduced)


reduce_sum_p: Primitive = primitive(
    "reduce_sum",
    accumulation(np.add),
    reduction_type("reduce_sum", dtypes.NUMBER),
    linear(),
    reduction_batch(),
    rules.transpose(_sum_transpose),
    in_wider(reduction_lowering("stablehlo.add", 0), dtypes.summing_dtype),
    rules.sharding(_sum_sharding, linear=True),
)
