"""Reductions over axes other than the sum: maximum, minimum, product, and those of bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, Rule, ShapedArray, primitive, rules, typeof
from bindax_core.sharding import ambiguous
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import ANY, BITS, NUMBER, DType
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p
from bindax_lax_basic.elementwise.comparison import DISCRETE, eq_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.selection import extremum
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import Dual, Values, no_derivative, zero_tangent
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.sharding import entries, without
from bindax_lax_basic.rules.types import axes_argument, rank_of
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.broadcast_and_reduce_sum import (
    Dims,
    accumulation,
    broadcast_in_dim_p,
    reduction_batch,
    reduction_lowering,
    reduction_type,
    sum_axes,
)
from bindax_lax_basic.shape.reshape import reshape_p
from bindax_lax_basic.shape.slice_and_pad import every, pad_p
from bindax_lax_basic.shape.transpose import transpose_p
from bindax_transforms.extend import decided
from bindax_transforms.zeros import Zero

__all__ = [
    "reduce_and",
    "reduce_and_p",
    "reduce_max",
    "reduce_max_p",
    "reduce_min",
    "reduce_min_p",
    "reduce_or",
    "reduce_or_p",
    "reduce_prod",
    "reduce_prod_p",
    "reduce_xor",
    "reduce_xor_p",
]


NOT_LINEAR = rules.transpose.absent("not linear")


def _bind(which: Primitive, operand: Any, axes: Any, axis: Any) -> Any:
    chosen = axes_argument(which.name, axes if axis is None else axis, rank_of(operand))
    return which.bind(operand, axes=chosen)


def _reduction_impl(ufunc: Any, initial: Callable[[Any], Any]) -> Rule:
    def run(x: NumPyArray, *, axes: Dims) -> Any:
        if x.size:
            out = ufunc.reduce(x, axis=axes)
        else:
            shape = tuple([s for i, s in enumerate(x.shape) if i not in axes])
            out = np.full(shape, initial(x.dtype), x.dtype)
        return out if out.dtype == x.dtype else out.astype(x.dtype)

    return rules.impl(run)


def reduce_max(
    operand: Any, axes: Any = None, *, axis: Any = None, out_sharding: Any = None
) -> Array:
    """Maximum of an array over some of its axes.

    Args:
        operand: an array of any dtype.
        axes: the axes to reduce; one integer, several, or None for all.
        axis: another name for ``axes``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Of no elements it is the least value of the dtype; of any nan, nan. Complex numbers are compared
    by real and then by imaginary part. The derivative is shared equally among elements that tie.

    >>> reduce_max(np.array([[1.0, 5.0], [3.0, 4.0]]), (1,))
    Array([5., 4.], dtype=float64)
    """
    if out_sharding is not None:
        return decided(reduce_max, out_sharding, (operand, axes), {"axis": axis})
    return _bind(reduce_max_p, operand, axes, axis)


def reduce_min(
    operand: Any, axes: Any = None, *, axis: Any = None, out_sharding: Any = None
) -> Array:
    """Minimum of an array over some of its axes; like ``reduce_max``.

    >>> reduce_min(np.array([[1.0, 5.0], [3.0, 4.0]]), (1,))
    Array([1., 3.], dtype=float64)
    """
    if out_sharding is not None:
        return decided(reduce_min, out_sharding, (operand, axes), {"axis": axis})
    return _bind(reduce_min_p, operand, axes, axis)


def least(dtype: DType) -> Any:
    """The least value of a dtype; of complex numbers, the real part of it."""
    return dtypes.smallest(dtypes.real_dtype(dtype))


def greatest(dtype: DType) -> Any:
    """The greatest value of a dtype; of complex numbers, the real part of it."""
    return dtypes.largest(dtypes.real_dtype(dtype))


def _chooser_jvp(primitive: Primitive, primals: Values, tangents: Values, *, axes: Dims) -> Dual:
    """The tangent of a reduction that chooses: the mean over the chosen elements."""
    (x,), (t,) = primals, tangents
    out = primitive.bind(x, axes=axes)
    aval = typeof(x)
    if type(t) is Zero or not all(aval.shape[axis] for axis in axes):
        return out, zero_tangent(out)  # the extremum of no elements is constant
    kept = tuple([axis for axis in range(aval.ndim) if axis not in axes])
    repeated = broadcast_in_dim_p.bind(out, shape=aval.shape, broadcast_dimensions=kept)
    weight = convert(eq_p.bind(x, repeated), aval.dtype, aval.weak_type)
    count = sum_axes(weight, axes)
    return out, div_p.bind(sum_axes(mul_p.bind(weight, t), axes), count)


def _sharding(primitive: Primitive, x: ShapedArray, *, axes: Dims, **params: Any) -> Any:
    """The sharding of results: devices combine no bits of integers, order no complex numbers."""
    own = entries(x)
    is_bitwise = primitive.name in ("reduce_and", "reduce_or", "reduce_xor")
    by_truth = x.dtype == np.bool_ and primitive.name != "reduce_xor"
    exchanged = by_truth if is_bitwise else x.dtype.kind != "c"
    if not exchanged and any(own[axis] is not None for axis in axes):
        problem = f"reduces {x.dtype.name} along a divided axis, which no devices exchange"
        raise ambiguous(primitive, problem, [x])
    return tuple([entry for axis, entry in enumerate(own) if axis not in axes])


def _choosing(name: str, initial: Callable[[DType], Any]) -> tuple[Rule, ...]:
    """The rules of ``reduce_max`` and ``reduce_min``."""
    return (
        _reduction_impl(np.maximum if name == "max" else np.minimum, initial),
        reduction_type(f"reduce_{name}", ANY),
        rules.jvp(_chooser_jvp, symbolic_zeros=True, takes_primitive=True),
        reduction_batch(),
        NOT_LINEAR,
        rules.lowering["stablehlo"](reduction_lowering(extremum(name), initial)),
        rules.sharding(_sharding, takes_primitive=True),
    )


reduce_max_p: Primitive = primitive("reduce_max", *_choosing("max", least))
reduce_min_p: Primitive = primitive("reduce_min", *_choosing("min", greatest))


def reduce_prod(operand: Any, axes: Any = None, *, axis: Any = None) -> Array:
    """Product of an array over some of its axes.

    Args:
        operand: an array of numbers.
        axes: the axes to multiply over; one integer, several, or None for all.
        axis: another name for ``axes``.

    >>> reduce_prod(np.array([[1.0, 2.0], [3.0, 4.0]]), (0,))
    Array([3., 8.], dtype=float64)
    """
    return _bind(reduce_prod_p, operand, axes, axis)


def _prod_jvp(primals: Values, tangents: Values, *, axes: Dims) -> Dual:
    """The product rule along a balanced tree of products, so that zeros need no division."""
    (x,), (t,) = primals, tangents
    out = reduce_prod_p.bind(x, axes=axes)
    if type(t) is Zero or typeof(x).size == 0:
        return out, zero_tangent(out)
    x, t = reduced_axes_first(x, axes), reduced_axes_first(t, axes)
    while (size := typeof(x).shape[0]) > 1:
        if size % 2:
            x, t = _append(x, 1), _append(t, 0)
        half = typeof(x).shape[0] // 2
        (x1, x2), (t1, t2) = ([every(v, 0, i, i + half) for i in (0, half)] for v in (x, t))
        x, t = mul_p.bind(x1, x2), add_p.bind(mul_p.bind(t1, x2), mul_p.bind(x1, t2))
    return out, reshape_p.bind(t, new_sizes=typeof(out).shape, dimensions=None)


def reduced_axes_first(x: Any, axes: Dims) -> Any:
    """The array with its reduced axes joined into one in front."""
    shape = typeof(x).shape
    kept = tuple([axis for axis in range(len(shape)) if axis not in axes])
    moved = transpose_p.bind(x, permutation=(*axes, *kept))
    sizes = tuple([shape[axis] for axis in kept])
    length = math.prod([shape[axis] for axis in axes])
    return reshape_p.bind(moved, new_sizes=(length, *sizes), dimensions=None)


def _append(x: Any, value: int) -> Any:
    config = ((0, 1, 0), *((0, 0, 0) for _ in typeof(x).shape[1:]))
    return pad_p.bind(x, constant(value, x), padding_config=config)


reduce_prod_p: Primitive = primitive(
    "reduce_prod",
    accumulation(np.multiply),
    reduction_type("reduce_prod", NUMBER),
    rules.jvp(_prod_jvp, symbolic_zeros=True),
    reduction_batch(),
    NOT_LINEAR,
    in_wider(reduction_lowering("stablehlo.multiply", 1), dtypes.summing_dtype),
    without("axes"),
)


def reduce_and(operand: Any, axes: Any = None, *, axis: Any = None) -> Array:
    """Conjunction over axes: logical of booleans, of each bit of integers; all ones of nothing.

    >>> reduce_and(np.array([[True, False], [True, True]]), (1,))
    Array([False,  True], dtype=bool)
    """
    return _bind(reduce_and_p, operand, axes, axis)


def reduce_or(operand: Any, axes: Any = None, *, axis: Any = None) -> Array:
    """Disjunction over axes: logical of booleans, of each bit of integers; zero of nothing.

    >>> reduce_or(np.array([[True, False], [False, False]]), (1,))
    Array([ True, False], dtype=bool)
    """
    return _bind(reduce_or_p, operand, axes, axis)


def reduce_xor(operand: Any, axes: Any = None, *, axis: Any = None) -> Array:
    """Parity over axes: exclusive or of booleans, or of each bit of integers; zero of nothing.

    >>> reduce_xor(np.array([[True, False], [True, True]]), (1,))
    Array([ True, False], dtype=bool)
    """
    return _bind(reduce_xor_p, operand, axes, axis)


def all_ones(dtype: Any) -> Any:
    """The value of a dtype, boolean or integer, whose bits are all set."""
    if dtype == dtypes.bool_:
        return True
    return np.array(-1 if dtypes.kind_of(dtype) == "signed integer" else dtypes.largest(dtype))


def zero(dtype: Any) -> Any:
    """The neutral element of sums and of disjunctions."""
    return 0


def _of_bits(name: str, ufunc: np.ufunc, initial: Callable[[DType], Any]) -> tuple[Rule, ...]:
    return (
        _reduction_impl(ufunc, initial),
        reduction_type(f"reduce_{name}", BITS),
        no_derivative(),
        reduction_batch(),
        DISCRETE,
        rules.lowering["stablehlo"](reduction_lowering(f"stablehlo.{name}", initial)),
        rules.sharding(_sharding, takes_primitive=True),
    )


reduce_and_p: Primitive = primitive("reduce_and", *_of_bits("and", np.bitwise_and, all_ones))
reduce_or_p: Primitive = primitive("reduce_or", *_of_bits("or", np.bitwise_or, zero))
reduce_xor_p: Primitive = primitive("reduce_xor", *_of_bits("xor", np.bitwise_xor, zero))
