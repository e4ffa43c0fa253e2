"""The gamma function: its logarithm, the derivatives of that, and scaled forms without overflow."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from bindax_lax_basic.extend import NumPyArray, choose, polynomial
from bindax_special.evaluation.coefficients import bernoulli, stirling_series
from bindax_special.evaluation.functions import Functions
from bindax_special.evaluation.zeta import zeta, zeta_at

EULER = 0.5772156649015328606
STIRLING_FROM = 8.0
_HALF_LOG_TWO_PI = 0.9189385332046727418
STIRLING_CONSTANT = _HALF_LOG_TWO_PI - 0.5
SQRT_TWO_PI = 2.5066282746310005024
_POWERS_TO = 100.0
"""Up to where powers are taken as such, which is precise, rather than by logarithms."""
# The zero of digamma, as the sum of two floats.
ZERO, ZERO_REST = 1.4616321449683622, 9.549995429965697e-17


@cache
def series_at_two() -> tuple[float, ...]:
    """The logarithm of the gamma function at ``2 + t``, divided by ``t`` (DLMF 5.7.3)."""
    return (1.0 - EULER, *((-1) ** n * zeta_at(float(n), 2.0) / n for n in range(2, 32)))


@cache
def digamma_at_zero() -> tuple[float, ...]:
    """Digamma at its zero plus ``t``, divided by ``t``: its derivatives there (DLMF 5.15.1)."""
    return tuple((-1) ** (n + 1) * zeta_at(n + 1.0, ZERO) for n in range(1, 34))


def log_gamma_at_two(t: Any) -> Any:
    """The logarithm of the gamma function at ``2 + t``, for ``|t| <= 1/2``."""
    return t * polynomial(t, series_at_two())


def log_gamma_one_plus(f: Functions, a: Any) -> Any:
    """The logarithm of the gamma function at ``1 + a``, for ``0 <= a <= 3/2``."""
    near = a <= 0.5
    return log_gamma_at_two(f.where(near, a, a - 1.0)) - f.where(near, f.log1p(a), 0.0)


def stirling_correction(x: Any) -> Any:
    """The logarithm of the scaled gamma function, from 8 on: Stirling's series (DLMF 5.11.1)."""
    y = 1.0 / x
    return y * polynomial(y * y, stirling_series())


def gamma_one_plus(f: Functions, a: Any) -> Any:
    """The gamma function at ``1 + a``, for ``0 <= a < 8``, by recurrence to around 2."""
    t, product = a - 1.0, 1.0
    for _ in range(7):
        far = t > 0.5
        product = product * f.where(far, t + 1.0, 1.0)
        t = f.where(far, t - 1.0, t)
    # Below -1/2 one step up: gamma(2 + t) = gamma(3 + t) / (2 + t).
    low = t < -0.5
    product = f.where(low, product / (t + 2.0), product)
    return product * f.exp(log_gamma_at_two(f.where(low, t + 1.0, t)))


def scaled_gamma(f: Functions, a: Any) -> Any:
    """``gamma(a) / (sqrt(2 pi / a) (a / e)^a)``, which goes to one, for ``a > 0``."""
    large = a >= STIRLING_FROM
    safe, small = f.where(large, a, STIRLING_FROM), f.where(large, 1.0, a)
    lower = f.exp(small - small * f.log(small)) * gamma_one_plus(f, small)
    lower = lower / (SQRT_TWO_PI * f.sqrt(small))
    return f.where(large, f.exp(stirling_correction(safe)), lower)


def log1p_minus(f: Functions, u: Any, sum_: Any) -> Any:
    """``log(sum_) - u`` where ``sum_`` is ``1 + u``, which may be known better than by adding.

    For small ``u`` from the series of the inverse of ``tanh``.
    """
    near = f.abs(u) <= 0.5
    v = f.where(near, u, 0.0)
    r = v / (2.0 + v)
    square = r * r
    series = polynomial(square, [1.0 / (2 * k + 3) for k in range(18)])
    return f.where(near, r * (2.0 * square * series - v), f.log(sum_) - u)


def _times_factorial(f: Functions, n: Any, x: Any) -> Any:
    """``n! x`` for natural numbers ``n``, which may be finite where ``n!`` is not."""
    few, many = n < STIRLING_FROM, n > _POWERS_TO
    small = x * gamma_one_plus(f, f.where(few, n, 0.0))
    large = f.where(few, STIRLING_FROM, n)
    root = SQRT_TWO_PI * f.sqrt(large)
    correction = stirling_correction(large)
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


# --------------------------------------------------------------------------- by NumPy alone


def lgamma(x: NumPyArray) -> NumPyArray:
    """The logarithm of the absolute value of the gamma function."""
    with_poles = choose(
        x,
        lambda x: x * x,  # infinities and nan
        (np.abs(x) < 0.5, lambda x: log_gamma_at_two(x) - np.log1p(x) - np.log(np.abs(x))),
        ((x >= 0.5) & (x < 1.5), lambda x: log_gamma_at_two(x - 1.0) - np.log(x)),
        ((x >= 1.5) & (x < STIRLING_FROM), _lgamma_moderate),
        ((x >= STIRLING_FROM) & (x < np.inf), _lgamma_large),
        ((x < 0.0) & (x > -np.inf), _lgamma_negative),
    )
    return np.where((x <= 0) & (np.floor(x) == x), np.inf, with_poles)


def _lgamma_moderate(x: NumPyArray) -> Any:
    t, product = x - 2.0, np.ones_like(x)
    for _ in range(6):
        far = t > 0.5
        product = np.where(far, product * (t + 1.0), product)
        t = np.where(far, t - 1.0, t)
    return log_gamma_at_two(t) + np.log(product)


def _lgamma_large(x: NumPyArray) -> Any:
    log = np.log(x)
    return (x - 0.5) * (log - 1.0) + STIRLING_CONSTANT + stirling_correction(x)


def _half_turn(x: NumPyArray) -> Any:
    """The distance from the nearest integer, with the sign of the difference to it."""
    return x - np.round(x)


def _lgamma_negative(x: NumPyArray) -> Any:
    """By reflection (DLMF 5.5.3)."""
    sine = np.abs(np.sin(np.pi * _half_turn(x)))
    return np.log(np.pi / sine) - lgamma(1.0 - x)


def digamma(x: NumPyArray) -> NumPyArray:
    """The derivative of the logarithm of the gamma function; nan at its poles but 0."""
    pole = (x <= 0) & (np.floor(x) == x)
    out = choose(
        x,
        lambda x: x,  # nan
        (np.abs(x - ZERO) < 0.4, _digamma_near_zero),
        (x >= 10.0, _digamma_large),
        ((x > 0.0) & (x < 10.0), _digamma_moderate),
        ((x < 0.0) & (x > -np.inf), lambda x: digamma(1.0 - x) - _cotangent(x)),
    )
    return np.where(pole, np.where(x == 0, -np.inf, np.nan), out)


def _cotangent(x: NumPyArray) -> Any:
    return np.pi / np.tan(np.pi * _half_turn(x))


def _digamma_near_zero(x: NumPyArray) -> Any:
    t = (x - ZERO) - ZERO_REST
    return t * polynomial(t, digamma_at_zero())


_DIGAMMA_SERIES = tuple(float(bernoulli(2 * k) / (2 * k)) for k in range(1, 9))


def _digamma_large(x: NumPyArray) -> Any:
    """DLMF 5.11.2."""
    y = 1.0 / x
    square = y * y
    return np.log(x) - 0.5 * y - square * polynomial(square, _DIGAMMA_SERIES)


def _digamma_moderate(x: NumPyArray) -> Any:
    steps = np.zeros_like(x)
    for k in reversed(range(1, 10)):
        steps = steps + 1.0 / (x + k)
    return _digamma_large(x + 10.0) - steps - 1.0 / x
