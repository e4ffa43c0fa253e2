"""The Hurwitz zeta function by Euler-Maclaurin summation, and polygamma from it."""

from __future__ import annotations

import math
from typing import Any

from bindax_special.evaluation.coefficients import bernoulli
from bindax_special.evaluation.functions import EPSILON, Functions

_CORRECTIONS = tuple(float(bernoulli(2 * j) / math.factorial(2 * j)) for j in range(1, 14))
_NARROW_CORRECTIONS = _CORRECTIONS[:7]


def _positive(s: Any, q: Any, epsilon: float) -> Any:
    """The sum of ``(q + k)^-s`` over all ``k >= 0``, for ``s > 1`` and ``q > 0`` (DLMF 25.11.9).

    F. Johansson, Rigorous high-precision computation of the Hurwitz zeta function and its
    derivatives, Numerical Algorithms 69 (2015).
    """
    corrections = _CORRECTIONS if epsilon <= EPSILON else _NARROW_CORRECTIONS
    direct = len(corrections) - 1
    total: Any = 0.0
    n = q + float(direct)
    leading = n ** (1.0 - s)
    power = leading / n  # which may be too small for a float where the other one is not
    # Each correction is a factor times the one before.
    term, inverse = s * power / n, 1.0 / (n * n)
    for j, c in enumerate(corrections):
        total = total + c * term
        term = term * (s + (2.0 * j + 1.0)) * (s + (2.0 * j + 2.0)) * inverse
    total = total + (leading / (s - 1.0) + 0.5 * power)
    for k in reversed(range(direct)):
        total = total + (q + float(k)) ** -s
    return total


def zeta_at(s: float, q: float) -> float:
    """The function at one point, where it makes coefficients."""
    return float(_positive(s, q, EPSILON))


def zeta(f: Functions, s: Any, q: Any) -> Any:
    """The Hurwitz zeta function.

    For negative ``q`` and integers ``s`` the sum splits at the least positive ``q + k``: the terms
    before are, but for the sign, terms of the sum from the other side.
    """
    integral = f.floor(s) == s
    even = f.floor(0.5 * s) * 2.0 == s
    negative = q < 0.0
    up = f.floor(f.where(negative, q, 0.0))
    fraction = f.where(negative, q - up, q)
    inside = (s > 1.0) & (fraction > 0.0) & (s < math.inf) & (q < math.inf)
    safe_s, safe_q = f.where(inside, s, 2.0), f.where(inside, fraction, 1.0)
    out = _positive(safe_s, safe_q, f.epsilon)
    # The terms q, q + 1, ... below zero are -(1 - fraction) - i.
    below = f.where(negative & inside, (up + 1.0) - q, 1.0)
    beyond = f.where(negative & inside, 1.0 - q, 2.0)
    before = _positive(safe_s, below, f.epsilon) - _positive(safe_s, beyond, f.epsilon)
    out = out + f.where(negative, f.where(even, before, -before), 0.0)
    # From about 2^53 on all of the sum is its integral; its terms are not distinct any more.
    out = f.where(negative & ~integral, math.nan, out)
    pole = (q <= 0.0) & (f.floor(q) == q)
    out = f.where(pole, f.where(even, math.inf, math.nan), out)
    out = f.where((q == math.inf) & (s > 1.0), 0.0, out)
    out = f.where(s == 1.0, math.inf, out)
    return f.where((s < 1.0) | (s == math.inf) | (s != s) | (q != q), math.nan, out)
