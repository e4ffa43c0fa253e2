"""Coefficients of expansions, from their recurrences in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

Table = tuple[tuple[float, ...], ...]


@cache
def bernoulli(n: int) -> Fraction:
    """The Bernoulli number ``B_n``, with ``B_1 = -1/2`` (DLMF 24.5.3)."""
    if n == 0:
        return Fraction(1)
    return -sum((comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


@cache
def stirling_series() -> tuple[float, ...]:
    """``B_2k / (2k (2k - 1))``: the logarithm of the gamma function in ``x^(1 - 2k)`` (5.11.1)."""
    return tuple(float(bernoulli(2 * k) / (2 * k * (2 * k - 1))) for k in range(1, 12))


@cache
def _inverse_of_temme_variable(count: int) -> tuple[Fraction, ...]:
    """``a_k`` in ``t - 1 = sum a_k y^k`` where ``y^2 / 2 = t - 1 - log(t)`` (DLMF 8.12.1).

    Differentiation gives ``t y = (t - 1) t'``, which is a recurrence for the coefficients.
    """
    a = [Fraction(0), Fraction(1)]
    for m in range(2, count):
        known = sum((j * a[j] * a[m + 1 - j] for j in range(2, m)), Fraction(0))
        a.append((a[m - 1] - known) / (m + 1))
    return tuple(a)


@cache
def temme_table(orders: int = 7, terms: int = 18) -> Table:
    """``d_kn`` in the uniform expansion of incomplete gamma functions (DLMF 8.12.7 to 8.12.12)."""
    count = terms + 2 * orders
    a = _inverse_of_temme_variable(count + 3)
    first = [(n + 2) * a[n + 2] for n in range(count)]
    first[0] -= 1
    rows, double_factorial = [first], 1
    for k in range(1, orders):
        double_factorial *= 2 * k + 1
        g = (-1) ** k * double_factorial * a[2 * k + 1]
        last = rows[-1]
        rows.append([g * first[n] + (n + 2) * last[n + 2] for n in range(len(last) - 2)])
    return tuple(tuple(float(d) for d in row[:terms]) for row in rows)
