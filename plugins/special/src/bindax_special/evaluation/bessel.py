"""Modified Bessel functions of the first kind, times ``exp(-|x|)``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

from bindax_lax_basic.extend import polynomial
from bindax_special.evaluation.functions import Functions
from bindax_special.evaluation.gamma import SQRT_TWO_PI

Coefficients = tuple[float, ...]


@cache
def _expansions(order: int, epsilon: float) -> tuple[float, Coefficients, Coefficients]:
    """Where the asymptotic series takes over from the power series, and the terms of both.

    There are as many as a relative error below ``epsilon`` takes.
    """
    # The least term of the asymptotic series is about exp(-2 x).
    bound = -0.6 * math.log(epsilon)
    inner = _until_small(_power_series(order), (0.5 * bound) ** 2, epsilon)
    return bound, inner, _until_small(_asymptotic_series(order), 1 / bound, epsilon)


def _until_small(coefficients: Iterator[float], x: float, epsilon: float) -> Coefficients:
    """The coefficients of a series up to the first term at ``x`` below a fraction of the sum."""
    out: list[float] = []
    total, power = 0.0, 1.0
    for c in coefficients:
        out.append(c)
        total += c * power
        if abs(c * power) < epsilon * abs(total):
            break
        power *= x
    return tuple(out)


def _power_series(order: int) -> Iterator[float]:
    """Coefficients in ``(x / 2)^2``, all positive (DLMF 10.25.2)."""
    for k in count():
        yield 1 / (math.factorial(k) * math.factorial(k + order))


def _asymptotic_series(order: int) -> Iterator[float]:
    """Coefficients in ``1 / x`` (DLMF 10.40.1)."""
    coefficient = 1.0
    for k in count(1):
        yield coefficient
        coefficient *= -(4 * order**2 - (2 * k - 1) ** 2) / (8 * k)


def scaled_bessel(f: Functions, order: int, x: Any) -> Any:
    """The function of order 0 or 1 at ``|x|``."""
    bound, inner, outer = _expansions(order, f.epsilon)
    size = f.abs(x)
    near = size <= bound
    small, large = f.where(near, size, 0.0), f.where(near, 2 * bound, size)
    half = 0.5 * small
    series = polynomial(half * half, inner) * f.exp(-small)
    tail = polynomial(1.0 / large, outer) / (SQRT_TWO_PI * f.sqrt(large))
    return f.where(near, series * half if order else series, tail)
