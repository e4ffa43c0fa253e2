"""The largest elements along an axis; also where some may be missed, which here none are."""

from __future__ import annotations

from typing import Any

import numpy as np

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
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import neg_p
from bindax_lax_basic.rules.batching import along_axis
from bindax_lax_basic.rules.evaluation import NumPyArray, comparable
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.lowering import inlined
from bindax_lax_basic.rules.sharding import entries
from bindax_lax_basic.rules.types import axis_argument, require_kind, static_int
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.transpose import moveaxis
from bindax_lax_basic.sorting.sort import INDEX, _along

__all__ = ["approx_max_k", "approx_min_k", "top_k", "top_k_p"]


def top_k(operand: Any, k: int, *, axis: int = -1, is_stable: bool = True) -> tuple[Array, Array]:
    """The largest elements along an axis, the largest first, and where they are.

    Args:
        operand: an array of real numbers or booleans.
        k: how many; at most the size of the axis.
        axis: the axis.
        is_stable: accepted for compatibility; the order of equal elements is always kept.

    Returns:
        The elements and their int32 indices; of equal elements the first comes first.

    Raises:
        ValueError: when ``k`` is negative or too large, or the axis out of bounds.
        TypeError: when ``operand`` is complex.

    Floats are in total order: nan is above infinity, and 0.0 above -0.0.

    >>> top_k(np.array([1.0, 4.0, 2.0]), 2)
    (Array([4., 2.], dtype=float64), Array([1, 2], dtype=int32))
    """
    place = axis_argument("top_k", axis, typeof(operand).ndim)
    values, indices = top_k_p.bind(operand, k=static_int("top_k", "k", k), axis=place)
    return values, indices


def _top_k_type(x: ShapedArray, *, k: int, axis: int) -> list[ShapedArray]:
    require_kind("top_k", x, dtypes.ORDERED)
    if not 0 <= axis < x.ndim:
        raise ValueError(f"top_k: {axis} is not an axis of {x.str_short()}.")
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(
            f"top_k: k must be between 0 and {x.shape[axis]}, the size of axis {axis} of "
            f"{x.str_short()}, but it is {k}."
        )
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [x.update(shape=shape), ShapedArray(shape, INDEX)]


def _descending(x: NumPyArray) -> NumPyArray:
    """Integers whose order is the opposite of the total order of the values."""
    if x.dtype == np.bool_:
        return ~x.view(np.uint8)
    if dtypes.is_integer(x.dtype):
        return ~comparable(x)
    if x.dtype.itemsize == 1:  # the smallest floats differ in what their bits mean
        x = x.astype(np.float32)
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits & np.iinfo(bits.dtype).max, ~bits)


def _top_k_impl(x: NumPyArray, *, k: int, axis: int) -> list[NumPyArray]:
    order = np.argsort(np.moveaxis(_descending(x), axis, -1), axis=-1, kind="stable")[..., :k]
    order = np.moveaxis(order, -1, axis)
    return [np.take_along_axis(x, order, axis), order.astype(INDEX)]


def _top_k_jvp(primals: Values, tangents: Values, *, k: int, axis: int) -> Dual:
    values, indices = top_k_p.bind(*primals, k=k, axis=axis)
    tangent = zero_tangent(values) if k == 0 else _along(tangents[0], values, indices, axis)
    return [values, indices], [tangent, zero_tangent(indices)]


def _top_k_lowering(ctx: LoweringContext, x: Any, *, k: int, axis: int) -> list[Any]:
    """``chlo.top_k``, which works along the last axis."""
    last = ctx.avals_in[0].ndim - 1
    if axis == last:
        return list(ctx.op("chlo.top_k", [x], attributes={"k": f"{k} : i64"}))

    def program(x: Any) -> list[Any]:
        outs = top_k_p.bind(moveaxis(x, axis, last), k=k, axis=last)
        return [moveaxis(out, last, axis) for out in outs]

    return inlined(ctx, program, [x], ctx.avals_in)


def _top_k_sharding(primitive: Primitive, x: ShapedArray, *, k: int, axis: int) -> list[Any]:
    if entries(x)[axis] is not None:
        raise ambiguous(primitive, "chooses along a divided axis", [x])
    return [entries(x)] * 2


top_k_p: Primitive = primitive(
    "top_k",
    rules.impl(_top_k_impl),
    rules.abstract_eval(_top_k_type),
    rules.jvp(_top_k_jvp, symbolic_zeros=True),
    along_axis(),
    rules.transpose.absent("not linear"),
    in_wider(_top_k_lowering),
    rules.sharding(_top_k_sharding, takes_primitive=True),
    multiple_results=True,
)


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The ``k`` largest elements along an axis, and where they are.

    Other accelerators may miss some of them to be faster; here it is ``top_k``, which misses none,
    and what is said about the search is checked and not needed.

    Args:
        operand: an array of real floats.
        k: how many; from 1 to the size of the axis.
        reduction_dimension: the axis.
        recall_target: the part that must be found, above 0 and at most 1.
        reduction_input_size_override: the number of elements that ``recall_target`` is about,
            where it is not the size of the axis.
        aggregate_to_topk: whether there are ``k`` results, in order, and no more.

    Returns:
        The elements and their int32 indices, the largest first.

    Raises:
        ValueError: when ``k`` or ``recall_target`` is out of range, or the axis out of bounds.
        TypeError: when ``operand`` is not made of real floats.

    >>> approx_max_k(np.array([1.0, 4.0, 2.0]), 2)
    (Array([4., 2.], dtype=float64), Array([1, 2], dtype=int32))
    """
    return _extremes("approx_max_k", operand, k, reduction_dimension, recall_target)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The ``k`` smallest elements along an axis, and where they are; see ``approx_max_k``.

    >>> approx_min_k(np.array([1.0, 4.0, 2.0]), 2)
    (Array([1., 2.], dtype=float64), Array([0, 2], dtype=int32))
    """
    require_kind("approx_min_k", typeof(operand), dtypes.FLOAT)
    negated = neg_p.bind(operand)
    values, indices = _extremes("approx_min_k", negated, k, reduction_dimension, recall_target)
    return neg_p.bind(values), indices


def _extremes(name: str, x: Any, k: Any, axis: Any, recall: Any) -> tuple[Array, Array]:
    aval = typeof(x)
    require_kind(name, aval, dtypes.FLOAT)
    place = axis_argument(name, axis, aval.ndim, "reduction_dimension")
    count = static_int(name, "k", k)
    if not 0 < count <= aval.shape[place]:
        raise ValueError(
            f"{name}: k must be between 1 and {aval.shape[place]}, the size of axis {place} of "
            f"{aval.str_short()}, but it is {count}."
        )
    if not isinstance(recall, (int, float)) or not 0 < recall <= 1:
        raise ValueError(f"{name}: recall_target must be above 0 and at most 1, but is {recall!r}.")
    return top_k(x, count, axis=place)
