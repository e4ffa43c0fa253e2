"""Trigonometric and hyperbolic functions, and their inverses. Angles are in radians."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, typeof
from bindax_lax_basic.dtypes import INEXACT
from bindax_lax_basic.elementwise import complex_corners as corners
from bindax_lax_basic.elementwise.accuracy import Accuracy, check_accuracy
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, neg_p, sub_p
from bindax_lax_basic.elementwise.comparison import lt_p
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.exponential import exp, log1p, rsqrt, sqrt, square
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.elementwise.sign import abs_p, sign_p
from bindax_lax_basic.rules.elementwise import elementwise, nonlinear, of_real
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.operands import adopt_type, constant

__all__ = [
    "acos",
    "acos_p",
    "acosh",
    "acosh_p",
    "asin",
    "asin_p",
    "asinh",
    "asinh_p",
    "atan",
    "atan2",
    "atan2_p",
    "atan_p",
    "atanh",
    "atanh_p",
    "cos",
    "cos_p",
    "cosh",
    "cosh_p",
    "sin",
    "sin_p",
    "sinh",
    "sinh_p",
    "tan",
    "tan_p",
    "tanh",
    "tanh_p",
]


def _one_minus(x: Any) -> Any:
    return sub_p.bind(constant(1.0, x), x)


def _one_plus(x: Any) -> Any:
    return add_p.bind(constant(1.0, x), x)


def _minus_one(x: Any) -> Any:
    return sub_p.bind(x, constant(1.0, x))


def _reciprocal(x: Any) -> Any:
    return div_p.bind(constant(1.0, x), x)


def sin(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise sine of an array of floats.

    >>> sin(np.array([0.0, 1.0]))
    Array([0.        , 0.84147098], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("sin", accuracy)
    return sin_p.bind(x)


sin_p: Primitive = primitive(
    "sin",
    *elementwise("sin", np.sin, INEXACT),
    *nonlinear(corners.circular("stablehlo.sine", "real"), lambda x, y: cos(x)),
)


def cos(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise cosine of an array of floats.

    >>> cos(np.array([0.0, 1.0]))
    Array([1.        , 0.54030231], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("cos", accuracy)
    return cos_p.bind(x)


cos_p: Primitive = primitive(
    "cos",
    *elementwise("cos", np.cos, INEXACT),
    *nonlinear(corners.circular("stablehlo.cosine", "imag"), lambda x, y: neg_p.bind(sin(x))),
)


def tan(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise tangent of an array of floats.

    >>> tan(np.array([0.0, 1.0]))
    Array([0.        , 1.55740772], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("tan", accuracy)
    return tan_p.bind(x)


tan_p: Primitive = primitive(
    "tan",
    *elementwise("tan", np.tan, INEXACT),
    *nonlinear("chlo.tan", lambda x, y: _one_plus(square(y))),
)


def _asin(x: Any) -> Any:
    """The arc sine, of the smallest numbers too, whose half the hardware takes for zero."""
    return atan2(x, sqrt(mul_p.bind(_one_minus(x), _one_plus(x))))


def asin(x: Any) -> Array:
    """Elementwise arc sine of an array of floats.

    >>> asin(np.array([0.0, 1.0]))
    Array([0.        , 1.57079633], dtype=float64)
    """
    return asin_p.bind(x)


asin_p: Primitive = primitive(
    "asin",
    *elementwise("asin", corners.from_above(np.arcsin), INEXACT),
    *nonlinear(of_real(_asin, "chlo.asin"), lambda x, y: rsqrt(_one_minus(square(x)))),
)


def acos(x: Any) -> Array:
    """Elementwise arc cosine of an array of floats.

    >>> acos(np.array([0.0, 1.0]))
    Array([1.57079633, 0.        ], dtype=float64)
    """
    return acos_p.bind(x)


acos_p: Primitive = primitive(
    "acos",
    *elementwise("acos", corners.from_above(np.arccos), INEXACT),
    *nonlinear("chlo.acos", lambda x, y: neg_p.bind(rsqrt(_one_minus(square(x))))),
)


def atan(x: Any) -> Array:
    """Elementwise arc tangent of an array of floats.

    >>> atan(np.array([0.0, 1.0]))
    Array([0.        , 0.78539816], dtype=float64)
    """
    return atan_p.bind(x)


atan_p: Primitive = primitive(
    "atan",
    *elementwise("atan", corners.arc_tangent, INEXACT),
    *nonlinear("chlo.atan", lambda x, y: _reciprocal(_one_plus(square(x)))),
)


def _half_exponentials(size: Any) -> tuple[Any, Any]:
    """``exp(x) / 2`` and ``exp(-x) / 2`` for ``x`` from 0 on, the first also where it overflows.

    They are made of the root of the exponential function: a constant added to the argument would
    be rounded with it.
    """
    half = constant(0.5, size)
    root = exp(mul_p.bind(half, size))
    growing = mul_p.bind(mul_p.bind(half, root), root)
    return growing, div_p.bind(constant(0.25, size), growing)


def _sinh(x: Any) -> Any:
    """The hyperbolic sine, for small numbers by its series."""
    size = abs_p.bind(x)
    near = lt_p.bind(size, constant(1.0, x))
    small = select_scalars(near, constant(0.0, x), x)
    squared = square(small)
    last = 17 if typeof(x).dtype.itemsize == 8 else 11
    series = constant(1 / math.factorial(last), x)
    for k in range(last - 2, 1, -2):
        series = add_p.bind(mul_p.bind(series, squared), constant(1 / math.factorial(k), x))
    series = add_p.bind(small, mul_p.bind(small, mul_p.bind(squared, series)))
    far = sub_p.bind(*_half_exponentials(size))
    far = select_scalars(lt_p.bind(x, constant(0.0, x)), far, neg_p.bind(far))
    return select_scalars(near, far, series)


def _cosh(x: Any) -> Any:
    return add_p.bind(*_half_exponentials(abs_p.bind(x)))


def sinh(x: Any) -> Array:
    """Elementwise hyperbolic sine of an array of floats.

    >>> sinh(np.array([0.0, 1.0]))
    Array([0.        , 1.17520119], dtype=float64)
    """
    return sinh_p.bind(x)


sinh_p: Primitive = primitive(
    "sinh",
    *elementwise("sinh", np.sinh, INEXACT),
    *nonlinear(of_real(_sinh, "chlo.sinh"), lambda x, y: cosh(x)),
)


def cosh(x: Any) -> Array:
    """Elementwise hyperbolic cosine of an array of floats.

    >>> cosh(np.array([0.0, 1.0]))
    Array([1.        , 1.54308063], dtype=float64)
    """
    return cosh_p.bind(x)


cosh_p: Primitive = primitive(
    "cosh",
    *elementwise("cosh", np.cosh, INEXACT),
    *nonlinear(of_real(_cosh, "chlo.cosh"), lambda x, y: sinh(x)),
)


def tanh(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise hyperbolic tangent of an array of floats.

    >>> tanh(np.array([0.0, 1.0]))
    Array([0.        , 0.76159416], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("tanh", accuracy)
    return tanh_p.bind(x)


tanh_p: Primitive = primitive(
    "tanh",
    *elementwise("tanh", np.tanh, INEXACT),
    *nonlinear("stablehlo.tanh", lambda x, y: _one_minus(square(y))),
)


def asinh(x: Any) -> Array:
    """Elementwise inverse hyperbolic sine of an array of floats.

    >>> asinh(np.array([0.0, 1.0]))
    Array([0.        , 0.88137359], dtype=float64)
    """
    return asinh_p.bind(x)


asinh_p: Primitive = primitive(
    "asinh",
    *elementwise("asinh", np.arcsinh, INEXACT),
    *nonlinear("chlo.asinh", lambda x, y: rsqrt(_one_plus(square(x)))),
)


def acosh(x: Any) -> Array:
    """Elementwise inverse hyperbolic cosine of an array of floats.

    >>> acosh(np.array([1.0, 2.0]))
    Array([0.       , 1.3169579], dtype=float64)
    """
    return acosh_p.bind(x)


acosh_p: Primitive = primitive(
    "acosh",
    *elementwise("acosh", corners.from_above(np.arccosh, at_zero=True), INEXACT),
    *nonlinear("chlo.acosh", lambda x, y: mul_p.bind(rsqrt(_minus_one(x)), rsqrt(_one_plus(x)))),
)


def _atanh(x: Any) -> Any:
    size = abs_p.bind(x)
    half = constant(0.5, x)
    out = mul_p.bind(half, log1p(div_p.bind(add_p.bind(size, size), _one_minus(size))))
    return mul_p.bind(sign_p.bind(x), out)


def atanh(x: Any) -> Array:
    """Elementwise inverse hyperbolic tangent of an array of floats.

    >>> atanh(np.array([0.0, 0.5]))
    Array([0.        , 0.54930614], dtype=float64)
    """
    return atanh_p.bind(x)


atanh_p: Primitive = primitive(
    "atanh",
    *elementwise("atanh", corners.arc_tangent_hyperbolic, INEXACT),
    *nonlinear(
        of_real(_atanh, "chlo.atanh", ("float64",)), lambda x, y: _reciprocal(_one_minus(square(x)))
    ),
)


def atan2(x: Any, y: Any) -> Array:
    """Elementwise angle of the point ``(y, x)``: the arc tangent of ``x / y`` in all quadrants.

    Args:
        x: an array of floats, the ordinate.
        y: an array of the same dtype, the abscissa.

    Of complex numbers it is ``-i log((y + i x) / sqrt(x^2 + y^2))``.

    >>> atan2(np.array([1.0, -1.0]), 1.0)
    Array([ 0.78539816, -0.78539816], dtype=float64)
    """
    return atan2_p.bind(*adopt_type(x, y))


def _atan2_impl(x: NumPyArray, y: NumPyArray) -> Any:
    if x.dtype.kind != "c":
        return np.arctan2(x, y)
    a, b = x.astype(np.complex128), y.astype(np.complex128)
    return (-1j * np.log((b + 1j * a) / np.sqrt(a * a + b * b))).astype(x.dtype)


def _over_square_norm(z: Any, x: Any, y: Any) -> Any:
    norm = add_p.bind(mul_p.bind(x, x), mul_p.bind(y, y))
    return div_p.bind(z, norm)


atan2_p: Primitive = primitive(
    "atan2",
    *elementwise("atan2", _atan2_impl, INEXACT, INEXACT),
    *nonlinear(
        "stablehlo.atan2",
        lambda x, y, out: _over_square_norm(y, x, y),
        lambda x, y, out: neg_p.bind(_over_square_norm(x, x, y)),
    ),
)
