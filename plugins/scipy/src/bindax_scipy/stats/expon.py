"""The exponential distribution from ``loc`` on, with mean ``loc + scale``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_nn import log1mexp
from bindax_scipy._operands import real

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.expon.logpdf(jnp.array([1.0, 2.0]))
    Array([-1., -2.], dtype=float32)
    """
    x, loc, scale = real("expon.logpdf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(x < loc, -np.inf, -z - jnp.log(scale))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.expon.pdf(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.3679], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.expon.cdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.6321], dtype=float32)
    """
    x, loc, scale = real("expon.cdf", x, loc, scale)
    z = jnp.where(x < loc, 0.0, (x - loc) / scale)
    return -jnp.expm1(-z)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> jnp.round(stats.expon.logcdf(jnp.array([0.0, 1.0])), 3)
    Array([  -inf, -0.459], dtype=float32)
    """
    x, loc, scale = real("expon.logcdf", x, loc, scale)
    inside = x > loc
    z = jnp.where(inside, (x - loc) / scale, 1.0)
    value = jnp.where(jnp.isnan(x), np.nan, -np.inf)
    return jnp.where(inside, log1mexp(z), value)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.expon.sf(jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.3679], dtype=float32)
    """
    x, loc, scale = real("expon.sf", x, loc, scale)
    return jnp.exp(logsf(x, loc, scale))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.expon.logsf(jnp.array([1.0, 2.0]))
    Array([-1., -2.], dtype=float32)
    """
    x, loc, scale = real("expon.logsf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(x < loc, 0.0, -z)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``q``, the inverse of ``cdf``.

    >>> stats.expon.ppf(jnp.array([0.25, 0.5])).round(3)
    Array([0.288, 0.693], dtype=float32)
    """
    q, loc, scale = real("expon.ppf", q, loc, scale)
    return jnp.where((q >= 0) & (q <= 1), loc - scale * jnp.log1p(-q), np.nan)
