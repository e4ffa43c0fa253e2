"""The gamma distribution of shape ``a``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import log_probability, real
from bindax_scipy.special import gammainc, gammaincc, gammaln, xlogy

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.gamma.logpdf(jnp.array([1.0, 2.0]), 2.0).round(3)
    Array([-1.   , -1.307], dtype=float32)
    """
    x, a, loc, scale = real("gamma.logpdf", x, a, loc, scale)
    outside = x < loc
    z = jnp.where(outside, 1.0, (x - loc) / scale)
    value = xlogy(a - 1, z) - z - gammaln(a) - jnp.log(scale)
    return jnp.where(outside, -np.inf, value)


def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.gamma.pdf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([0.3679, 0.2707], dtype=float32)
    """
    x, a, loc, scale = real("gamma.pdf", x, a, loc, scale)
    # At 0 of a power of x its logarithm has no derivative.
    nothing = (x == loc) & (a > 1)
    density = jnp.exp(logpdf(jnp.where(nothing, loc + scale, x), a, loc, scale))
    return jnp.where(nothing, 0.0, density)


def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.gamma.cdf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([0.2642, 0.594 ], dtype=float32)
    """
    x, a, loc, scale = real("gamma.cdf", x, a, loc, scale)
    below = (x <= loc) & (a > 0)
    inside = gammainc(a, lax.clamp(0.0, jnp.where(below, 1.0, (x - loc) / scale), np.inf))
    return jnp.where(below, 0.0, inside)


def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.gamma.logcdf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([-1.3309, -0.5209], dtype=float32)
    """
    x, a, loc, scale = real("gamma.logcdf", x, a, loc, scale)
    return log_probability(cdf(x, a, loc, scale))


def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.gamma.sf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([0.7358, 0.406 ], dtype=float32)
    """
    x, a, loc, scale = real("gamma.sf", x, a, loc, scale)
    below = (x <= loc) & (a > 0)
    inside = gammaincc(a, lax.clamp(0.0, jnp.where(below, 1.0, (x - loc) / scale), np.inf))
    return jnp.where(below, 1.0, inside)


def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.gamma.logsf(jnp.array([1.0, 2.0]), 2.0).round(3)
    Array([-0.307, -0.901], dtype=float32)
    """
    x, a, loc, scale = real("gamma.logsf", x, a, loc, scale)
    return log_probability(sf(x, a, loc, scale))
