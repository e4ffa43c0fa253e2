"""Cauchy's distribution around ``loc``, of width ``scale``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.cauchy.logpdf(jnp.array([0.0, 1.0])).round(4)
    Array([-1.1447, -1.8379], dtype=float32)
    """
    x, loc, scale = real("cauchy.logpdf", x, loc, scale)
    z = (x - loc) / scale
    # The square of a large number can be infinite, where its logarithm is not.
    large = jnp.abs(z) > 2.0**27
    near = jnp.log1p(jnp.square(jnp.where(large, 0.0, z)))
    value = jnp.where(large, 2 * jnp.log(jnp.abs(jnp.where(large, z, 1.0))), near)
    return -(jnp.log(math.pi * scale) + value)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.cauchy.pdf(jnp.array([0.0, 1.0])).round(3)
    Array([0.318, 0.159], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.cauchy.cdf(jnp.array([0.0, 1.0])).round(3)
    Array([0.5 , 0.75], dtype=float32)
    """
    x, loc, scale = real("cauchy.cdf", x, loc, scale)
    return jnp.arctan2(1.0, (loc - x) / scale) / math.pi


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> jnp.round(stats.cauchy.logcdf(jnp.array([0.0, 1.0])), 3)
    Array([-0.693, -0.288], dtype=float32)
    """
    x, loc, scale = real("cauchy.logcdf", x, loc, scale)
    right = x > loc
    above = jnp.log1p(-cdf(jnp.where(right, -x, -loc), -loc, scale))
    return jnp.where(right, above, jnp.log(cdf(jnp.where(right, loc, x), loc, scale)))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.cauchy.sf(jnp.array([0.0, 1.0])).round(3)
    Array([0.5 , 0.25], dtype=float32)
    """
    x, loc, scale = real("cauchy.sf", x, loc, scale)
    return cdf(-x, -loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.cauchy.logsf(jnp.array([0.0, 1.0])).round(3)
    Array([-0.693, -1.386], dtype=float32)
    """
    x, loc, scale = real("cauchy.logsf", x, loc, scale)
    return logcdf(-x, -loc, scale)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``q``, the inverse of ``cdf``.

    >>> stats.cauchy.ppf(jnp.array([0.25, 0.5]))
    Array([-1.,  0.], dtype=float32)
    """
    q, loc, scale = real("cauchy.ppf", q, loc, scale)
    return loc + _standard_ppf(q) * scale


def _standard_ppf(q: Any) -> Any:
    """The inverse of the standard ``cdf``, precise at both ends."""
    low, high = q < 0.25, q > 0.75
    middle = jnp.tan(math.pi * (jnp.where(low | high, 0.5, q) - 0.5))
    tail = jnp.where(high, 1.0, -1.0) / jnp.tan(math.pi * jnp.where(high, 1 - q, q))
    return jnp.where((q >= 0) & (q <= 1), jnp.where(low | high, tail, middle), np.nan)


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number above which the probability is ``q``, the inverse of ``sf``.

    >>> stats.cauchy.isf(jnp.array([0.25, 0.5]))
    Array([1., 0.], dtype=float32)
    """
    q, loc, scale = real("cauchy.isf", q, loc, scale)
    return loc - _standard_ppf(q) * scale
