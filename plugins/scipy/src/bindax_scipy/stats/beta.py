"""The beta distribution of shapes ``a`` and ``b``, from ``loc`` to ``loc + scale``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import log_probability, real
from bindax_scipy.special import betainc, betaln, xlog1py, xlogy

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.beta.logpdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(3)
    Array([0.523, 0.405], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.logpdf", x, a, b, loc, scale)
    outside = (x < loc) | (x > loc + scale)
    z = jnp.where(outside, 0.5, (x - loc) / scale)
    value = xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b) - jnp.log(scale)
    value = jnp.where(outside, -np.inf, value)
    return jnp.where((a <= 0) | (b <= 0) | (scale <= 0), np.nan, value)


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.beta.pdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([1.6875, 1.5   ], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.pdf", x, a, b, loc, scale)
    # At 0 of a power its logarithm has no derivative.
    nothing = (scale > 0) & ((x == loc) & (a > 1) | (x == loc + scale) & (b > 1))
    density = jnp.exp(logpdf(jnp.where(nothing, loc + scale / 2, x), a, b, loc, scale))
    return jnp.where(nothing, 0.0, density)


def _inside(x: Any, a: Any, b: Any, loc: Any, scale: Any) -> tuple[Any, Any, Any]:
    """Where numbers are below the support or at its begin, where above; and their places in it."""
    valid = (a > 0) & (b > 0) & (scale > 0)
    below, above = valid & (x <= loc), valid & (x >= loc + scale)
    z = jnp.where(below | above, 0.5, (x - loc) / scale)
    return below, above, lax.clamp(0.0, z, 1.0)


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.beta.cdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([0.2617, 0.6875], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.cdf", x, a, b, loc, scale)
    below, above, z = _inside(x, a, b, loc, scale)
    return jnp.where(below, 0.0, jnp.where(above, 1.0, betainc(a, b, z)))


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.beta.logcdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([-1.3405, -0.3747], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.logcdf", x, a, b, loc, scale)
    return log_probability(cdf(x, a, b, loc, scale))


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.beta.sf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([0.7383, 0.3125], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.sf", x, a, b, loc, scale)
    below, above, z = _inside(x, a, b, loc, scale)
    return jnp.where(below, 1.0, jnp.where(above, 0.0, betainc(b, a, 1 - z)))


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.beta.logsf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(3)
    Array([-0.303, -1.163], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.logsf", x, a, b, loc, scale)
    return log_probability(sf(x, a, b, loc, scale))
