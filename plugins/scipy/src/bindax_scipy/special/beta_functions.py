"""The beta function, and what is made of quotients of gamma functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
import bindax_special as base
from bindax_core.extend import Array
from bindax_scipy._operands import aligned, in_double, real, settled
from bindax_scipy._pairs import Pair, divide, two_sum
from bindax_scipy.special.gamma_functions import STIRLING_FROM, gamma, gammasgn, stirling
from bindax_transforms import custom_jvp

# Products of so many factors are multiplied out, which is exact for integers.
_FACTORS = 20
_LEAST = 1e-30


def comb(N: Any, k: Any, *, repetition: bool = False) -> Array:
    """The number of ways to choose ``k`` of ``N`` things.

    Args:
        N: how many there are.
        k: how many are chosen.
        repetition: things may be chosen more than once.

    >>> jnp.round(special.comb(jnp.array([4]), 2), 3)
    Array([6.], dtype=float32)
    """
    N, k = aligned(*settled(*real("comb", N, k)))
    if repetition:
        return jnp.where((k == 0) & (N >= 0), 1.0, comb(N + k - 1, k))
    valid = (k <= N) & (N >= 0) & (k >= 0)
    ways = in_double(_ways, jnp.where(valid, N, 0.0), jnp.where(valid, k, 0.0))
    return jnp.where(valid, ways, 0.0)


@custom_jvp
def _ways(n: Any, k: Any) -> Any:
    fewer = jnp.where(n == jnp.floor(n), jnp.minimum(k, n - k), k)
    fewer = jnp.where(fewer < _LEAST, 0.0, fewer)
    short = (fewer == jnp.floor(fewer)) & (fewer <= _FACTORS)
    product = jnp.ones_like(n)
    for i in range(_FACTORS):
        product = jnp.where(i < fewer, product * (n - i) / (i + 1), product)
    p, q = (jnp.where(short, 1.0, x) for x in (k, n - k + 1))
    one, two, rest = _beta_factors(p, q)
    # No factor is so small as their product, which may be subnormal.
    return jnp.where(short, product, 1 / (one * (rest * p)) / two)


_ways.defjvps(
    lambda t, out, n, k: _digamma_change(n - k + 1, k) * out * t,
    lambda t, out, n, k: (base.digamma(n - k + 1) - base.digamma(k + 1)) * out * t,
)


def _digamma_change(x: Any, step: Any) -> Any:
    """``digamma(x + step) - digamma(x)``, for large x by terms that do not cancel (DLMF 5.11.2)."""
    last = x + step
    large = (x > 1e3) & (last > 1e3)
    p, q = jnp.where(large, x, 1e3), jnp.where(large, last, 1e3)
    far = jnp.log1p(jnp.where(large, step / p, 0.0)) + step * (0.5 + (1 / p + 1 / q) / 12) / p / q
    return jnp.where(large, far, base.digamma(last) - base.digamma(x))


def _poch(z: Any, m: Any) -> Any:
    # Whole steps are multiplied out where there are few of them, or the quotient has no factors.
    steps = jnp.clip(jnp.floor(m), -_FACTORS, _FACTORS)
    steps = jnp.where((z > 0) & (m > jnp.maximum(steps, 0.0)), 0.0, steps)
    up = down = jnp.ones_like(z)
    for i in range(_FACTORS):
        up = jnp.where(i < steps, up * (z + i), up)
        down = jnp.where(i < -steps, down * (z - (i + 1)), down)
    return up / down * _gamma_ratio(z + steps, m - steps)


@custom_jvp
def _gamma_ratio(z: Any, m: Any) -> Any:
    positive = (z > 0) & (m > 0)
    plain = positive & (gamma(m) < np.inf)
    p, q = _where_all(plain, z, m)
    one, two, rest = _beta_factors(p, q)
    near = base.lgamma(jnp.where(positive, m, 1.0)) - _betaln(*_where_all(positive, z, m))
    log_ratio = jnp.where(positive, near, base.lgamma(z + m) - base.lgamma(z))
    far = _sign(z) * _sign(z + m) * jnp.exp(log_ratio)
    return jnp.where(m == 0, 1.0, jnp.where(plain, gamma(q) / rest / one / two, far))


_gamma_ratio.defjvps(
    lambda t, out, z, m: jnp.where(m == 0, 0.0, _digamma_change(z, m)) * out * t,
    lambda t, out, z, m: base.digamma(z + m) * out * t,
)


def _where_all(condition: Any, *xs: Any) -> list[Any]:
    """Numbers where a condition holds, and 1 elsewhere."""
    return [jnp.where(condition, x, 1.0) for x in xs]


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (x == jnp.floor(x))


def _sign(x: Any) -> Any:
    """The sign of the gamma function, 1 at its poles."""
    return jnp.where(_is_pole(x), 1.0, gammasgn(x))


def poch(z: Any, m: Any) -> Array:
    """Pochhammer's symbol ``gamma(z + m) / gamma(z)``, the rising factorial.

    Float32 is computed in double precision.

    >>> jnp.round(special.poch(jnp.array([3.0]), 2.0), 3)
    Array([12.], dtype=float32)
    """
    return in_double(_poch, *aligned(*settled(*real("poch", z, m))))


# --------------------------------------------------------------------------- beta


def _beta_factors(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Three factors of the beta function of positive numbers: two powers, and what they leave.

    They are what Stirling's formula has (DLMF 5.11.3). Logarithms would lose as many units in the
    last place as they are large.
    """
    p, q = jnp.minimum(a, b), jnp.maximum(a, b)
    zero = jnp.zeros_like(p)
    total = two_sum(p, q)
    root = jnp.sqrt(total[0] / q) * _over_stirling(q) / _over_stirling(total[0])
    large = p >= STIRLING_FROM
    r, small = jnp.where(large, p, STIRLING_FROM), jnp.where(large, 1.0, p)
    # Of the power of p over the sum, one of 4 over the sum is taken, which does not underflow.
    moderate = gamma(small) * jnp.exp(small) * jnp.square(jnp.exp2(-small))
    factor = jnp.where(large, jnp.sqrt(2 * math.pi / r) * jnp.exp(stirling(r)), moderate)
    one, two = (
        _power(divide((jnp.where(large, p, 4.0), zero), total), p),
        _power(divide((q, zero), total), q),
    )
    return one, two, root * factor


def _power(base: Pair, exponent: Any) -> Any:
    # The bounds hold for all finite results.
    lost = jnp.clip(exponent * (base[1] / base[0]), -80, 80)
    return base[0] ** exponent * jnp.exp(lost)


def _over_stirling(x: Any) -> Any:
    """``gamma(x)`` over ``sqrt(2 pi / x) (x / e) ** x``, which goes to 1."""
    large = x >= STIRLING_FROM
    far, near = jnp.where(large, x, STIRLING_FROM), jnp.where(large, 1.0, x)
    moderate = gamma(near) * jnp.exp(near) * near**-near * jnp.sqrt(near / (2 * math.pi))
    return jnp.where(large, jnp.exp(stirling(far)), moderate)


@custom_jvp
def _beta(a: Any, b: Any) -> Any:
    one, two, rest = _beta_factors(a, b)
    return one * (two * rest)


_beta.defjvps(
    lambda t, out, a, b: -_digamma_change(a, b) * out * t,
    lambda t, out, a, b: -_digamma_change(b, a) * out * t,
)


@custom_jvp
def _betaln(a: Any, b: Any) -> Any:
    # Large logarithms of gamma nearly cancel: Stirling's formula takes them together.
    p, q = jnp.minimum(a, b), jnp.maximum(a, b)
    near = base.lgamma(p) + (base.lgamma(q) - base.lgamma(p + q))
    large = q >= STIRLING_FROM
    s = jnp.where(large, q, STIRLING_FROM)
    rest = stirling(s) - stirling(p + s)
    one = base.lgamma(p) + rest + p - p * jnp.log(p + s) - (s - 0.5) * jnp.log1p(p / s)
    both = p >= STIRLING_FROM
    r = jnp.where(both, p, STIRLING_FROM)
    half = 0.5 * math.log(2 * math.pi)
    two = stirling(r) + rest - 0.5 * jnp.log(s) + half
    two = two + (r - 0.5) * jnp.log(r / (r + s)) - s * jnp.log1p(r / s)
    return jnp.where(both, two, jnp.where(large, one, near))


_betaln.defjvps(
    lambda t, out, a, b: -_digamma_change(a, b) * t,
    lambda t, out, a, b: -_digamma_change(b, a) * t,
)


def betaln(a: Any, b: Any) -> Array:
    """The logarithm of the absolute value of the beta function.

    Float32 is computed in double precision; in float64 it is off by up to 18 units in the last
    place, where logarithms nearly cancel.

    >>> jnp.round(special.betaln(jnp.array([1.0]), 2.0), 3)
    Array([-0.693], dtype=float32)
    """
    return in_double(_betaln_everywhere, *aligned(*settled(*real("betaln", a, b))))


def _betaln_everywhere(a: Any, b: Any) -> Any:
    pole, whole, low, high = _beta_case(a, b)
    end = pole | whole | jnp.isinf(high) & (low > 0)
    moved = _betaln(*_where_all(whole, 1 - low - high, high))
    at_end = jnp.where(pole, np.inf, jnp.where(whole, moved, -np.inf))
    return jnp.where(end, at_end, _betaln(*_where_all(~end, a, b)))


def _beta_case(a: Any, b: Any) -> tuple[Any, ...]:
    """Where the function is infinite; where it is that of ``1 - a - b``, as both are integers.

    DLMF 5.12.1, and its limit at poles of the numerator and the denominator.
    """
    low, high = jnp.minimum(a, b), jnp.maximum(a, b)
    whole = _is_pole(low) & (high > 0) & (high == jnp.floor(high)) & (1 - low - high > 0)
    return (_is_pole(low) | _is_pole(high)) & ~whole, whole, low, high


def beta(a: Any, b: Any) -> Array:
    """The beta function ``gamma(a) gamma(b) / gamma(a + b)``.

    Float32 is computed in double precision. In float64 results for negative numbers are off by
    about as many units in the last place as their logarithm is large.

    >>> special.beta(jnp.array([1.0]), 2.0).round(4)
    Array([0.5], dtype=float32)
    """
    return in_double(_beta_everywhere, *aligned(*settled(*real("beta", a, b))))


def _beta_everywhere(a: Any, b: Any) -> Any:
    pole, whole, _, high = _beta_case(a, b)
    sign = jnp.where(whole & (high % 2 == 1), -1.0, _sign(a) * _sign(b) * _sign(a + b))
    # Beyond the bounds their quotients have no digits left.
    plain = (a > _LEAST) & (b > _LEAST) & (high < 1 / _LEAST)
    far = jnp.exp(_betaln_everywhere(*(jnp.where(plain, 1.0, x) for x in (a, b))))
    far = far * jnp.where(pole | whole & (high % 2 == 0), 1.0, sign)
    return jnp.where(plain, _beta(*_where_all(plain, a, b)), far)


def betainc(a: Any, b: Any, x: Any) -> Array:
    """The regularized incomplete beta function, for ``x`` from 0 to 1.

    >>> special.betainc(1.0, 2.0, jnp.array([0.5]))
    Array([0.75], dtype=float32)
    """
    return base.betainc(*aligned(*real("betainc", a, b, x)))
