"""Logarithms with their limits: entropies, logits, powers by Box and Cox."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_nn import normalization
from bindax_scipy._operands import aligned, in_double, promoted, real
from bindax_transforms import custom_jvp


@custom_jvp
def _logit(x: Any) -> Any:
    # Near 1/2, its zero, the quotient is rounded to numbers near 1.
    near = jnp.abs(x - 0.5) < 0.25
    middle = jnp.where(near, x, 0.5)
    return jnp.where(near, jnp.log1p((2 * middle - 1) / (1 - middle)), jnp.log(x / (1 - x)))


_logit.defjvps(lambda t, out, x: t / (x * (1 - x)))


def logit(x: Any) -> Array:
    """``log(x / (1 - x))``, the inverse of ``expit``.

    >>> special.logit(jnp.array([0.5, 0.75])).round(4)
    Array([0.    , 1.0986], dtype=float32)
    """
    return _logit(*promoted("logit", x))


def expit(x: Any) -> Array:
    """``1 / (1 + exp(-x))``, the logistic function.

    >>> special.expit(jnp.array([0.0]))
    Array([0.5], dtype=float32)
    """
    return lax.logistic(*promoted("expit", x))


@custom_jvp
def _xlogy(x: Any, y: Any) -> Any:
    counts = (x != 0) | jnp.isnan(y)
    return jnp.where(counts, x * jnp.log(jnp.where(counts, y, 1)), jnp.zeros_like(x))


def _quotient(x: Any, y: Any) -> Any:
    """``x / y``, 0 of two zeros."""
    nothing = (x == 0) & (y == 0)
    return jnp.where(nothing, 0.0, x / jnp.where(nothing, 1.0, y))


_xlogy.defjvps(lambda t, out, x, y: t * jnp.log(y), lambda t, out, x, y: t * _quotient(x, y))


def xlogy(x: Any, y: Any) -> Array:
    """``x log(y)``, 0 where ``x`` is 0, unless ``y`` is nan.

    >>> special.xlogy(jnp.array([0.0, 2.0]), jnp.array([0.0, 1.0]))
    Array([0., 0.], dtype=float32)
    """
    return _xlogy(*aligned(*promoted("xlogy", x, y)))


@custom_jvp
def _xlog1py(x: Any, y: Any) -> Any:
    counts = (x != 0) | jnp.isnan(y)
    return jnp.where(counts, x * jnp.log1p(jnp.where(counts, y, 0)), jnp.zeros_like(x))


_xlog1py.defjvps(
    lambda t, out, x, y: t * jnp.log1p(y), lambda t, out, x, y: t * _quotient(x, 1 + y)
)


def xlog1py(x: Any, y: Any) -> Array:
    """``x log(1 + y)``, 0 where ``x`` is 0, unless ``y`` is nan.

    >>> special.xlog1py(jnp.array([0.0, 2.0]), jnp.array([-1.0, 0.0]))
    Array([0., 0.], dtype=float32)
    """
    return _xlog1py(*aligned(*promoted("xlog1py", x, y)))


@custom_jvp
def _xlogx(x: Any) -> Any:
    return _xlogy(x, x)


_xlogx.defjvps(lambda t, out, x: t * (jnp.log(x) + 1))


def entr(x: Any) -> Array:
    """``-x log(x)``, 0 at 0 and ``-inf`` below.

    >>> special.entr(jnp.array([-1.0, 0.5])).round(4)
    Array([  -inf, 0.3466], dtype=float32)
    """
    (x,) = real("entr", x)
    return jnp.where(x < 0, -np.inf, -_xlogx(x))


@custom_jvp
def _entropy(p: Any, q: Any) -> Any:
    """``p log(p / q)`` of positive numbers."""
    near = jnp.abs(p - q) < 0.5 * q
    safe_p, safe_q = jnp.where(near, p, 1.0), jnp.where(near, q, 1.0)
    ratio = p / q
    # Where the quotient is out of range, the logarithms are far apart.
    plain = (ratio > 1e-30) & (ratio < 1e30)
    far = jnp.where(plain, jnp.log(jnp.where(plain, ratio, 1.0)), jnp.log(p) - jnp.log(q))
    return p * jnp.where(near, jnp.log1p((safe_p - safe_q) / safe_q), far)


_entropy.defjvps(lambda t, out, p, q: t * (out / p + 1), lambda t, out, p, q: -t * p / q)


def rel_entr(p: Any, q: Any) -> Array:
    """``p log(p / q)``, 0 where ``p`` is 0, and infinite where it has no value.

    >>> special.rel_entr(jnp.array([0.0, 1.0]), jnp.array([0.5, 0.0]))
    Array([ 0., inf], dtype=float32)
    """
    p, q = aligned(*real("rel_entr", p, q))
    positive = (p > 0) & (q > 0)
    safe_p, safe_q = jnp.where(positive, p, 1), jnp.where(positive, q, 1)
    return jnp.where(
        positive, _entropy(safe_p, safe_q), jnp.where((p == 0) & (q >= 0), 0.0, np.inf)
    )


@custom_jvp
def _divergence(p: Any, q: Any) -> Any:
    """``p log(p / q) - p + q`` of positive numbers beside each other, whose difference is exact.

    With ``t = q / p - 1`` it is ``p (t - log(1 + t))``. With ``s = t / (2 + t)`` the logarithm is
    ``2 atanh(s)``, of whose series the first term leaves ``t s``.
    """
    t = (q - p) / p
    s = t / (2 + t)
    terms = jnp.array([2 / (2 * k + 3) for k in range(16, -1, -1)], typeof(s).dtype)
    return p * s * (t - s * s * jnp.polyval(terms, s * s))


_divergence.defjvps(
    lambda t, out, p, q: -jnp.log1p((q - p) / p) * t, lambda t, out, p, q: (q - p) / q * t
)


def kl_div(p: Any, q: Any) -> Array:
    """``p log(p / q) - p + q``, the summands of a Kullback-Leibler divergence.

    Float32 is computed in double precision; in float64 results are right to sixteen units in the
    last place.

    >>> special.kl_div(jnp.array([1.0]), 1.0)
    Array([0.], dtype=float32)
    """
    p, q = aligned(*real("kl_div", p, q))
    return in_double(_kl_div, p, q)


def _kl_div(p: Any, q: Any) -> Any:
    near = (p > 0) & (jnp.abs(q - p) < 0.5 * p)
    safe_p, safe_q = jnp.where(near, p, 1), jnp.where(near, q, 1)
    return jnp.where(near, _divergence(safe_p, safe_q), rel_entr(p, q) - p + q)


def _power(base: Any, logarithm: Any, lmbda: Any, rest: Any = 0.0) -> Any:
    """``(base (1 + rest)) ** lmbda - 1`` over ``lmbda``, with the logarithm of the base.

    ``rest`` is what the base lacks by rounding, relative to it.
    """
    product = lmbda * logarithm
    # The series, of which all derivatives are right; it holds for no infinite logarithm.
    near = (jnp.abs(product) < 0.1) | (lmbda == 0)
    small = jnp.where(near & jnp.isfinite(logarithm), product, 0.0)
    terms = [1 / math.factorial(k) for k in range(12, 0, -1)]
    series = logarithm * jnp.polyval(jnp.array(terms, small.dtype), small)
    safe = jnp.where(near, 1.0, lmbda)
    value = jnp.where(near, series, jnp.expm1(safe * logarithm) / safe)
    # The exponential of a large product is less exact than the power, whose root does not overflow.
    far = (jnp.abs(product) > 1) & jnp.isfinite(product)
    exponent = jnp.where(far, lmbda, 1.0)
    root = jnp.where(far, base, 1.0) ** (exponent / 2)
    power = root * (root / exponent) * (1 + exponent * rest)
    value = jnp.where(far, power - 1 / exponent, value)
    # The logarithm of zero is infinite, its powers are not.
    zero, none = base == 0, lmbda == 0
    of_zero = (jnp.where(zero, base, 1.0) ** lmbda - 1) / jnp.where(none, 1.0, lmbda)
    return jnp.where(zero, jnp.where(none, -np.inf, of_zero), value)


def boxcox(x: Any, lmbda: Any) -> Array:
    """``(x ** lmbda - 1) / lmbda``, and ``log(x)`` where ``lmbda`` is 0.

    >>> special.boxcox(jnp.array([3.0]), 2.0).round(3)
    Array([4.], dtype=float32)
    """
    x, lmbda = promoted("boxcox", x, lmbda)
    return _power(x, jnp.log(jnp.where(x == 0, 1.0, x)), lmbda)


def boxcox1p(x: Any, lmbda: Any) -> Array:
    """``boxcox(1 + x, lmbda)``, precise for small ``x``.

    >>> special.boxcox1p(jnp.array([2.0]), 2.0).round(3)
    Array([4.], dtype=float32)
    """
    x, lmbda = promoted("boxcox1p", x, lmbda)
    base = 1 + x
    # What the sum lost by rounding, which is exact where the smaller number is taken from it last.
    # Without a barrier, compilers would make ``x`` of the difference.
    held = lax.optimization_barrier(base)
    lost = jnp.where(jnp.abs(x) < 1, x - (held - 1), 1 - (held - x))
    inside = jnp.isfinite(base) & (base != 0)
    rest = jnp.where(inside, lost / jnp.where(inside, base, 1.0), 0.0)
    return _power(base, jnp.log1p(jnp.where(x == -1, 0.0, x)), lmbda, lax.stop_gradient(rest))


def softmax(x: Any, /, *, axis: Any = None) -> Array:
    """``exp(x)`` divided by its sum along axes, without overflow.

    >>> special.softmax(jnp.array([1000.0, 1000.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    return normalization.softmax(x, axis)


def log_softmax(x: Any, /, *, axis: Any = None) -> Array:
    """The logarithm of ``softmax``, also of probabilities too small to represent.

    >>> special.log_softmax(jnp.array([0.0, -1000.0]))
    Array([    0., -1000.], dtype=float32)
    """
    return normalization.log_softmax(x, axis)
