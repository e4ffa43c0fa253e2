"""Powers: with a float exponent, and with an integer exponent that is known while tracing."""

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
from bindax_lax_basic.dtypes import INEXACT, NUMBER, is_inexact, is_integer
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, sub_p
from bindax_lax_basic.elementwise.comparison import and_p, eq_p, ne_p, or_p
from bindax_lax_basic.elementwise.conversion import convert, same_dims
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.exponential import log
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.rules import types
from bindax_lax_basic.rules.batching import elementwise_batch
from bindax_lax_basic.rules.elementwise import composition, elementwise, nonlinear
from bindax_lax_basic.rules.evaluation import NumPyArray, exact
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.lowering import same_shape
from bindax_lax_basic.rules.operands import adopt_type, constant
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_transforms.zeros import Zero, add_tangents

__all__ = [
    "integer_pow",
    "integer_pow_p",
    "one_minus_square",
    "one_minus_square_p",
    "pow",
    "pow_p",
    "reciprocal",
]


def pow(x: Any, y: Any) -> Array:
    """Elementwise power of two arrays.

    Args:
        x: an array of floats.
        y: an array of the same dtype, or of integers, and of the same shape, but that axes of size
            1 are repeated; or a scalar, as ``x`` may be one.

    A Python integer ``y`` is the fixed exponent of ``integer_pow``.

    >>> pow(np.array([2.0, 3.0]), 0.5)
    Array([1.41421356, 1.73205081], dtype=float64)
    """
    if type(y) is int:
        return integer_pow(x, y)
    return pow_p.bind(*adopt_type(x, y))


def _pow_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    types.require_kind("pow", x, INEXACT, 0)
    if not is_integer(y.dtype):
        types.require_same_dtype("pow", (x, y))
    return ShapedArray(types.common_shape("pow", (x, y)), x.dtype, x.weak_type and y.weak_type)


def _pow_impl(x: NumPyArray, y: NumPyArray) -> Any:
    out = np.power(x, y if x.dtype == y.dtype else y.astype(x.dtype))
    if y.dtype.kind != "c" and not is_integer(y.dtype) and (y == 0.5).any():
        # NumPy takes a square root then: nan of -inf and -0 of -0, where a power is inf and 0.
        out = np.where((y == 0.5) & ((x == -np.inf) | (x == 0)), np.abs(x), out)
    if y.dtype.kind == "c":
        # The logarithm of zero is infinite, which times a number that is not real has no angle.
        no_angle = (x == 0) & (y.imag != 0)
        out = np.where(no_angle, out.dtype.type(complex(np.nan, np.nan)), out)
    return out


def _pow_jvp(primals: Values, tangents: Values) -> Dual:
    (x, y), (tx, ty) = primals, tangents
    out = pow_p.bind(x, y)
    shape = typeof(out).shape
    total: Any = zero_tangent(out)
    if type(tx) is not Zero:
        total = broadcast_to(mul_p.bind(_pow_partial(x, y), tx), shape)
    if type(ty) is not Zero and is_inexact(typeof(y).dtype):
        # Where x is zero, so is the product; log(1) keeps it from being nan.
        zero, one = constant(0.0, x), constant(1.0, x)
        safe = select_scalars(eq_p.bind(x, zero), x, one)
        total = add_tangents(total, broadcast_to(mul_p.bind(mul_p.bind(log(safe), out), ty), shape))
    return out, total


def _pow_partial(x: Any, y: Any) -> Any:
    """``y * x ** (y - 1)``, which is zero for ``y = 0`` whatever ``x`` is."""
    dtype = typeof(x).dtype
    zero, one = constant(0, y), constant(1, y)
    is_zero = eq_p.bind(y, zero)
    less_one = sub_p.bind(y, one)
    if typeof(y).dtype == dtype:
        # One in place of what has no reciprocal, so that the product with 0 is 0 there. Elsewhere
        # nothing is replaced, for the derivatives by y.
        unfit = or_p.bind(eq_p.bind(x, constant(0, x)), ne_p.bind(x, x))
        replaced = and_p.bind(is_zero, unfit)
        x = select_scalars(replaced, x, constant(1, x))
    else:
        less_one = select_scalars(is_zero, less_one, zero)  # of unsigned integers, it wraps
    return mul_p.bind(convert(y, dtype, False), pow_p.bind(x, less_one))


def _pow_lowering(ctx: LoweringContext, x: Any, y: Any) -> Any:
    x, y = same_shape(ctx, (x, y))
    base, exponent = ctx.avals_in
    if base.dtype != exponent.dtype:
        wanted = ShapedArray(ctx.avals_out[0].shape, base.dtype)
        (y,) = ctx.op("stablehlo.convert", [y], result_avals=[wanted])
    return ctx.op("stablehlo.power", [x, y])[0]


pow_p: Primitive = primitive(
    "pow",
    rules.impl(exact(_pow_impl)),
    rules.abstract_eval(_pow_type),
    rules.jvp(_pow_jvp, symbolic_zeros=True),
    elementwise_batch(),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](_pow_lowering),
    rules.sharding("elementwise"),
)


def integer_pow(x: Any, y: int) -> Array:
    """Elementwise power with one fixed integer exponent.

    Args:
        x: an array of numbers.
        y: the exponent, a Python integer; not negative when ``x`` holds integers.

    Raises:
        TypeError: when integers would be raised to a negative power.

    >>> integer_pow(np.array([2.0, -3.0]), 3)
    Array([  8., -27.], dtype=float64)
    """
    return integer_pow_p.bind(x, y=types.static_int("integer_pow", "y", y))


def reciprocal(x: Any) -> Array:
    """Elementwise ``1 / x`` of an array of floats.

    >>> reciprocal(np.array([2.0, -4.0]))
    Array([ 0.5 , -0.25], dtype=float64)
    """
    return integer_pow(x, -1)


def _integer_pow_type(x: ShapedArray, *, y: int) -> ShapedArray:
    out = types.elementwise_type("integer_pow", NUMBER)(x)
    if y < 0 and not is_inexact(x.dtype):
        raise TypeError(
            f"integer_pow: integers cannot be raised to the negative power {y}, but the operand "
            f"is {x.str_short()}; convert it with .astype('float32')."
        )
    return out


def by_squaring(x: Any, y: int, multiply: Any, one: Any = None) -> Any:
    """The power ``x ** y`` for ``y >= 0`` by repeated squaring.

    >>> by_squaring(np.array([[1, 1], [0, 1]]), 10, np.matmul)
    array([[ 1, 10],
           [ 0,  1]])
    """
    result = None
    while y:
        if y & 1:
            result = x if result is None else multiply(result, x)
        y >>= 1
        if y:
            x = multiply(x, x)
    return one if result is None else result


def _integer_pow_impl(x: NumPyArray, *, y: int) -> Any:
    out = by_squaring(x, abs(y), np.multiply, np.ones_like(x))
    return np.true_divide(np.ones((), x.dtype), out) if y < 0 else out


def _integer_pow(x: Any, *, y: int) -> Any:
    """The same made of multiplications, for lowering."""
    one = constant(1, x)
    out = by_squaring(x, abs(y), mul_p.bind, broadcast_to(one, typeof(x).shape))
    return div_p.bind(one, out) if y < 0 else out


def _integer_pow_partial(x: Any, out: Any, *, y: int) -> Any:
    if y == 0:
        return broadcast_to(constant(0, x), typeof(x).shape)
    if y == 1:
        return broadcast_to(constant(1, x), typeof(x).shape)
    return mul_p.bind(constant(y, x), x if y == 2 else integer_pow_p.bind(x, y=y - 1))


integer_pow_p: Primitive = primitive(
    "integer_pow",
    rules.impl(exact(_integer_pow_impl)),
    rules.abstract_eval(_integer_pow_type),
    same_dims(),
    *nonlinear(composition(_integer_pow), _integer_pow_partial),
    rules.sharding("elementwise"),
)


def one_minus_square(x: Any) -> Array:
    """Elementwise ``1 - x²``, precise where ``x`` is close to 1 or to -1.

    Args:
        x: an array of numbers.

    It is evaluated as ``(1 + x) (1 - x)``; the derivative is ``-2 x``.

    >>> one_minus_square(np.array([0.5, 1.0]))
    Array([0.75, 0.  ], dtype=float64)
    """
    return one_minus_square_p.bind(x)


def _one_minus_square_impl(x: NumPyArray) -> Any:
    one = np.ones((), x.dtype)
    return np.multiply(one + x, one - x)


def _one_minus_square(x: Any) -> Any:
    one = constant(1, x)
    return mul_p.bind(add_p.bind(one, x), sub_p.bind(one, x))


one_minus_square_p: Primitive = primitive(
    "one_minus_square",
    *elementwise("one_minus_square", _one_minus_square_impl, NUMBER),
    *nonlinear(composition(_one_minus_square), lambda x, y: mul_p.bind(constant(-2, x), x)),
)
