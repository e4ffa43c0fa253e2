"""The gamma distribution of shape ``a``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import gammainc, gammaincc, gammaln, xlogy

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.gamma.logpdf(jnp.array([1.0, 2.0]), 2.0).round(3)
    Array([-1.   , -1.307], dtype=float32)
    """
    x, a, loc, scale = real("gamma.logpdf", x, a, loc, scale)
    inside = x >= loc
    z = jnp.where(inside, (x - loc) / scale, 1.0)
    value = xlogy(a - 1, z) - z - gammaln(a) - jnp.log(scale)
    return jnp.where(inside, value, -np.inf)


def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.gamma.pdf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([0.3679, 0.2707], dtype=float32)
    """
    return jnp.exp(logpdf(x, a, loc, scale))


def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.gamma.cdf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([0.2642, 0.594 ], dtype=float32)
    """
    x, a, loc, scale = real("gamma.cdf", x, a, loc, scale)
    return gammainc(a, lax.clamp(0.0, (x - loc) / scale, np.inf))


def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.gamma.logcdf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([-1.3309, -0.5209], dtype=float32)
    """
    x, a, loc, scale = real("gamma.logcdf", x, a, loc, scale)
    return jnp.log(cdf(x, a, loc, scale))


def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.gamma.sf(jnp.array([1.0, 2.0]), 2.0).round(4)
    Array([0.7358, 0.406 ], dtype=float32)
    """
    x, a, loc, scale = real("gamma.sf", x, a, loc, scale)
    z = (x - loc) / scale
    return jnp.where(z < 0, 1.0, gammaincc(a, z))


def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.gamma.logsf(jnp.array([1.0, 2.0]), 2.0).round(3)
    Array([-0.307, -0.901], dtype=float32)
    """
    x, a, loc, scale = real("gamma.logsf", x, a, loc, scale)
    return jnp.log(sf(x, a, loc, scale))
