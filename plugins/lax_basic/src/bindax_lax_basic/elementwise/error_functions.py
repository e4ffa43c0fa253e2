"""The error function, its complement and its inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, typeof
from bindax_lax_basic.dtypes import FLOAT, accumulator_dtype
from bindax_lax_basic.elementwise import error_coefficients as coefficients
from bindax_lax_basic.elementwise.accuracy import Accuracy, check_accuracy
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, neg_p, sub_p
from bindax_lax_basic.elementwise.comparison import eq_p, gt_p, lt_p
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.exponential import exp, log, sqrt, square
from bindax_lax_basic.elementwise.rounding import floor
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.elementwise.sign import abs_p
from bindax_lax_basic.rules.elementwise import composition, elementwise, nonlinear, of_real
from bindax_lax_basic.rules.evaluation import NumPyArray, choose, in_double, polynomial
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.wider_types import in_wider

__all__ = ["erf", "erf_inv", "erf_inv_p", "erf_p", "erfc", "erfc_p"]


_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)


# W. J. Cody, Rational Chebyshev approximations for the error function, Mathematics of Computation
# 23 (1969): numerators and denominators on [0, 0.46875], [0.46875, 4] and from 4 on.
_INNER = (
    (3.20937758913846947e3, 3.77485237685302021e2, 1.13864154151050156e2, 3.16112374387056560,
     1.85777706184603153e-1),
    (2.84423683343917062e3, 1.28261652607737228e3, 2.44024637934444173e2, 2.36012909523441209e1,
     1.0),
)  # fmt: skip
_MIDDLE = (
    (1.23033935479799725e3, 2.05107837782607147e3, 1.71204761263407058e3, 8.81952221241769090e2,
     2.98635138197400131e2, 6.61191906371416295e1, 8.88314979438837594, 5.64188496988670089e-1,
     2.15311535474403846e-8),
    (1.23033935480374942e3, 3.43936767414372164e3, 4.36261909014324716e3, 3.29079923573345963e3,
     1.62138957456669019e3, 5.37181101862009858e2, 1.17693950891312499e2, 1.57449261107098347e1,
     1.0),
)  # fmt: skip
_OUTER = (
    (6.58749161529837803e-4, 1.60837851487422766e-2, 1.25781726111229246e-1,
     3.60344899949804439e-1, 3.05326634961232344e-1, 1.63153871373020978e-2),
    (2.33520497626869185e-3, 6.05183413124413191e-2, 5.27905102951428412e-1,
     1.87295284992346047, 2.56852019228982242, 1.0),
)  # fmt: skip
_INNER_BOUND, _OUTER_BOUND = 0.46875, 4.0
_ONE_OVER_SQRT_PI = 5.6418958354775628695e-1


def _ratio(x: Any, table: tuple[tuple[float, ...], tuple[float, ...]]) -> Any:
    return polynomial(x, table[0]) / polynomial(x, table[1])


def _gaussian(x: NumPyArray) -> Any:
    """``exp(-x^2)``, the square split in two so that its rounding does not count."""
    coarse = np.trunc(x * 16.0) / 16.0
    return np.exp(-coarse * coarse) * np.exp(-(x - coarse) * (x + coarse))


def _erfc_middle(x: NumPyArray) -> Any:
    return _gaussian(x) * _ratio(x, _MIDDLE)


def _erfc_outer(x: NumPyArray) -> Any:
    y = 1.0 / (x * x)
    return _gaussian(x) * (_ONE_OVER_SQRT_PI - y * _ratio(y, _OUTER)) / x


def _erfc_tail(x: NumPyArray) -> NumPyArray:
    """The complement from 0.46875 on."""
    return choose(x, _erfc_outer, (x <= _OUTER_BOUND, _erfc_middle), (x > 27.5, np.zeros_like))


def _erf_inner(x: NumPyArray) -> Any:
    return x * _ratio(x * x, _INNER)


def _erf(x: NumPyArray) -> NumPyArray:
    """The error function."""
    size = np.abs(x)
    return choose(
        x,
        lambda x: np.copysign(1.0 - _erfc_tail(np.abs(x)), x),
        (size <= _INNER_BOUND, _erf_inner),
        (size > 6.0, np.sign),
    )


def _erfc(x: NumPyArray) -> NumPyArray:
    """The complement of the error function, precise where it is small."""
    return choose(
        x,
        lambda x: 2.0 - _erfc_tail(-x),
        (np.abs(x) <= _INNER_BOUND, lambda x: 1.0 - _erf_inner(x)),
        (x > 0, _erfc_tail),
        (x < -6.0, lambda x: np.full_like(x, 2.0)),
    )


def _erf_inv(y: NumPyArray) -> NumPyArray:
    """The inverse of the error function.

    S. Winitzki, A handy approximation for the error function and its inverse (2008), gives two
    digits, and three steps of Halley's method all others; far from zero they solve for the
    complement, of which ``1 - |y|`` is a precise value.
    """
    size = np.abs(y)
    inside = size < 1.0
    p = np.where(inside, size, 0.5)
    log = np.log1p(-p * p)
    b = 2.0 / (np.pi * 0.147) + 0.5 * log
    x = np.sqrt(np.maximum(np.sqrt(b * b - log / 0.147) - b, 0.0))
    for _ in range(3):
        excess = np.where(p < 0.5, _erf(x) - p, (1.0 - p) - _erfc(x))
        step = excess * np.exp(x * x) / (2.0 * _ONE_OVER_SQRT_PI)
        x = x - step / (1.0 + x * step)
    x = np.where(p < 1e-150, p * (0.5 / _ONE_OVER_SQRT_PI), x)
    edge = np.where(size == 1.0, np.inf, np.nan)
    return np.copysign(np.where(inside, x, edge), y)


# ------------------------------------------------------------------------- for compilers


def _where(condition: Any, x: Any, y: Any) -> Any:
    return select_scalars(condition, y, x)


def _is_double(x: Any) -> bool:
    return typeof(x).dtype.itemsize == 8


def _series(x: Any, coefficients: Sequence[float]) -> Any:
    """A polynomial with constants of the dtype of the array."""
    out = constant(coefficients[-1], x)
    for c in reversed(coefficients[:-1]):
        out = add_p.bind(mul_p.bind(out, x), constant(c, x))
    return out


def exp_of_square(x: Any, factor: float = 1.0) -> Any:
    """``exp(factor x^2)``, without the rounding of the square.

    The square of a coarse number is exact, and the rest is a factor near 1.

    Args:
        x: an array of float32 or float64, not so large that its square has no digits left.
        factor: a power of 2 up to 1, or the negative of one, by which products are exact.

    >>> exp_of_square(np.array([0.0, 2.0]), -1).round(4)
    Array([1.    , 0.0183], dtype=float64)
    """
    bits, terms = (21, 4) if _is_double(x) else (8, 5)
    coarse = mul_p.bind(floor(mul_p.bind(x, constant(2.0**bits, x))), constant(2.0**-bits, x))
    rest = mul_p.bind(sub_p.bind(x, coarse), add_p.bind(x, coarse))
    beside = _series(rest, [factor**k / math.factorial(k) for k in range(terms)])
    return mul_p.bind(exp(mul_p.bind(square(coarse), constant(factor, x))), beside)


def scaled_erfc(x: Any) -> Any:
    """``exp(x^2) erfc(x)`` for ``x`` from 0 on, of float32 or float64.

    It decays as ``1 / x``: times ``x + 3`` it is a polynomial of ``(x - 3) / (x + 3)``.

    >>> scaled_erfc(np.array([0.0, 100.0])).round(4)
    Array([1.    , 0.0056], dtype=float64)
    """
    table = coefficients.SCALED_DOUBLE if _is_double(x) else coefficients.SCALED_SINGLE
    inverse = div_p.bind(constant(1.0, x), add_p.bind(x, constant(coefficients.SCALED_CENTRE, x)))
    t = sub_p.bind(
        constant(1.0, x), mul_p.bind(constant(2 * coefficients.SCALED_CENTRE, x), inverse)
    )
    return mul_p.bind(_series(t, table), inverse)


def _erfc_of_real(x: Any) -> Any:
    """The complement of the error function, zero from 28 on."""
    end = constant(28.0, x)
    size = abs_p.bind(x)
    size = _where(gt_p.bind(size, end), end, size)
    right = mul_p.bind(exp_of_square(size, -1), scaled_erfc(size))
    return _where(lt_p.bind(x, constant(0.0, x)), sub_p.bind(constant(2.0, x), right), right)


def _erf_inv_of_real(x: Any) -> Any:
    """The inverse of the error function over its argument, a smooth function of ``-log(1 - x^2)``.

    M. Giles, Approximating the erfinv function, GPU Computing Gems Jade edition (2011).
    """
    size = abs_p.bind(x)
    one = constant(1.0, x)
    w = neg_p.bind(log(mul_p.bind(sub_p.bind(one, size), add_p.bind(one, size))))
    centre, *tails = coefficients.INVERSE_DOUBLE if _is_double(x) else coefficients.INVERSE_SINGLE
    out = _on_interval(w, centre)
    root = sqrt(w)
    for tail in tails:
        beyond = gt_p.bind(root, constant(tail[0], x))
        out = _where(beyond, _on_interval(root, tail), out)
    at_end = mul_p.bind(x, constant(math.inf, x))
    return _where(eq_p.bind(size, one), at_end, mul_p.bind(x, out))


def _on_interval(x: Any, expansion: tuple[float, float, Sequence[float]]) -> Any:
    """The value of an expansion in the variable that goes from -1 to 1 on an interval."""
    low, high, table = expansion
    half = (high - low) / 2
    t = mul_p.bind(sub_p.bind(x, constant(low + half, x)), constant(1 / half, x))
    return _series(t, table)


def _scaled_gaussian(factor: float, x: Any) -> Any:
    return mul_p.bind(constant(factor, x), exp(neg_p.bind(square(x))))


def erf(x: Any) -> Array:
    """Elementwise error function of an array of real floats.

    Evaluated by the rational approximations of W. J. Cody, Mathematics of Computation 23 (1969).

    >>> erf(np.array([0.0, 1.0]))
    Array([0.        , 0.84270079], dtype=float64)
    """
    return erf_p.bind(x)


erf_p: Primitive = primitive(
    "erf",
    *elementwise("erf", in_double(_erf), FLOAT, slow=True),
    *nonlinear("chlo.erf", lambda x, y: _scaled_gaussian(_TWO_OVER_SQRT_PI, x)),
)


def erfc(x: Any, accuracy: Accuracy = None) -> Array:
    """Elementwise complement of the error function, ``1 - erf(x)``, precise where it is small.

    >>> erfc(np.array([0.0, 10.0]))
    Array([1.00000000e+00, 2.08848758e-45], dtype=float64)
    """
    if accuracy is not None:
        check_accuracy("erfc", accuracy)
    return erfc_p.bind(x)


erfc_p: Primitive = primitive(
    "erfc",
    *elementwise("erfc", in_double(_erfc), FLOAT, slow=True),
    *nonlinear(
        in_wider(composition(_erfc_of_real), accumulator_dtype),
        lambda x, y: _scaled_gaussian(-_TWO_OVER_SQRT_PI, x),
    ),
)


def erf_inv(x: Any) -> Array:
    """Elementwise inverse of the error function; infinite at -1 and 1, nan beyond.

    Evaluated by Halley's method from an approximation of S. Winitzki (2008).

    >>> erf_inv(np.array([0.0, 0.5, 1.0]))
    Array([0.        , 0.47693628,        inf], dtype=float64)
    """
    return erf_inv_p.bind(x)


def _erf_inv_derivative(x: Any, y: Any) -> Any:
    return mul_p.bind(constant(1.0 / _TWO_OVER_SQRT_PI, x), exp(square(y)))


erf_inv_p: Primitive = primitive(
    "erf_inv",
    *elementwise("erf_inv", in_double(_erf_inv), FLOAT, slow=True),
    *nonlinear(of_real(_erf_inv_of_real, "chlo.erf_inv"), _erf_inv_derivative),
)
