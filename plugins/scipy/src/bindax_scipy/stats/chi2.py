"""The chi-square distribution of ``df`` degrees of freedom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import log_probability, real
from bindax_scipy.special import gammainc, gammaincc, gammaln, xlogy
from bindax_scipy.stats import gamma

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.chi2.logpdf(jnp.array([1.0, 2.0]), 3.0).round(4)
    Array([-1.4189, -1.5724], dtype=float32)
    """
    x, df, loc, scale = real("chi2.logpdf", x, df, loc, scale)
    below = x < loc
    z = jnp.where(below, 1.0, (x - loc) / scale)
    half = df / 2
    value = xlogy(half - 1, z) - z / 2 - gammaln(half) - math.log(2) * half
    return jnp.where(below, -np.inf, value - jnp.log(scale))


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.chi2.pdf(jnp.array([1.0, 2.0]), 3.0).round(3)
    Array([0.242, 0.208], dtype=float32)
    """
    x, df, loc, scale = real("chi2.pdf", x, df, loc, scale)
    return gamma.pdf(x, df / 2, loc, 2 * scale)


def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.chi2.cdf(jnp.array([1.0, 2.0]), 3.0).round(3)
    Array([0.199, 0.428], dtype=float32)
    """
    x, df, loc, scale = real("chi2.cdf", x, df, loc, scale)
    below = (x <= loc) & (df > 0)
    z = jnp.where(below, 1.0, (x - loc) / (2 * scale))
    inside = gammainc(df / 2, lax.clamp(0.0, z, np.inf))
    return jnp.where(below, 0.0, inside)


def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.chi2.logcdf(jnp.array([1.0, 2.0]), 3.0).round(4)
    Array([-1.6157, -0.8496], dtype=float32)
    """
    x, df, loc, scale = real("chi2.logcdf", x, df, loc, scale)
    return log_probability(cdf(x, df, loc, scale))


def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.chi2.sf(jnp.array([1.0, 2.0]), 3.0).round(3)
    Array([0.801, 0.572], dtype=float32)
    """
    x, df, loc, scale = real("chi2.sf", x, df, loc, scale)
    below = (x <= loc) & (df > 0)
    z = jnp.where(below, 1.0, (x - loc) / (2 * scale))
    inside = gammaincc(df / 2, lax.clamp(0.0, z, np.inf))
    return jnp.where(below, 1.0, inside)


def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.chi2.logsf(jnp.array([1.0, 2.0]), 3.0).round(4)
    Array([-0.2216, -0.5579], dtype=float32)
    """
    x, df, loc, scale = real("chi2.logsf", x, df, loc, scale)
    return log_probability(sf(x, df, loc, scale))
