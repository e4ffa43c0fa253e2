"""Gamma functions, factorials, the zeta function and Bernoulli's numbers."""

from __future__ import annotations

import functools
import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
import bindax_special as base
from bindax_control_flow import while_loop
from bindax_core.extend import Array, typeof
from bindax_scipy._operands import aligned, is_double, largest, promoted, real, settled
from bindax_transforms import custom_jvp, jvp

# ------------------------------------------------------------------------ gamma


def gammaln(x: Any) -> Array:
    """The logarithm of the absolute value of the gamma function.

    >>> jnp.round(special.gammaln(jnp.array([1.0, 5.0])), 3)
    Array([0.   , 3.178], dtype=float32)
    """
    return base.lgamma(*real("gammaln", x))


def gammasgn(x: Any) -> Array:
    """The sign of the gamma function: nan at its poles but 0, where it is the sign of 0.

    >>> special.gammasgn(jnp.array([-0.5, 0.5]))
    Array([-1.,  1.], dtype=float32)
    """
    (x,) = settled(*real("gammasgn", x))
    below = jnp.floor(x)
    sign = jnp.where((x < 0) & (below % 2 != 0) | (x == 0) & jnp.signbit(x), -1.0, 1.0)
    return jnp.where((x < 0) & (x == below) | jnp.isnan(x), np.nan, sign).astype(x.dtype)


def gamma(x: Any) -> Array:
    """The gamma function, of real or complex numbers.

    >>> jnp.round(special.gamma(jnp.array([0.5, 5.0])), 3)
    Array([ 1.772, 24.   ], dtype=float32)
    """
    (x,) = settled(*promoted("gamma", x))
    if jnp.iscomplexobj(x):
        return jnp.exp(loggamma(x))
    return _of_any_width(_gamma, x)


def _of_any_width(function: Any, x: Any) -> Any:
    """A function of float32 and float64, of narrower types by way of float32."""
    wide = lax.convert_element_type(x, np.promote_types(x.dtype, np.float32))
    return lax.convert_element_type(function(wide), x.dtype)


@custom_jvp
def _gamma(x: Any) -> Any:
    """By Stirling's formula, by recurrence to numbers around 2, and by reflection.

    The exponential function of its logarithm would be off by as many units as that is large.
    """
    left = x < 0.5
    far = x <= -0.5
    z = jnp.where(left, jnp.where(far, -x, 1.0), x)
    large = z >= STIRLING_FROM
    value = jnp.where(large, _gamma_large(jnp.where(large, z, STIRLING_FROM)), 1.0)
    near = jnp.abs(x) < 0.5
    moderate = _gamma_moderate(jnp.where(near, 1 + x, jnp.where(large, 2.0, z)))
    value = jnp.where(large, value, moderate)
    by_step = moderate / jnp.where(near, x, 1.0)
    whole = jnp.round(x)
    sine = (1 - 2 * jnp.abs(whole % 2)) * jnp.sin(math.pi * (x - whole))
    pole = (x < 0) & (x == whole)
    # gamma(x) gamma(-x) = -pi / (x sin(pi x)), as 1 - x would be rounded.
    safe = far & ~pole
    reflected = -math.pi / jnp.where(safe, sine, 1.0) / jnp.where(safe, x, 1.0) / value
    reflected = jnp.where(pole | (x == -np.inf), np.nan, reflected)
    return jnp.where(near, by_step, jnp.where(left, reflected, value))


_gamma.defjvps(lambda t, out, x: out * base.digamma(x) * t)


def _gamma_large(x: Any) -> Any:
    """Stirling's formula; its power in two factors, as it overflows before the function does."""
    x = jnp.clip(x, max=180.0 if is_double(x) else 40.0)  # there it is infinite, and they are not
    root = x ** (0.5 * x - 0.25)
    return root * jnp.exp(-x) * root * (math.sqrt(2 * math.pi) * jnp.exp(stirling(x)))


def _gamma_moderate(x: Any) -> Any:
    """From 1/2 to 8."""
    t, product = x - 2, jnp.ones_like(x)
    for _ in range(6):
        far = t > 0.5
        product = jnp.where(far, product * (t + 1), product)
        t = jnp.where(far, t - 1, t)
    low = t < -0.5
    product = jnp.where(low, product / (t + 2), product)
    return product * jnp.exp(base.lgamma(2 + jnp.where(low, t + 1, t)))


def loggamma(x: Any) -> Array:
    """The logarithm of the gamma function, analytic outside the negative real axis.

    Args:
        x: real numbers, for which the result is nan unless they are positive, or complex ones.

    Complex numbers are moved to real parts above 7 by the recurrence, where Stirling's series holds
    (Hare, "Computing the principal branch of log-gamma", 1997).

    >>> special.loggamma(jnp.array([-0.5, 5.0])).round(3)
    Array([  nan, 3.178], dtype=float32)
    """
    (x,) = promoted("loggamma", x)
    if not jnp.iscomplexobj(x):
        return jnp.where(x > 0, base.lgamma(x), np.nan)
    return _complex_loggamma(x)


# Bernoulli numbers B_2k over 2k (2k - 1).
_STIRLING = [
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
]
STIRLING_FROM = 8.0


def stirling(z: Any) -> Any:
    """Return the remainder of Stirling's formula for the logarithm of gamma, from about 8 on."""
    return jnp.polyval(jnp.array(_STIRLING[::-1], typeof(z).dtype), 1 / (z * z)) / z


@custom_jvp
def _complex_loggamma(z: Any) -> Any:
    pole = (jnp.imag(z) == 0) & (jnp.real(z) <= 0) & (jnp.real(z) == jnp.floor(jnp.real(z)))
    z = jnp.where(pole, np.nan, z)
    steps = jnp.clip(jnp.ceil(STIRLING_FROM - jnp.real(z)), 0)
    steps = jnp.where(jnp.abs(jnp.imag(z)) > 2 * STIRLING_FROM, 0 * steps, steps)

    def unfinished(state: Any) -> Any:
        k, _ = state
        return jnp.any(k < steps)

    def step(state: Any) -> Any:
        k, total = state
        term = jnp.log(z + k.astype(z.dtype))
        return k + 1, total + jnp.where(k < steps, term, 0)

    _, total = while_loop(unfinished, step, (jnp.zeros((), steps.dtype), jnp.zeros_like(z)))
    w = z + steps.astype(z.dtype)
    half = 0.5 * math.log(2 * math.pi)
    return (w - 0.5) * jnp.log(w) - w + half + stirling(w) - total


@_complex_loggamma.defjvp
def _complex_loggamma_jvp(primals: Any, tangents: Any) -> Any:
    (z,), (t,) = primals, tangents
    return _complex_loggamma(z), t * _complex_digamma(z)


def _complex_digamma(z: Any) -> Any:
    """The derivative of ``loggamma``; the reflection formula gives it in the left half-plane."""
    left = jnp.real(z) < 0
    value = _right_digamma(jnp.where(left, 1 - z, z))
    return jnp.where(left, value - math.pi / jnp.tan(math.pi * jnp.where(left, z, 0.5)), value)


def _right_digamma(z: Any) -> Any:
    """Eight steps of the recurrence, then the derivative of Stirling's series."""
    w = z + STIRLING_FROM
    total = sum(1 / (z + k) for k in range(int(STIRLING_FROM)))
    terms = [-(2 * k + 1) * c for k, c in enumerate(_STIRLING)]
    powers = 1 / (w * w)
    series = jnp.polyval(jnp.array(terms[::-1], typeof(z).dtype), powers) * powers
    return jnp.log(w) - 0.5 / w + series - total


def digamma(x: Any) -> Array:
    """The derivative of the logarithm of the gamma function.

    >>> jnp.round(special.digamma(jnp.array([1.0, 2.0])), 3)
    Array([-0.577,  0.423], dtype=float32)
    """
    return base.digamma(*real("digamma", x))


def polygamma(n: Any, x: Any) -> Array:
    """The derivative of order ``n`` of ``digamma``.

    Args:
        n: integers.
        x: an array of real numbers.

    Raises:
        ValueError: when ``n`` are not integers.

    >>> special.polygamma(1, jnp.array([1.0])).round(4)
    Array([1.6449], dtype=float32)
    """
    aval = typeof(n)
    if not jnp.issubdtype(aval.dtype, np.integer):
        raise ValueError(f"polygamma: n must be integers, but it is {aval.str_short()}.")
    n, x = aligned(*real("polygamma", n, x))
    return base.polygamma(n, x)


def multigammaln(a: Any, d: int) -> Array:
    """The logarithm of the gamma function of ``d`` dimensions.

    Args:
        a: an array of real numbers above ``(d - 1) / 2``.
        d: an integer.

    >>> special.multigammaln(jnp.array([2.0]), 2).round(4)
    Array([0.4516], dtype=float32)
    """
    d = operator.index(d)
    (a,) = settled(*real("multigammaln", a))
    shifts = jnp.reshape(jnp.arange(d, dtype=a.dtype) / 2, (1,) * a.ndim + (d,))
    total = jnp.sum(base.lgamma(jnp.expand_dims(a, -1) - shifts), axis=-1)
    return total + d * (d - 1) / 4 * math.log(math.pi)


def gammainc(a: Any, x: Any) -> Array:
    """The regularized lower incomplete gamma function.

    >>> special.gammainc(jnp.array([1.0]), 1.0).round(4)
    Array([0.6321], dtype=float32)
    """
    return base.igamma(*aligned(*real("gammainc", a, x)))


def gammaincc(a: Any, x: Any) -> Array:
    """The regularized upper incomplete gamma function.

    >>> special.gammaincc(jnp.array([1.0]), 1.0).round(4)
    Array([0.3679], dtype=float32)
    """
    return base.igammac(*aligned(*real("gammaincc", a, x)))


# --------------------------------------------------------------- factorials


def factorial(n: Any, exact: bool = False) -> Array:
    """``n!``, by the gamma function; 0 for negative numbers.

    Args:
        n: an array of numbers.
        exact: must be False; integers of any size are no elements of arrays.

    Raises:
        ValueError: for ``exact=True``.

    >>> jnp.round(special.factorial(jnp.array([0.0, 3.0])), 3)
    Array([1., 6.], dtype=float32)
    """
    if exact:
        raise ValueError(
            "factorial: exact must be False, as arrays have no integers of any size; use "
            "math.factorial for single numbers."
        )
    (n,) = real("factorial", n)
    negative = n < 0
    # n gamma(n), where a sum n + 1 would be rounded.
    large = n >= 1
    value = jnp.where(large, n, jnp.where(negative, 0.0, n) + 1)
    value = jnp.where(large, n, 1.0) * gamma(value)
    return jnp.where(negative, 0, value)


# ------------------------------------------------------------------- zeta and Bernoulli


@functools.cache
def _bernoulli_numbers(n: int) -> tuple[Fraction, ...]:
    """B_0 to B_n exactly, by their recurrence."""
    found = [Fraction(1)]
    for m in range(1, n + 1):
        total = sum((math.comb(m + 1, k) * found[k] for k in range(m)), Fraction(0))
        found.append(-total / (m + 1))
    return tuple(found)


def bernoulli_number(n: int) -> float:
    """The Bernoulli number of an index."""
    return float(_bernoulli_numbers(n)[n])


def bernoulli(n: int) -> Array:
    """Bernoulli's numbers from B_0 to B_n, computed exactly and then rounded.

    Raises:
        ValueError: when ``n`` is negative.

    >>> special.bernoulli(4).round(4)
    Array([ 1.    , -0.5   ,  0.1667,  0.    , -0.0333], dtype=float32)
    """
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"bernoulli: n must not be negative, but it is {n}.")
    exact = [float(b) for b in _bernoulli_numbers(min(n, _LAST_FINITE))]
    # Beyond, odd ones are zero, and the signs of even ones alternate.
    rest = np.arange(_LAST_FINITE + 1, n + 1)
    signs = np.where(rest % 4 == 2, math.inf, -math.inf)
    return jnp.array(np.concatenate([exact, np.where(rest % 2, 0.0, signs)]), jnp.float_)


_LAST_FINITE = 258
"""Index of the last of Bernoulli's numbers that a float64 holds."""


@custom_jvp
def _zeta(x: Any, q: Any) -> Any:
    return base.zeta(x, q)


def _zeta_series(s: Any, a: Any) -> Any:
    """The formula of Euler and Maclaurin, which can be differentiated.

    Johansson, "Rigorous high-precision computation of the Hurwitz zeta function", 2015.
    """
    count = 16 if is_double(a) else 8
    end = a + count
    total = sum((a + k) ** -s for k in range(count))
    numbers = _bernoulli_numbers(2 * count)
    tail, product = 0.5 + jnp.zeros_like(s), jnp.ones_like(s)
    for m in range(1, count + 1):
        product = jnp.clip(product * (s + (2 * m - 2)) / end, max=largest(a))
        tail = tail + product * float(numbers[2 * m] / math.factorial(2 * m))
        product = jnp.clip(product * (s + (2 * m - 1)) / end, max=largest(a))
    return total + end ** (1 - s) / (s - 1) + end**-s * tail


@_zeta.defjvp
def _zeta_jvp(primals: Any, tangents: Any) -> Any:
    value, slope = _zeta(*primals), jvp(_zeta_series, primals, tangents)[1]
    return value, jnp.where(jnp.isnan(value), np.nan, slope)


def zeta(x: Any, q: Any = None) -> Array:
    """Hurwitz's zeta function, the sum of ``(k + q) ** -x`` for k from 0 on.

    Args:
        x: real numbers above 1.
        q: positive real numbers; 1 by default, which gives Riemann's zeta function.

    >>> special.zeta(jnp.array([2.0]), 1.0).round(4)
    Array([1.6449], dtype=float32)
    """
    return _zeta(*aligned(*real("zeta", x, 1.0 if q is None else q)))
