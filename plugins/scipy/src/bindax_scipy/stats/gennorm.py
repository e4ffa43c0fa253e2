"""The generalized normal distribution, ``exp(-|x| ** beta)`` normalized."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_numpy.extend import right_abs
from bindax_scipy._operands import aligned, real, settled
from bindax_scipy.special import gammaincc, gammaln
from bindax_transforms import custom_jvp, jvp

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Any, beta: Any) -> Array:
    """The logarithm of the density.

    >>> stats.gennorm.logpdf(jnp.array([0.0, 1.0]), 2.0).round(4)
    Array([-0.5724, -1.5724], dtype=float32)
    """
    x, beta = real("gennorm.logpdf", x, beta)
    return jnp.log(0.5 * beta) - gammaln(1 / beta) - right_abs(x) ** beta


def pdf(x: Any, beta: Any) -> Array:
    """The density.

    >>> stats.gennorm.pdf(jnp.array([0.0, 1.0]), 2.0).round(3)
    Array([0.564, 0.208], dtype=float32)
    """
    return jnp.exp(logpdf(x, beta))


def cdf(x: Any, beta: Any) -> Array:
    """The probability of at most ``x``.

    >>> jnp.round(stats.gennorm.cdf(jnp.array([0.0, 1.0]), 2.0), 3)
    Array([0.5  , 0.921], dtype=float32)
    """
    x, beta = real("gennorm.cdf", x, beta)
    return _cdf(*aligned(*settled(x, beta)))


def _probability(x: Any, beta: Any) -> Any:
    tail = 0.5 * gammaincc(1 / beta, right_abs(x) ** beta)
    return jnp.where(x < 0, tail, 1 - tail)


_cdf = custom_jvp(_probability)


def _slope_in_shape(t: Any, out: Any, x: Any, beta: Any) -> Any:
    """One half is below 0 for each shape."""
    zero = right_abs(x) ** beta == 0
    some = jnp.where(zero, 1.0, x)
    slope = jvp(lambda beta: _probability(some, beta), (beta,), (t,))[1]
    return jnp.where(zero, 0.0, slope)


_cdf.defjvps(lambda t, out, x, beta: t * pdf(x, beta), _slope_in_shape)
