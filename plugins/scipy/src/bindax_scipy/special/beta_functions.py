"""The beta function, and what is made of quotients of gamma functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
import bindax_special as base
from bindax_core.extend import Array
from bindax_scipy._operands import aligned, in_double, is_double, real, settled
from bindax_scipy._pairs import two_sum
from bindax_scipy.special.gamma_functions import STIRLING_FROM, gamma, gammasgn, stirling
from bindax_transforms import custom_jvp

# Products of so many factors are multiplied out, which is exact for integers.
_FACTORS = 20


def comb(N: Any, k: Any, *, repetition: bool = False) -> Array:
    """The number of ways to choose ``k`` of ``N`` things.

    Float32 is computed in double precision.

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
    short = (fewer == jnp.floor(fewer)) & (fewer <= _FACTORS)
    product = jnp.ones_like(n)
    for i in range(_FACTORS):
        product = jnp.where(i < fewer, product * (n - i) / (i + 1), product)
    return jnp.where(short, product, jnp.exp(-jnp.log1p(n) - _betaln(n - k + 1, k + 1)))


_ways.defjvps(
    lambda t, out, n, k: (base.digamma(n + 1) - base.digamma(n - k + 1)) * out * t,
    lambda t, out, n, k: (base.digamma(n - k + 1) - base.digamma(k + 1)) * out * t,
)


def _poch(z: Any, m: Any) -> Any:
    # Whole steps are multiplied out, as far as there are few of them.
    steps = jnp.clip(jnp.floor(m), -_FACTORS, _FACTORS)
    up = down = jnp.ones_like(z)
    for i in range(_FACTORS):
        up = jnp.where(i < steps, up * (z + i), up)
        down = jnp.where(i < -steps, down * (z - (i + 1)), down)
    return up / down * _gamma_ratio(z + steps, m - steps)


@custom_jvp
def _gamma_ratio(z: Any, m: Any) -> Any:
    total, lost = two_sum(z, m)
    largest = 170.0 if is_double(z) else 34.0
    direct = (z > 0) & (z < largest) & (total > 0) & (total < largest)
    above, below = _where_all(direct, total, z)
    quotient = (
        gamma(above) * (1 + base.digamma(above) * jnp.where(direct, lost, 0.0)) / gamma(below)
    )
    plain = (z > 0) & (m > 0)
    near = base.lgamma(jnp.where(plain, m, 1.0)) - _betaln(*_where_all(plain, z, m))
    log_ratio = jnp.where(plain, near, base.lgamma(total) - base.lgamma(z))
    by_logarithm = _sign(z) * _sign(total) * jnp.exp(log_ratio)
    return jnp.where(m == 0, 1.0, jnp.where(direct, quotient, by_logarithm))


_gamma_ratio.defjvps(
    lambda t, out, z, m: jnp.where(m == 0, 0.0, base.digamma(z + m) - base.digamma(z)) * out * t,
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
    lambda t, out, a, b: (base.digamma(a) - base.digamma(a + b)) * t,
    lambda t, out, a, b: (base.digamma(b) - base.digamma(a + b)) * t,
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

    Float32 is computed in double precision. In float64 small results are off by about as many units
    in the last place as their logarithm is large.

    >>> special.beta(jnp.array([1.0]), 2.0).round(4)
    Array([0.5], dtype=float32)
    """
    return in_double(_beta, *aligned(*settled(*real("beta", a, b))))


def _beta(a: Any, b: Any) -> Any:
    pole, whole, _, high = _beta_case(a, b)
    sign = jnp.where(whole & (high % 2 == 1), -1.0, _sign(a) * _sign(b) * _sign(a + b))
    return jnp.where(pole | whole & (high % 2 == 0), 1.0, sign) * jnp.exp(_betaln_everywhere(a, b))


def betainc(a: Any, b: Any, x: Any) -> Array:
    """The regularized incomplete beta function, for ``x`` from 0 to 1.

    >>> special.betainc(1.0, 2.0, jnp.array([0.5]))
    Array([0.75], dtype=float32)
    """
    return base.betainc(*aligned(*real("betainc", a, b, x)))
