"""Functions of floats, elementwise; booleans and integers are converted to floats."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert
from bindax_numpy._operands import constant, floats, inexact, inexact_operand, values
from bindax_numpy.comparison import choice


def exp(x: Any, /) -> Array:
    """The exponential function, elementwise.

    >>> jnp.exp(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 2.7183], dtype=float32)
    """
    return lax.exp(inexact_operand("exp", x))


def exp2(x: Any, /) -> Array:
    """Two to the power of each element.

    >>> jnp.exp2(jnp.array([0.0, 3.0]))
    Array([1., 8.], dtype=float32)
    """
    return lax.exp2(inexact_operand("exp2", x))


def expm1(x: Any, /) -> Array:
    """``exp(x) - 1``, precise near 0.

    >>> (jnp.expm1(jnp.array([0.0, 1e-6])) * 1e6).round(4)
    Array([0., 1.], dtype=float32)
    """
    return lax.expm1(inexact_operand("expm1", x))


def log(x: Any, /) -> Array:
    """The natural logarithm, elementwise.

    >>> jnp.log(jnp.array([1.0, jnp.e])).round(4)
    Array([0., 1.], dtype=float32)
    """
    return lax.log(inexact_operand("log", x))


def log1p(x: Any, /) -> Array:
    """``log(1 + x)``, precise near 0.

    >>> (jnp.log1p(jnp.array([0.0, 1e-6])) * 1e6).round(4)
    Array([0., 1.], dtype=float32)
    """
    return lax.log1p(inexact_operand("log1p", x))


def sqrt(x: Any, /) -> Array:
    """The square root, elementwise; nan of negative numbers.

    >>> jnp.sqrt(jnp.array([4, 9]))
    Array([2., 3.], dtype=float32)
    """
    return lax.sqrt(inexact_operand("sqrt", x))


def cbrt(x: Any, /) -> Array:
    """The cube root, elementwise.

    >>> jnp.cbrt(jnp.array([8.0, -27.0])).round(4)
    Array([ 2., -3.], dtype=float32)
    """
    return lax.cbrt(inexact_operand("cbrt", x))


def sin(x: Any, /) -> Array:
    """The sine, elementwise.

    >>> jnp.sin(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8415], dtype=float32)
    """
    return lax.sin(inexact_operand("sin", x))


def cos(x: Any, /) -> Array:
    """The cosine, elementwise.

    >>> jnp.cos(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.5403], dtype=float32)
    """
    return lax.cos(inexact_operand("cos", x))


def tan(x: Any, /) -> Array:
    """The tangent, elementwise.

    >>> jnp.tan(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 1.5574], dtype=float32)
    """
    return lax.tan(inexact_operand("tan", x))


def arcsin(x: Any, /) -> Array:
    """The angle of a sine, elementwise.

    >>> jnp.arcsin(jnp.array([0.0, 0.5])).round(4)
    Array([0.    , 0.5236], dtype=float32)
    """
    return lax.asin(inexact_operand("arcsin", x))


def arccos(x: Any, /) -> Array:
    """The angle of a cosine, elementwise.

    >>> jnp.arccos(jnp.array([0.0, 0.5])).round(4)
    Array([1.5708, 1.0472], dtype=float32)
    """
    return lax.acos(inexact_operand("arccos", x))


def arctan(x: Any, /) -> Array:
    """The angle of a tangent, elementwise.

    >>> jnp.arctan(jnp.array([0.0, 0.5])).round(3)
    Array([0.   , 0.464], dtype=float32)
    """
    return lax.atan(inexact_operand("arctan", x))


def sinh(x: Any, /) -> Array:
    """The hyperbolic sine, elementwise.

    >>> jnp.sinh(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 1.1752], dtype=float32)
    """
    return lax.sinh(inexact_operand("sinh", x))


def cosh(x: Any, /) -> Array:
    """The hyperbolic cosine, elementwise.

    >>> jnp.cosh(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 1.5431], dtype=float32)
    """
    return lax.cosh(inexact_operand("cosh", x))


def tanh(x: Any, /) -> Array:
    """The hyperbolic tangent, elementwise.

    >>> jnp.tanh(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.7616], dtype=float32)
    """
    return lax.tanh(inexact_operand("tanh", x))


def arcsinh(x: Any, /) -> Array:
    """The inverse hyperbolic sine, elementwise.

    >>> jnp.arcsinh(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8814], dtype=float32)
    """
    return lax.asinh(inexact_operand("arcsinh", x))


def arccosh(x: Any, /) -> Array:
    """The inverse hyperbolic cosine, elementwise.

    >>> jnp.arccosh(jnp.array([1.0, 2.0])).round(4)
    Array([0.   , 1.317], dtype=float32)
    """
    return lax.acosh(inexact_operand("arccosh", x))


def arctanh(x: Any, /) -> Array:
    """The inverse hyperbolic tangent, elementwise.

    >>> jnp.arctanh(jnp.array([0.0, 0.5])).round(4)
    Array([0.    , 0.5493], dtype=float32)
    """
    return lax.atanh(inexact_operand("arctanh", x))


def log2(x: Any, /) -> Array:
    """The logarithm to base 2, elementwise.

    >>> jnp.log2(jnp.array([1.0, 8.0])).round(3)
    Array([0., 3.], dtype=float32)
    """
    return lax.log2(*inexact("log2", x))


def log10(x: Any, /) -> Array:
    """The logarithm to base 10, elementwise.

    >>> jnp.log10(jnp.array([1.0, 100.0])).round(3)
    Array([0., 2.], dtype=float32)
    """
    (x,) = inexact("log10", x)
    found = lax.log(x)
    if not dtypes.is_complex(typeof(x).dtype):
        return found / math.log(10.0)
    # Part by part, as complex division makes nan of the infinite one.
    return lax.complex(found.real / math.log(10.0), found.imag / math.log(10.0))


def reciprocal(x: Any, /) -> Array:
    """One divided by each element, a float also for integers.

    >>> jnp.reciprocal(jnp.array([2.0, 4.0]))
    Array([0.5 , 0.25], dtype=float32)
    """
    return 1.0 / inexact("reciprocal", x)[0]


def deg2rad(x: Any, /) -> Array:
    """Angles in degrees as radians.

    >>> jnp.deg2rad(jnp.array([0.0, 180.0])).round(4)
    Array([0.    , 3.1416], dtype=float32)
    """
    return inexact("deg2rad", x)[0] * (math.pi / 180.0)


def rad2deg(x: Any, /) -> Array:
    """Angles in radians as degrees.

    >>> jnp.rad2deg(jnp.array([0.0, jnp.pi]))
    Array([  0., 180.], dtype=float32)
    """
    return inexact("rad2deg", x)[0] * (180.0 / math.pi)


def arctan2(x1: Any, x2: Any, /) -> Array:
    """The angle of the point ``(x2, x1)``, with the sign of ``x1``.

    >>> jnp.arctan2(jnp.array([1.0, -1.0]), 1.0).round(4)
    Array([ 0.7854, -0.7854], dtype=float32)
    """
    return lax.atan2(*inexact("arctan2", x1, x2))


def hypot(x1: Any, x2: Any, /) -> Array:
    """The length of the vector ``(x1, x2)``, without overflow on the way.

    The derivative at the origin is zero.

    >>> jnp.hypot(3.0, jnp.array([4.0, 0.0]))
    Array([5., 3.], dtype=float32)
    """
    x, y = (right_abs(v) for v in floats("hypot", x1, x2))
    less, is_zero = lax.lt(x, y), lax.eq(x + y, 0.0)
    long, short = choice(less, y, x), choice(less, x, y)
    long = choice(is_zero, 1.0, long)
    ratio = short / long
    length = long * lax.sqrt(1.0 + ratio * ratio)
    infinite = lax.bitwise_or(lax.eq(x, math.inf), lax.eq(y, math.inf))
    return weak_if_all(choice(infinite, math.inf, choice(is_zero, 0.0, length)), x1, x2)


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """``log(exp(x1) + exp(x2))``, without overflow on the way.

    The imaginary part of complex results is within half a turn.
    Near 0 real results are right up to 2 units in the last place of 1.

    >>> jnp.logaddexp(jnp.array([0.0, 100.0]), 0.0).round(3)
    Array([  0.693, 100.   ], dtype=float32)
    """
    if any(dtypes.is_complex(typeof(v).dtype) for v in values("logaddexp", x1, x2)):
        return _complex_logaddexp(*inexact("logaddexp", x1, x2))
    x, y = floats("logaddexp", x1, x2)
    # Chosen, not by `max` and `abs`: either choice is the function itself, which has no kink.
    less = lax.lt(x, y)
    larger, smaller = choice(less, y, x), choice(less, x, y)
    # Infinities of one sign have no difference; their sum is the result. The other branch gets
    # finite operands there, so that its derivative is no nan. That of nan is.
    equal = lax.bitwise_and(lax.eq(x, y), lax.bitwise_not(lax.is_finite(x)))
    difference = choice(equal, 0.0, smaller) - choice(equal, 0.0, larger)
    return choice(equal, x + y, larger + lax.log1p(lax.exp(difference)))


def right_abs(x: Any) -> Any:
    """``|x|`` for formulas of even functions: its derivative at 0 is that from the right, 1.

    A smooth even function is its own formula for positive numbers, whose derivatives are right at
    0, too. Those of ``abs`` would bring in a kink, and a convention.
    """
    return choice(lax.lt(x, 0.0), -x, x)


def root(x: Any) -> Any:
    """The square root of a sum of squares: at 0, where a norm has a kink, its derivative is 0."""
    zero = lax.eq(x, constant(0, x))
    return choice(zero, 0.0, lax.sqrt(choice(zero, 1.0, x)))


def _complex_logaddexp(x: Any, y: Any) -> Any:
    """``logaddexp`` of complex numbers: what has the larger real part is factored out."""
    less = lax.lt(lax.real(x), lax.real(y))
    larger, smaller = choice(less, y, x), choice(less, x, y)
    difference = smaller - larger
    # As infinities are, which stay.
    equal = lax.bitwise_and(lax.eq(x, y), lax.ne(difference, difference))
    found = choice(equal, x + y, larger + lax.log1p(lax.exp(choice(equal, 0.0, difference))))
    turns = lax.round(lax.imag(found) / math.tau, lax.RoundingMethod.TO_NEAREST_EVEN)
    return lax.complex(lax.real(found), lax.imag(found) - math.tau * turns)


def heaviside(x1: Any, x2: Any, /) -> Array:
    """The step function: 0 below 0, 1 above, and ``x2`` at 0.

    >>> jnp.heaviside(jnp.array([-1.0, 0.0, 2.0]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = floats("heaviside", x1, x2)
    step = choice(lax.lt(x, 0.0), 0.0, choice(lax.gt(x, 0.0), 1.0, x))
    return weak_if_all(choice(lax.eq(x, 0.0), y, step), x1, x2)


def weak_if_all(out: Any, *operands: Any) -> Any:
    """A result that is weakly typed where all operands are."""
    return convert(out, typeof(out).dtype, all(typeof(x).weak_type for x in operands))


acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
degrees = rad2deg
radians = deg2rad
