"""Roots, logarithms and inverse functions of many complex numbers, from those of their parts.

The formulas are those of Kahan (1987, "Branch cuts for complex elementary functions"), which keep
to the side of a branch cut that the signs of zeros say. Numbers of single precision are computed in
double, where nothing overflows; others that overflow or nearly vanish on the way give nan, which
``many_by_parts`` takes for a sign to leave them to NumPy.
"""

from __future__ import annotations

import numpy as np

from bindax_lax_basic._complex_parts import Pair
from bindax_lax_basic._numpy import NumPyArray

_LEAST_SQUARE = 1e-280
"""Squares of moduli below this one have lost digits, or are zero."""


def _wide(a: NumPyArray, b: NumPyArray) -> Pair:
    return a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)


def _square(a: NumPyArray, b: NumPyArray) -> NumPyArray:
    """The square of the modulus, nan where it is not exact or not finite."""
    square = a * a + b * b
    return np.where((square > _LEAST_SQUARE) & (square < np.inf), square, np.nan)


def sqrt(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the square root of ``a + ib``."""
    a, b = _wide(a, b)
    greater = np.sqrt((np.abs(a) + np.sqrt(_square(a, b))) / 2)
    less = np.abs(b) / (2 * greater)
    right = a >= 0
    return np.where(right, greater, less), np.copysign(np.where(right, less, greater), b)


def log(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the logarithm of ``a + ib``."""
    a, b = _wide(a, b)
    x, y = np.abs(a), np.abs(b)
    greater, less = np.maximum(x, y), np.minimum(x, y)
    square = _square(a, b)
    near_one = np.log1p((greater - 1) * (greater + 1) + less * less)
    is_near = (square > 0.5) & (square < 2)
    return np.where(is_near, near_one, np.log(square)) / 2, np.arctan2(b, a)


def log1p(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the logarithm of ``1 + a + ib``."""
    a, b = _wide(a, b)
    is_small = (np.abs(a) < 0.5) & (np.abs(b) < 0.5)
    small = np.log1p(a * (2 + a) + b * b) / 2
    real, imag = log(1 + a, b + 0.0)  # as 1 + z, of which the imaginary part is never -0
    return np.where(is_small, small, real), imag


def acos(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the inverse cosine of ``a + ib``."""
    a, b = _wide(a, b)
    (p, q), (r, s) = sqrt(1 - a, -b), sqrt(1 + a, b)
    return 2 * np.arctan2(p, r), np.arcsinh(r * q - s * p)


def asin(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the inverse sine of ``a + ib``."""
    a, b = _wide(a, b)
    (p, q), (r, s) = sqrt(1 - a, -b), sqrt(1 + a, b)
    return np.arctan2(a, p * r - q * s), np.arcsinh(p * s - q * r)


def acosh(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the inverse hyperbolic cosine of ``a + ib``."""
    a, b = _wide(a, b)
    (p, q), (r, s) = sqrt(a - 1, b), sqrt(a + 1, b)
    return np.arcsinh(p * r + q * s), 2 * np.arctan2(q, r)


def asinh(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the inverse hyperbolic sine of ``a + ib``, ``-i asin(-b + ia)``."""
    real, imag = asin(-b, a)
    return imag, -real


def atanh(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the inverse hyperbolic tangent of ``a + ib``."""
    a, b = _wide(a, b)
    x = np.abs(a)  # an odd function, whose formula is exact to the right
    square = _square(1 - x, b)
    real = np.log1p(4 * x / square) / 4
    imag = np.arctan2(2 * b, (1 - x) * (1 + x) - b * b) / 2
    return np.copysign(real, a), imag


def atan(a: NumPyArray, b: NumPyArray) -> Pair:
    """The parts of the inverse tangent of ``a + ib``, ``-i atanh(-b + ia)``."""
    real, imag = atanh(-b, a)
    return imag, -real
