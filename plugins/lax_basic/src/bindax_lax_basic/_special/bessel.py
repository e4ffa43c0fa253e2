"""Modified Bessel functions of the first kind, times ``exp(-|x|)``."""

from __future__ import annotations

import math
from typing import Any

from bindax_lax_basic._special.functions import Functions, polynomial
from bindax_lax_basic._special.gamma import SQRT_TWO_PI

_BOUND = 22.0
"""Where the asymptotic series has become precise."""


def _power_series(order: int) -> tuple[float, ...]:
    """Coefficients in ``(x / 2)^2``, all positive (DLMF 10.25.2)."""
    return tuple(1 / (math.factorial(k) * math.factorial(k + order)) for k in range(60))


def _asymptotic_series(order: int) -> tuple[float, ...]:
    """Coefficients in ``1 / x`` (DLMF 10.40.1)."""
    out = [1.0]
    for k in range(1, 30):
        out.append(-out[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    return tuple(out)


_SERIES = tuple((_power_series(n), _asymptotic_series(n)) for n in (0, 1))


def scaled_bessel(f: Functions, order: int, x: Any) -> Any:
    """The function of order 0 or 1 at ``|x|``."""
    inner, outer = _SERIES[order]
    size = f.abs(x)
    near = size <= _BOUND
    small, large = f.where(near, size, 0.0), f.where(near, 2 * _BOUND, size)
    half = 0.5 * small
    series = polynomial(half * half, inner) * f.exp(-small)
    tail = polynomial(1.0 / large, outer) / (SQRT_TWO_PI * f.sqrt(large))
    return f.where(near, series * half if order else series, tail)
