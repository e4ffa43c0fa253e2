"""Exponentials, logarithms and roots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, typeof
from bindax_lax_basic.dtypes import FLOAT, INEXACT, NUMBER, accumulator_dtype, is_complex
from bindax_lax_basic.elementwise import complex_corners as corners
from bindax_lax_basic.elementwise.accuracy import Accuracy, check_accuracy
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, neg_p, sub_p
from bindax_lax_basic.elementwise.bit_patterns import bitcast_convert_type
from bindax_lax_basic.elementwise.bits import shift_left
from bindax_lax_basic.elementwise.comparison import and_p, gt_p, lt_p
from bindax_lax_basic.elementwise.complex_numbers import complex_p, imag_p, real_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.rounding import RoundingMethod, floor, round
from bindax_lax_basic.elementwise.selection import clamp, select_scalars
from bindax_lax_basic.rules.elementwise import composition, elementwise, nonlinear, of_real
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.wider_types import in_wider

__all__ = [
    "cbrt",
    "cbrt_p",
    "exp",
    "exp2",
    "exp2_p",
    "exp_p",
    "expm1",
    "expm1_p",
    "log",
    "log1p",
    "log1p_p",
    "log2",
    "log2_p",
    "log_p",
    "logistic",
    "logistic_p",
    "rsqrt",
    "rsqrt_p",
    "sqrt",
    "sqrt_p",
    "square",
    "square_p",
]


_LN2 = float(np.log(2.0))


def _times_ln2(x: Any) -> Any:
    return mul_p.bind(constant(_LN2, x), x)


def exp(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise exponential function of an array of floats.

    >>> exp(np.array([0.0, 1.0]))
    Array([1.        , 2.71828183], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("exp", accuracy)
    return exp_p.bind(x)


exp_p: Primitive = primitive(
    "exp",
    *elementwise("exp", corners.exponential, INEXACT),
    *nonlinear("stablehlo.exponential", lambda x, y: y),
)


def _exp2(x: Any) -> Any:
    """Powers of two; those of integers exactly.

    The exponential function would make much of the last digit of a product that is large.
    """
    if is_complex(typeof(x).dtype):
        return exp(_times_ln2(x))
    info = np.finfo(typeof(x).dtype)
    bound = constant(float(info.maxexp + info.nmant + 2), x)
    x = clamp(neg_p.bind(bound), x, bound)
    whole = round(x, RoundingMethod.TO_NEAREST_EVEN)
    fraction = sub_p.bind(x, whole)
    power = constant(0.0, x)
    for k in reversed(range(14 if info.bits == 64 else 8)):
        power = add_p.bind(mul_p.bind(power, fraction), constant(_LN2**k / math.factorial(k), x))
    # In two factors, as the power of an integer may be out of range where the result is not.
    first = floor(mul_p.bind(whole, constant(0.5, x)))
    power = mul_p.bind(power, _power_of_two(first))
    return mul_p.bind(power, _power_of_two(sub_p.bind(whole, first)))


def _power_of_two(exponent: Any) -> Any:
    """Two to the power of integers that are exponents of normal numbers, by its bits."""
    dtype = typeof(exponent).dtype
    info = np.finfo(dtype)
    biased = add_p.bind(exponent, constant(float(info.maxexp - 1), exponent))
    bits = convert(biased, np.dtype(f"i{dtype.itemsize}"), False)
    return bitcast_convert_type(shift_left(bits, constant(info.nmant, bits)), dtype)


def exp2(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise power of two of an array of floats.

    >>> exp2(np.array([0.0, 3.0]))
    Array([1., 8.], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("exp2", accuracy)
    return exp2_p.bind(x)


exp2_p: Primitive = primitive(
    "exp2",
    *elementwise("exp2", np.exp2, INEXACT),
    *nonlinear(
        in_wider(composition(_exp2), accumulator_dtype),
        lambda x, y: _times_ln2(y),
    ),
)


def _expm1(x: NumPyArray) -> NumPyArray:
    out = np.asarray(np.expm1(x))  # an array also of no axes, where NumPy gives a scalar
    if out.dtype.kind == "c":  # NumPy multiplies an infinite power with the sine of 0
        out.imag[...] = np.where(x.imag == 0, x.imag, out.imag)
    return out


def expm1(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise ``exp(x) - 1``, precise for small ``x``.

    >>> expm1(np.array([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("expm1", accuracy)
    return expm1_p.bind(x)


expm1_p: Primitive = primitive(
    "expm1",
    *elementwise("expm1", _expm1, INEXACT),
    *nonlinear("stablehlo.exponential_minus_one", lambda x, y: add_p.bind(y, constant(1.0, x))),
)


def log(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise natural logarithm of an array of floats.

    >>> log(np.array([1.0, 2.0]))
    Array([0.        , 0.69314718], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("log", accuracy)
    return log_p.bind(x)


log_p: Primitive = primitive(
    "log",
    *elementwise("log", np.log, INEXACT),
    *nonlinear("stablehlo.log", lambda x, y: div_p.bind(constant(1.0, x), x)),
)


def _log1p(x: NumPyArray) -> NumPyArray:
    if x.dtype.kind != "c":
        return np.log1p(x)
    # NumPy takes the logarithm of the modulus, which is rounded to 1 for small numbers.
    shifted = x.copy()
    shifted.real += 1  # a sum of complex numbers would lose the sign of a zero
    out = np.asarray(np.log(shifted))
    small = np.log1p(x.real * (2 + x.real) + x.imag * x.imag) / 2
    out.real[...] = np.where(np.abs(x) < 0.5, small, out.real)
    return out


def _log1p_of_real(x: Any) -> Any:
    """The logarithm of the sum, near 0 the series of the inverse of ``tanh``."""
    near = and_p.bind(gt_p.bind(x, constant(-0.25, x)), lt_p.bind(x, constant(0.4, x)))
    small = select_scalars(near, constant(0.0, x), x)
    ratio = div_p.bind(small, add_p.bind(constant(2.0, x), small))
    square = mul_p.bind(ratio, ratio)
    series = constant(2 / 23, x)
    for k in reversed(range(3, 23, 2)):
        series = add_p.bind(mul_p.bind(series, square), constant(2 / k, x))
    rest = mul_p.bind(ratio, sub_p.bind(mul_p.bind(series, square), small))
    far = log(add_p.bind(x, constant(1.0, x)))
    return select_scalars(near, far, add_p.bind(small, rest))


def log1p(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise ``log(1 + x)``, precise for small ``x``.

    >>> log1p(np.array([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("log1p", accuracy)
    return log1p_p.bind(x)


log1p_p: Primitive = primitive(
    "log1p",
    *elementwise("log1p", _log1p, INEXACT),
    *nonlinear(
        # The operation is off by up to a hundred units in the last place of double precision.
        of_real(_log1p_of_real, "stablehlo.log_plus_one", ("float64",)),
        lambda x, y: div_p.bind(constant(1.0, x), add_p.bind(x, constant(1.0, x))),
    ),
)


_ONE_OVER_LN2 = float(1 / np.log(2.0))


def _log2(x: NumPyArray) -> NumPyArray:
    if x.dtype.kind != "c":
        return np.log2(x)
    out = np.asarray(np.log(x))
    # Part by part, as complex multiplication makes nan of the infinite one.
    out.real[...] *= _ONE_OVER_LN2
    out.imag[...] *= _ONE_OVER_LN2
    return out


def _scaled_log(x: Any) -> Any:
    out = log(x)
    if not is_complex(typeof(x).dtype):
        return mul_p.bind(constant(_ONE_OVER_LN2, out), out)
    parts = [part.bind(out) for part in (real_p, imag_p)]
    return complex_p.bind(*[mul_p.bind(constant(_ONE_OVER_LN2, part), part) for part in parts])


def log2(x: Any) -> Array:
    """Elementwise logarithm to base 2 of an array of floats.

    >>> log2(np.array([1.0, 8.0]))
    Array([0., 3.], dtype=float64)
    """
    return log2_p.bind(x)


log2_p: Primitive = primitive(
    "log2",
    *elementwise("log2", _log2, INEXACT),
    *nonlinear(composition(_scaled_log), lambda x, y: div_p.bind(constant(_ONE_OVER_LN2, x), x)),
)


_NAN = complex(np.nan, np.nan)


def _logistic(x: NumPyArray) -> NumPyArray:
    one = x.dtype.type(1)
    if x.dtype.kind == "c":  # infinite complex numbers have no quotients
        left = x.real < 0
        power = np.exp(np.where(left, x, -x))
        out = np.where(left, power, one) / (one + power)
        return np.where(np.isinf(x.real) & ~np.isfinite(x.imag), out.dtype.type(_NAN), out)
    return one / (one + np.exp(-x))


def logistic(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise logistic function ``1 / (1 + exp(-x))`` of an array of floats.

    >>> logistic(np.array([0.0, 1000.0]))
    Array([0.5, 1. ], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("logistic", accuracy)
    return logistic_p.bind(x)


logistic_p: Primitive = primitive(
    "logistic",
    *elementwise("logistic", _logistic, INEXACT),
    *nonlinear("stablehlo.logistic", lambda x, y: mul_p.bind(y, sub_p.bind(constant(1.0, x), y))),
)


def sqrt(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise square root of an array of floats.

    >>> sqrt(np.array([4.0, 9.0]))
    Array([2., 3.], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("sqrt", accuracy)
    return sqrt_p.bind(x)


sqrt_p: Primitive = primitive(
    "sqrt",
    *elementwise("sqrt", corners.square_root, INEXACT),
    *nonlinear("stablehlo.sqrt", lambda x, y: div_p.bind(constant(0.5, x), y)),
)


def rsqrt(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise reciprocal square root of an array of floats.

    >>> rsqrt(np.array([4.0, 16.0]))
    Array([0.5 , 0.25], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("rsqrt", accuracy)
    return rsqrt_p.bind(x)


rsqrt_p: Primitive = primitive(
    "rsqrt",
    *elementwise("rsqrt", corners.reciprocal_square_root, INEXACT),
    *nonlinear("stablehlo.rsqrt", lambda x, y: mul_p.bind(constant(-0.5, x), div_p.bind(y, x))),
)


def cbrt(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise cube root of an array of real floats.

    >>> cbrt(np.array([8.0, -27.0]))
    Array([ 2., -3.], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("cbrt", accuracy)
    return cbrt_p.bind(x)


cbrt_p: Primitive = primitive(
    "cbrt",
    *elementwise("cbrt", np.cbrt, FLOAT),
    *nonlinear("stablehlo.cbrt", lambda x, y: div_p.bind(constant(1 / 3, x), square(y))),
)


def square(x: Any) -> Array:
    """Elementwise square of an array of numbers.

    >>> square(np.array([2.0, -3.0]))
    Array([4., 9.], dtype=float64)
    """
    return square_p.bind(x)


square_p: Primitive = primitive(
    "square",
    *elementwise("square", np.square, NUMBER),
    *nonlinear(composition(lambda x: mul_p.bind(x, x)), lambda x, y: mul_p.bind(constant(2, x), x)),
)
