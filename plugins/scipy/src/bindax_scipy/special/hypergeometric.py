"""Hypergeometric functions of one real variable: power series, and formulas that lead to them."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_control_flow import while_loop
from bindax_core.extend import Array
from bindax_scipy._operands import aligned, epsilon, real
from bindax_scipy.special.gamma_functions import gamma
from bindax_transforms import custom_jvp

_MOST_TERMS = 20_000


def _is_pole(x: Any) -> Any:
    return (x <= 0) & (x == jnp.floor(x))


def _sums(ratio: Any, count: int, x: Any) -> list[Any]:
    """The sum of a series that begins with 1, and its derivatives with respect to parameters.

    For an index k, ``ratio`` gives the quotient of the terms k + 1 and k, and its derivatives.
    """
    accuracy = epsilon(x) / 4

    def unfinished(state: Any) -> Any:
        k, terms, sums = state
        going = [jnp.abs(t) > accuracy * jnp.abs(s) for t, s in zip(terms, sums, strict=True)]
        # A first derivative of 0 is not the end of its series.
        return (k < _MOST_TERMS) & ((k < 3) | jnp.any(jnp.stack(going)))

    def step(state: Any) -> Any:
        k, (term, *slopes), sums = state
        factor, partials = ratio(k.astype(x.dtype))
        slopes = [d * factor + term * p for d, p in zip(slopes, partials, strict=True)]
        terms = [term * factor, *slopes]
        return k + 1, terms, [s + t for s, t in zip(sums, terms, strict=True)]

    first = [jnp.ones_like(x), *([jnp.zeros_like(x)] * count)]
    return list(while_loop(unfinished, step, (jnp.zeros((), np.int32), first, first))[2])


# --------------------------------------------------------------------------- hyp1f1


def _ratio_1f1(a: Any, b: Any, x: Any) -> Any:
    def ratio(k: Any) -> Any:
        common = x / ((b + k) * (k + 1))
        return (a + k) * common, (common, -(a + k) * common / (b + k))

    return ratio


def _value_alone(ratio: Any) -> Any:
    return lambda k: (ratio(k)[0], ())


@custom_jvp
def _series_1f1(a: Any, b: Any, x: Any) -> Any:
    return _sums(_value_alone(_ratio_1f1(a, b, x)), 0, x)[0]


@_series_1f1.defjvp
def _series_1f1_jvp(primals: Any, tangents: Any) -> Any:
    (a, b, x), (da, db, dx) = primals, tangents
    value, by_a, by_b = _sums(_ratio_1f1(a, b, x), 2, x)
    by_x = a / b * _series_1f1(a + 1, b + 1, x)
    return value, by_a * da + by_b * db + by_x * dx


def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """Kummer's confluent hypergeometric function 1F1(a; b; x).

    Up to 100 the power series, after Kummer's transformation for negative ``x``; beyond, the
    asymptotic series (Pearson, Olver and Porter, "Numerical methods for the computation of the
    confluent and Gauss hypergeometric functions", 2015).

    >>> special.hyp1f1(1.0, 2.0, jnp.array([1.0])).round(4)
    Array([1.7183], dtype=float32)
    """
    a, b, x = aligned(*real("hyp1f1", a, b, x))
    negative = x < 0
    p, y = jnp.where(negative, b - a, a), jnp.abs(x)
    pole = _is_pole(b)
    q = jnp.where(pole, 1.0, b)
    far = y > 100
    near = _series_1f1(p, q, jnp.where(far, 1.0, y))
    z = jnp.where(far, y, 100.0)
    scale = jnp.where(negative, 1.0, jnp.exp(z)) * z ** (p - q) * gamma(q) / gamma(p)
    large = scale * _descending(q - p, 1 - p, z)
    value = jnp.where(far, large, jnp.where(negative, jnp.exp(jnp.where(far, 0.0, x)), 1.0) * near)
    # The gamma function has a pole where the series for large x ends, at a = 0.
    value = jnp.where(a == 0, 1.0, value)
    return jnp.where(pole & (a != 0), np.inf, value)


def _descending(p: Any, q: Any, z: Any) -> Any:
    """The first terms of the asymptotic series 2F0(p, q; 1 / z) for z from 100 on."""
    total = jnp.ones_like(z)
    for k in range(29, -1, -1):
        total = 1 + total * (p + k) * (q + k) / ((k + 1) * z)
    return total


# --------------------------------------------------------------------------- hyp2f1


def _ratio_2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    def ratio(k: Any) -> Any:
        common = x / ((c + k) * (k + 1))
        value = (a + k) * (b + k) * common
        return value, ((b + k) * common, (a + k) * common, -value / (c + k))

    return ratio


@custom_jvp
def _series_2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _sums(_value_alone(_ratio_2f1(a, b, c, x)), 0, x)[0]


@_series_2f1.defjvp
def _series_2f1_jvp(primals: Any, tangents: Any) -> Any:
    (a, b, c, x), (da, db, dc, dx) = primals, tangents
    value, by_a, by_b, by_c = _sums(_ratio_2f1(a, b, c, x), 3, x)
    by_x = a * b / c * _series_2f1(a + 1, b + 1, c + 1, x)
    return value, by_a * da + by_b * db + by_c * dc + by_x * dx


def _ascending(a: Any, b: Any, c: Any, x: Any) -> Any:
    """The function for x from -1/2 to below 1, or for a polynomial."""
    d = c - a - b
    # Near 1 the series is slow: two series of 1 - x, unless their sum is one of infinities.
    finite = _is_pole(a) | _is_pole(b)
    turned = (x > 0.9) & ~finite & (jnp.abs(d - jnp.round(d)) > 1e-3)
    direct = _series_2f1(a, b, c, jnp.where(turned, 0.0, x))
    y = jnp.where(turned, 1 - x, 0.5)
    e = jnp.where(turned, d, 0.5)
    one = gamma(c) * gamma(e) / (gamma(c - a) * gamma(c - b))
    two = y**e * gamma(c) * gamma(-e) / (gamma(a) * gamma(b))
    both = one * _series_2f1(a, b, 1 - e, y) + two * _series_2f1(c - a, c - b, 1 + e, y)
    return jnp.where(turned, both, direct)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """Gauss's hypergeometric function 2F1(a, b; c; x), infinite for ``x`` above 1.

    The power series, after Pfaff's transformation below -1/2, and Gauss's connection with 1 - x
    near 1 (Pearson, Olver and Porter, "Numerical methods for the computation of the confluent and
    Gauss hypergeometric functions", 2015).

    >>> special.hyp2f1(1.0, 1.0, 2.0, jnp.array([0.5])).round(4)
    Array([1.3863], dtype=float32)
    """
    a, b, c, x = aligned(*real("hyp2f1", a, b, c, x))
    finite = _is_pole(a) | _is_pole(b)
    one, above = (x == 1) & ~finite, (x > 1) & ~finite
    pole = _is_pole(c)
    safe_c = jnp.where(pole, 0.5, c)
    pfaff = (x < -0.5) & ~finite
    y = jnp.where(one | above, 0.0, x)
    moved = jnp.where(pfaff, y / (y - 1), y)
    factor = jnp.where(pfaff, (1 - jnp.where(pfaff, y, 0.0)) ** -a, 1.0)
    value = factor * _ascending(a, jnp.where(pfaff, safe_c - b, b), safe_c, moved)
    d = safe_c - a - b
    gauss = gamma(safe_c) * gamma(d) / (gamma(safe_c - a) * gamma(safe_c - b))
    value = jnp.where(one, jnp.where(d > 0, gauss, np.inf), value)
    value = jnp.where(above | pole & (x != 0), np.inf, value)
    nothing = lax.bitwise_or(jnp.isnan(x), jnp.isnan(a + b + c))
    return jnp.where(nothing, np.nan, value)
