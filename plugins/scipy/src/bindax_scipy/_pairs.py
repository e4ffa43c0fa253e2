"""Numbers as unevaluated sums of two floats, a rounded number and what it lacks.

T. J. Dekker, A floating-point technique for extending the available precision, Numerische
Mathematik 18 (1971). Results have about twice the digits of the dtype.
"""

from __future__ import annotations

from typing import Any

from ml_dtypes import finfo

import bindax_lax_basic as lax
from bindax_core.extend import typeof

Pair = tuple[Any, Any]


def two_sum(x: Any, y: Any) -> Pair:
    """The exact sum of two numbers."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: Any, y: Any) -> Pair:
    """The product of two numbers, of sums of products that are exact.

    A compiler may compute a product and its sum with a number at once. As these are exact, that
    changes nothing.
    """
    (a, b), (c, d) = _halves(x), _halves(y)
    middle, rest = two_sum(a * d, b * c)
    high, low = two_sum(a * c, middle)
    return high, low + (rest + b * d)


def _halves(x: Any) -> Pair:
    """A number as the sum of two with half as many bits, whose products are exact."""
    info = finfo(typeof(x).dtype)  # type: ignore[no-untyped-call]
    high = lax.reduce_precision(x, int(info.nexp), (int(info.nmant) - 1) // 2)
    return high, x - high


def _normal(high: Any, low: Any) -> Pair:
    total = high + low
    return total, low - (total - high)


def add(x: Pair, y: Pair) -> Pair:
    """The sum of two pairs."""
    high, low = two_sum(x[0], y[0])
    return _normal(high, low + (x[1] + y[1]))


def multiply(x: Pair, y: Pair) -> Pair:
    """The product of two pairs."""
    high, low = two_product(x[0], y[0])
    return _normal(high, low + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, y: Pair) -> Pair:
    """The quotient of two pairs."""
    high = x[0] / y[0]
    product, low = two_product(high, y[0])
    return _normal(high, ((x[0] - product) - low + x[1] - high * y[1]) / y[0])
