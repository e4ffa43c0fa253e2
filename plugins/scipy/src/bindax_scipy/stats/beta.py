"""The beta distribution of shapes ``a`` and ``b``, from ``loc`` to ``loc + scale``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import betainc, betaln, xlog1py, xlogy

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.beta.logpdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(3)
    Array([0.523, 0.405], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.logpdf", x, a, b, loc, scale)
    z = (x - loc) / scale
    value = xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b) - jnp.log(scale)
    value = jnp.where((x < loc) | (x > loc + scale), -np.inf, value)
    return jnp.where((a <= 0) | (b <= 0) | (scale <= 0), np.nan, value)


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.beta.pdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([1.6875, 1.5   ], dtype=float32)
    """
    return jnp.exp(logpdf(x, a, b, loc, scale))


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.beta.cdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([0.2617, 0.6875], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.cdf", x, a, b, loc, scale)
    return betainc(a, b, lax.clamp(0.0, (x - loc) / scale, 1.0))


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.beta.logcdf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([-1.3405, -0.3747], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.logcdf", x, a, b, loc, scale)
    return jnp.log(cdf(x, a, b, loc, scale))


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.beta.sf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(4)
    Array([0.7383, 0.3125], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.sf", x, a, b, loc, scale)
    return betainc(b, a, 1 - lax.clamp(0.0, (x - loc) / scale, 1.0))


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.beta.logsf(jnp.array([0.25, 0.5]), 2.0, 3.0).round(3)
    Array([-0.303, -1.163], dtype=float32)
    """
    x, a, b, loc, scale = real("beta.logsf", x, a, b, loc, scale)
    return jnp.log(sf(x, a, b, loc, scale))
