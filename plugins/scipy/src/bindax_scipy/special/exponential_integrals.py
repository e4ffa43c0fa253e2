"""Integrals of exponential and trigonometric functions over their argument, and the dilogarithm."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
import bindax_special as base
from bindax_control_flow import while_loop
from bindax_core.extend import Array, typeof
from bindax_scipy._operands import aligned, epsilon, in_double, real
from bindax_scipy.special.gamma_functions import bernoulli_number
from bindax_transforms import custom_jvp

_EULER = 0.57721566490153286060651209008240243
_MOST_TERMS = 500
# From this order on the asymptotic series of E_n is precise.
_LARGE_ORDER = 5000


def _weighted_sum(term: Any, ratio: Any) -> Any:
    """The sum over k from 1 of products of factors, each with its weight."""
    accuracy = epsilon(term) / 4

    def unfinished(state: Any) -> Any:
        k, term, _ = state
        return (k < _MOST_TERMS) & jnp.any(jnp.abs(term) > accuracy)

    def step(state: Any) -> Any:
        k, term, total = state
        factor, weight = ratio(k.astype(term.dtype))
        term = term * factor
        return k + 1, term, total + term * weight

    return while_loop(unfinished, step, (jnp.ones((), np.int32), term, jnp.zeros_like(term)))[2]


def _continued_fraction(z: Any, n: Any) -> Any:
    """``exp(z) E_n(z)`` for ``z`` at a distance from 0 and the negative axis (DLMF 8.19.17).

    It is evaluated from its last term on, as errors of its terms then vanish in the next ones.
    """
    # The error after k terms is about exp(-4 Re(sqrt(k z))).
    speed = (jnp.abs(z) + jnp.real(z)) / 2
    accuracy = math.log(epsilon(speed) / 4) ** 2 / 16
    count = jnp.max(accuracy / speed, initial=0.0).astype(np.int32) + 2
    b = z + lax.convert_element_type(n, z.dtype)

    def step(state: Any) -> Any:
        k, value = state
        i = k.astype(speed.dtype)
        term = lax.convert_element_type(i * (n - 1 + i), z.dtype)
        return k - 1, b + lax.convert_element_type(2 * (i - 1), z.dtype) - term / value

    last = b + lax.convert_element_type(2 * count.astype(speed.dtype), z.dtype)
    return 1 / while_loop(lambda state: state[0] > 0, step, (count, last))[1]


# ----------------------------------------------------------------------------- E_n and Ei


@custom_jvp
def _expn(n: Any, x: Any) -> Any:
    small = (x > 0) & (x <= 0.5) & (n >= 1)
    large = (x > 0.5) & (x < np.inf)
    value = jnp.where(large, _expn_far(n, jnp.where(large, x, 2.0)), 0.0)
    value = jnp.where(small, _expn_near(jnp.where(small, n, 1.0), jnp.where(small, x, 0.5)), value)
    at_zero = jnp.where(n < 2, np.inf, 1 / jnp.where(n < 2, 1.0, n - 1))
    value = jnp.where(x == 0, at_zero, jnp.where(x == np.inf, 0.0, value))
    return jnp.where((n < 0) | (x < 0) | jnp.isnan(x), np.nan, value)


def _expn_near(n: Any, x: Any) -> Any:
    """The power series; its term of index ``n - 1`` has a logarithm."""
    last = n - 1
    psi = base.digamma(n)
    logarithmic = jnp.exp(last * jnp.log(x) - base.lgamma(n)) * (psi - jnp.log(x))
    sign = jnp.where(last % 2 == 0, 1.0, -1.0)

    def ratio(k: Any) -> Any:
        weight = jnp.where(k == last, 0.0, 1 / jnp.where(k == last, 1.0, last - k))
        return -x / k, weight

    first = jnp.where(last == 0, 0.0, 1 / jnp.where(last == 0, 1.0, last))
    # The recursion runs on the terms without their weights.
    total = _weighted_sum(jnp.ones_like(x), ratio) + first
    return total + sign * logarithmic


def _expn_far(n: Any, x: Any) -> Any:
    fraction = _continued_fraction(x, jnp.where(n < _LARGE_ORDER, n, 1.0))
    total = x + n
    ratio = n / (total * total)
    series = ratio * (
        1 + ratio * (n - 2 * x) / n + ratio**2 * (6 * x * x - 8 * n * x + n * n) / n**2
    )
    asymptotic = (1 + series) / total
    return jnp.exp(-x) * jnp.where(n < _LARGE_ORDER, fraction, asymptotic)


@_expn.defjvp
def _expn_jvp(primals: Any, tangents: Any) -> Any:
    (n, x), (_, t) = primals, tangents
    return _expn(n, x), -t * _of_any_order(n - 1, x)


def _of_any_order(n: Any, x: Any) -> Any:
    """E_n for orders from 0 on: E_0, which has no series, is differentiated as it is written."""
    zero = n == 0
    return jnp.where(zero, jnp.exp(-x) / jnp.where(zero, x, 1.0), _expn(jnp.where(zero, 1.0, n), x))


def expn(n: Any, x: Any) -> Array:
    """The exponential integral E_n, the integral of ``exp(-x t) / t ** n`` from 1 to infinity.

    Args:
        n: integers from 0 on; no derivative is taken with respect to them.
        x: real numbers from 0 on.

    >>> special.expn(2, jnp.array([1.0])).round(4)
    Array([0.1485], dtype=float32)
    """
    return _of_any_order(*aligned(*real("expn", n, x)))


@custom_jvp
def _exp1(x: Any) -> Any:
    near, far = (x > 0) & (x <= 0.5), (x > 0.5) & (x < np.inf)
    y, z = jnp.where(near, x, 0.5), jnp.where(far, x, 2.0)
    series = -_EULER - jnp.log(y) - _weighted_sum(jnp.ones_like(y), lambda k: (-y / k, 1 / k))
    fraction = jnp.exp(-z) * _continued_fraction(z, jnp.ones_like(z))
    value = jnp.where(near, series, jnp.where(far, fraction, 0.0))
    return jnp.where(x >= 0, jnp.where(x == 0, np.inf, value), np.nan)


_exp1.defjvps(lambda t, y, x: -jnp.exp(-x) / x * t)


def exp1(x: Any) -> Array:
    """The exponential integral E_1, the integral of ``exp(-t) / t`` from x to infinity.

    >>> special.exp1(jnp.array([1.0])).round(4)
    Array([0.2194], dtype=float32)
    """
    return _exp1(*real("exp1", x))


# The zero of Ei, in two parts.
_ZERO = 0.3725074107813666
_ZERO_REST = 1.31401834143860282e-17


@functools.cache
def _terms_beside(x: float) -> Any:
    """Coefficients of ``(g(x + h) - g(x)) / h`` with ``g = Ei - log``, highest first."""
    return np.array(
        [
            math.fsum(
                math.comb(j, k) * x ** (j - k) / (j * math.factorial(j)) for j in range(k, 40)
            )
            for k in range(20, 0, -1)
        ]
    )


def _beside_zero(x: Any) -> Any:
    """Ei for x from 0.1 to 1, by its change from the number that is next to its zero."""
    start = float(np.array(_ZERO, typeof(x).dtype))
    rest = start - _ZERO - _ZERO_REST
    at_start = math.log1p(rest / _ZERO) + rest * np.polyval(_terms_beside(_ZERO), rest)
    h = x - start
    # Both terms of the change have the sign of h.
    change = jnp.log1p(h / start) + h * jnp.polyval(jnp.array(_terms_beside(start), x.dtype), h)
    return change + at_start


@custom_jvp
def _expi(x: Any) -> Any:
    negative = x < 0
    below = -_exp1(jnp.where(negative, jnp.minimum(-x, 1e4), 1.0))
    limit = 40.0
    far = x > limit
    beside = (x > 0.1) & (x < 1)
    y = jnp.where(negative | far | beside, 1.0, x)
    near = _weighted_sum(jnp.ones_like(x), lambda k: (y / k, 1 / k)) + _EULER + jnp.log(y)
    near = jnp.where(beside, _beside_zero(jnp.where(beside, x, 0.5)), near)
    # exp overflows long before the bound.
    z = jnp.where(far, jnp.minimum(x, 1e4), 2 * limit)
    # The asymptotic series, whose terms fall up to the index 40.
    series = jnp.ones_like(z)
    for k in range(40, 0, -1):
        series = 1 + series * k / z
    # A half of the power, which overflows later.
    half = jnp.exp(z / 2)
    large = half * (half / z) * series
    value = jnp.where(negative, below, jnp.where(far, large, near))
    return jnp.where(jnp.isnan(x), np.nan, value)


_expi.defjvps(lambda t, y, x: jnp.exp(x) / x * t)


def expi(x: Any) -> Array:
    """The exponential integral Ei, the integral of ``exp(t) / t`` from minus infinity to x.

    Beside its zero, 0.3725, it is computed by its change from there (W. J. Cody and H. C. Thacher,
    "Chebyshev approximations for the exponential integral Ei(x)", 1969).

    >>> special.expi(jnp.array([1.0])).round(4)
    Array([1.8951], dtype=float32)
    """
    return _expi(*real("expi", x))


# ---------------------------------------------------------------- sine and cosine integrals


@custom_jvp
def _sici(x: Any) -> Any:
    size = jnp.abs(x)
    near = size <= 4
    y = jnp.where(near, size, 1.0)
    square = -y * y
    sine = y * (1 + _weighted_sum(jnp.ones_like(y), lambda k: _sine_ratio(k, square)))
    logarithm = jnp.log(jnp.where(y == 0, 1.0, y))
    cosine = _EULER + logarithm
    cosine = cosine + _weighted_sum(
        jnp.ones_like(y), lambda k: (square / (2 * k * (2 * k - 1)), 1 / (2 * k))
    )
    cosine = jnp.where(y == 0, -np.inf, cosine)
    # E_1(i x) = -Ci(x) + i (Si(x) - pi / 2)
    z = jnp.where(near | jnp.isinf(size), 8.0, size)
    wave = lax.complex(jnp.cos(z), -jnp.sin(z))
    both = wave * _continued_fraction(lax.complex(jnp.zeros_like(z), z), jnp.ones_like(z))
    endless = jnp.isinf(size)
    far_sine = math.pi / 2 + jnp.where(endless, 0.0, jnp.imag(both))
    far_cosine = jnp.where(endless, 0.0, -jnp.real(both))
    si = jnp.sign(x) * jnp.where(near, sine, far_sine)
    ci = jnp.where(x == -np.inf, np.nan, jnp.where(near, cosine, far_cosine))
    nothing = jnp.isnan(x)
    return jnp.where(nothing, np.nan, si), jnp.where(nothing, np.nan, ci)


def _sine_ratio(k: Any, square: Any) -> Any:
    return square / (2 * k * (2 * k + 1)), 1 / (2 * k + 1)


@_sici.defjvp
def _sici_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _sici(x), (jnp.sinc(x / math.pi) * t, jnp.cos(x) / x * t)


def sici(x: Any) -> tuple[Array, Array]:
    """The sine and the cosine integral; below 0 the latter is the real part.

    Float32 is computed in double precision. In float64 the cosine integral, which has zeros, is off
    by up to 8 units in the last place of 1.

    Returns:
        The integral of ``sin(t) / t`` from 0 to x, and of ``cos(t) / t`` from infinity to x.

    >>> jnp.stack(special.sici(jnp.array([1.0]))).round(4)
    Array([[0.9461],
           [0.3374]], dtype=float32)
    """
    return in_double(_sici, *real("sici", x))


# ----------------------------------------------------------------------------- dilogarithm


@functools.cache
def _spence_terms() -> Any:
    """Coefficients of the dilogarithm as a power series of ``-log(1 - z)``, highest first."""
    return np.array(
        [bernoulli_number(k) / math.factorial(k + 1) for k in range(0, 32, 2)][::-1], float
    )


@custom_jvp
def _spence(x: Any) -> Any:
    # The dilogarithm of 1 - x, by reflections from 1 - x between 0 and 1/2, and its series.
    inverted = x > 2
    y = jnp.where(inverted, 1 / jnp.where(inverted, x, 1.0), x)
    low = y < 0.5
    w = jnp.where(low, 1 - y, y)
    u = -jnp.log(jnp.where(w > 0, w, 1.0))
    terms = jnp.array(_spence_terms(), typeof(x).dtype)
    value = u * jnp.polyval(terms, u * u) - 0.25 * u * u
    both = jnp.log(jnp.where(low & (y > 0), y, 1.0)) * jnp.log1p(-jnp.where(low, y, 0.0))
    value = jnp.where(low, math.pi**2 / 6 - both - value, value)
    value = jnp.where(inverted, -0.5 * jnp.log(jnp.where(inverted, x, 1.0)) ** 2 - value, value)
    return jnp.where((x < 0) | jnp.isnan(x), np.nan, value)


def _spence_slope(x: Any) -> Any:
    near = jnp.abs(x - 1) < 1e-4
    away = jnp.where(near, 2.0, x)
    d = x - 1
    series = -1 + d / 2 - d * d / 3
    return jnp.where(near, series, jnp.log(away) / (1 - away))


_spence.defjvps(lambda t, y, x: t * _spence_slope(x))


def spence(x: Any) -> Array:
    """Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to x.

    Raises:
        TypeError: for another dtype than float32 and float64.

    >>> special.spence(jnp.array([0.0, 2.0])).round(4)
    Array([ 1.6449, -0.8225], dtype=float32)
    """
    x = jnp.asarray(x)
    if x.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"spence: x must be float32 or float64, but it is {x.dtype}.")
    return _spence(x)
