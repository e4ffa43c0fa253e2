"""Sorting along an axis, by one key or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Region,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    GatherDimensionNumbers,
    GatherScatterMode,
)
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import gather
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.batching import leading_batch
from bindax_lax_basic.rules.evaluation import NumPyArray, comparable
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.sharding import whole_along
from bindax_lax_basic.rules.types import axis_argument, describe, require_kind, static_int
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.creation import broadcasted_iota
from bindax_lax_basic.shape.reshape import expand_dims
from bindax_transforms.zeros import Zero

__all__ = ["sort", "sort_key_val", "sort_p"]


INDEX = np.dtype(np.int32)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort along an axis, ascending.

    Args:
        operand: an array, or a sequence of arrays of one shape that are rearranged together.
        dimension: the axis to sort along.
        is_stable: whether equal elements keep their order.
        num_keys: how many of the leading arrays decide the order; an earlier one decides first.

    Returns:
        The sorted array, or a tuple of arrays for a sequence.

    Raises:
        TypeError: when there are no arrays, or their shapes differ.
        ValueError: when the axis or ``num_keys`` is out of bounds.

    Zeros of both signs are equal, and so are all nans, which come last. Complex numbers are
    compared by real and then by imaginary part.

    >>> sort(np.array([3.0, np.nan, 1.0]))
    Array([ 1.,  3., nan], dtype=float64)
    >>> sort([np.array([2, 1, 2]), np.array([5, 6, 4])], num_keys=2)
    (Array([1, 2, 2], dtype=int64), Array([6, 4, 5], dtype=int64))
    """
    several = isinstance(operand, (list, tuple))
    operands = list(operand) if several else [operand]
    if not operands:
        raise TypeError("sort needs at least one array, but operand is an empty sequence.")
    outs = sort_p.bind(
        *operands,
        dimension=axis_argument("sort", dimension, typeof(operands[0]).ndim, "dimension"),
        is_stable=bool(is_stable),
        num_keys=static_int("sort", "num_keys", num_keys),
    )
    return tuple(outs) if several else outs[0]


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Sort keys along an axis, and rearrange values in the same way.

    Args:
        keys: the array to sort.
        values: an array of the same shape.
        dimension: the axis to sort along.
        is_stable: whether the values of equal keys keep their order.

    >>> sort_key_val(np.array([3, 1]), np.array([0, 1]))
    (Array([1, 3], dtype=int64), Array([1, 0], dtype=int64))
    """
    outs: tuple[Array, Array] = sort([keys, values], dimension, is_stable, 1)
    return outs


def _sort_type(
    *avals: ShapedArray, dimension: int, is_stable: bool, num_keys: int
) -> list[ShapedArray]:
    first = avals[0]
    if any(aval.shape != first.shape for aval in avals):
        raise TypeError(f"sort requires arrays of equal shapes, but got {describe(avals)}.")
    if not 0 <= dimension < first.ndim:
        raise ValueError(f"sort: {dimension} is not an axis of {first.str_short()}.")
    if not 1 <= num_keys <= len(avals):
        raise ValueError(
            f"sort: num_keys must be between 1 and {len(avals)}, the number of arrays, but it is "
            f"{num_keys}."
        )
    for position, aval in enumerate(avals):
        require_kind("sort", aval, dtypes.ANY, position if len(avals) > 1 else None)
    return list(avals)


def _keys(x: NumPyArray) -> list[NumPyArray]:
    """Keys by which NumPy sorts as compilers do: the two parts of complex numbers."""
    # NumPy itself puts all complex numbers last that have a NaN in either part.
    return [x.real, x.imag] if x.dtype.kind == "c" else [comparable(x)]


def _sort_impl(
    *arrays: NumPyArray, dimension: int, is_stable: bool, num_keys: int
) -> list[NumPyArray]:
    if len(arrays) == 1 and arrays[0].dtype.kind not in "Vc":
        # Of the equal elements that a stable order keeps, only floats can be told apart.
        tells_apart = is_stable and dtypes.is_inexact(arrays[0].dtype)
        return [np.sort(arrays[0], dimension, "stable" if tells_apart else "quicksort")]
    keys = [part for x in arrays[:num_keys] for part in _keys(x)]
    if len(keys) == 1:
        order = np.argsort(keys[0], axis=dimension, kind="stable")
    else:
        order = np.lexsort(keys[::-1], axis=dimension)
    return [np.take_along_axis(x, order, dimension) for x in arrays]


def take_along(x: Any, indices: Any, axis: int) -> Any:
    """For each place of the indices the element of the array at that position on the axis."""
    shape = typeof(x).shape
    others = tuple([i for i in range(len(shape)) if i != axis])
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    vectors, sizes = expand_dims(indices, (len(shape),)), (1,) * len(shape)
    mode = GatherScatterMode.PROMISE_IN_BOUNDS
    return gather(x, vectors, numbers, sizes, unique_indices=True, mode=mode)


def _along(tangent: Any, out: Any, order: Any, axis: int) -> Any:
    """The tangent of a rearranged array; symbolically zero where the array's is."""
    if type(tangent) is Zero or typeof(tangent).size == 0:
        return zero_tangent(out)
    return take_along(tangent, order, axis)


def _sort_jvp(primals: Values, tangents: Values, *, dimension: int, **params: Any) -> Dual:
    if all(type(t) is Zero for t in tangents):
        outs = sort_p.bind(*primals, dimension=dimension, **params)
        return outs, [zero_tangent(out) for out in outs]
    places = broadcasted_iota(INDEX, typeof(primals[0]).shape, dimension)
    *outs, order = sort_p.bind(*primals, places, dimension=dimension, **params)
    pairs = zip(tangents, outs, strict=True)
    return outs, [_along(t, out, order, dimension) for t, out in pairs]


_FLAG = ShapedArray((), dtypes.bool_)


def _sort_lowering(
    ctx: LoweringContext, *values: Any, dimension: int, is_stable: bool, num_keys: int
) -> list[Any]:
    """``stablehlo.sort`` by the leading operands."""
    scalars = [aval.update(shape=(), weak_type=False) for aval in ctx.avals_in]

    def comparator(inner: LoweringContext, *elements: Any) -> Sequence[Any]:
        # The elements come in pairs: the two of the first operand, those of the second, …
        pairs = [
            pair
            for i in range(num_keys)
            for pair in _key_parts(inner, scalars[i], elements[2 * i], elements[2 * i + 1])
        ]
        return [_less(inner, pairs)]

    region = Region([aval for aval in scalars for _ in range(2)], comparator)
    attributes = {"dimension": f"{dimension} : i64", "is_stable": "true" if is_stable else "false"}
    return list(ctx.op("stablehlo.sort", values, attributes=attributes, regions=[region]))


_Pair = tuple[ShapedArray, Any, Any]


def _key_parts(ctx: LoweringContext, aval: ShapedArray, x: Any, y: Any) -> list[_Pair]:
    """Pairs of real numbers whose order is that of two elements of a key."""
    if not dtypes.is_complex(aval.dtype):
        return [(aval, _canonical(ctx, aval, x), _canonical(ctx, aval, y))]
    part = aval.update(dtype=dtypes.real_dtype(aval.dtype))
    parts = []
    for name in ("stablehlo.real", "stablehlo.imag"):
        values = [ctx.op(name, [v], result_avals=[part])[0] for v in (x, y)]
        parts.append((part, *[_canonical(ctx, part, v) for v in values]))
    return parts


def _canonical(ctx: LoweringContext, aval: ShapedArray, x: Any) -> Any:
    """A float whose place in the total order is that of its value: one zero, one nan."""
    if not dtypes.is_inexact(aval.dtype):
        return x
    zero, nan = (lower.full(ctx, aval, v) for v in (0, np.nan))
    is_zero = compare(ctx, "EQ", x, zero, aval)
    (x,) = ctx.op("stablehlo.select", [is_zero, zero, x], result_avals=[aval])
    is_nan = compare(ctx, "NE", x, x, aval)
    return ctx.op("stablehlo.select", [is_nan, nan, x], result_avals=[aval])[0]


def _less(ctx: LoweringContext, pairs: Sequence[_Pair]) -> Any:
    """Compare pairs of elements: true where the first ones come before the second ones."""
    *earlier, (aval, x, y) = pairs
    less = compare(ctx, "LT", x, y, aval, "TOTALORDER")
    for aval, x, y in reversed(earlier):
        equal = compare(ctx, "EQ", x, y, aval, "TOTALORDER")
        (both,) = ctx.op("stablehlo.and", [equal, less], result_avals=[_FLAG])
        first = compare(ctx, "LT", x, y, aval, "TOTALORDER")
        (less,) = ctx.op("stablehlo.or", [first, both], result_avals=[_FLAG])
    return less


sort_p: Primitive = primitive(
    "sort",
    rules.impl(_sort_impl),
    rules.abstract_eval(_sort_type),
    rules.jvp(_sort_jvp, symbolic_zeros=True),
    leading_batch("dimension"),
    rules.transpose.absent("not linear"),
    in_wider(_sort_lowering),
    whole_along("dimension", "Arguments to sort must be unsharded along the axis"),
    multiple_results=True,
)
