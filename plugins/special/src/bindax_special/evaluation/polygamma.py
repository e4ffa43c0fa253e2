"""Derivatives of digamma of any order."""

from __future__ import annotations

import math
from typing import Any

from bindax_special.evaluation import gamma
from bindax_special.evaluation.functions import Functions
from bindax_special.evaluation.zeta import zeta

_POWERS_TO = 100.0
"""Up to where powers are taken as such, which is precise, rather than by logarithms."""


def _times_factorial(f: Functions, n: Any, x: Any) -> Any:
    """``n! x`` for natural numbers ``n``, which may be finite where ``n!`` is not."""
    few, many = n < gamma.STIRLING_FROM, n > _POWERS_TO
    small = x * gamma.gamma_one_plus(f, f.where(few, n, 0.0))
    large = f.where(few, gamma.STIRLING_FROM, n)
    root = gamma.SQRT_TWO_PI * f.sqrt(large)
    correction = gamma.stirling_correction(large)
    moderate = f.where(many, 10.0, large)
    half = moderate ** (0.5 * moderate)
    medium = x * half * f.exp(correction - moderate) * half * root
    by_logarithm = root * f.exp(large * (f.log(large) - 1.0) + (correction + f.log(x)))
    return f.where(few, small, f.where(many, by_logarithm, medium))


def polygamma(f: Functions, m: Any, x: Any) -> Any:
    """The derivative of order ``m``, from ``zeta(m + 1, x)`` (DLMF 5.15.1)."""
    natural = (m >= 0.0) & (f.floor(m) == m) & (m < math.inf)
    order = f.where(natural, m, 1.0)
    product = _times_factorial(f, order, zeta(f, order + 1.0, x))
    even = f.floor(0.5 * order) * 2.0 == order
    out = f.where(order == 0.0, f.digamma(x), f.where(even, -product, product))
    return f.where(natural, out, math.nan)
