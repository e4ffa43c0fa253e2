"""Gumbel's distribution of the largest of many numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.stats import gumbel_l

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.gumbel_r.logpdf(jnp.array([0.0, 1.0])).round(4)
    Array([-1.    , -1.3679], dtype=float32)
    """
    x, loc, scale = real("gumbel_r.logpdf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(scale > 0, -jnp.log(scale) - z - jnp.exp(-z), np.nan)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.gumbel_r.pdf(jnp.array([0.0, 1.0])).round(3)
    Array([0.368, 0.255], dtype=float32)
    """
    x, loc, scale = real("gumbel_r.pdf", x, loc, scale)
    return gumbel_l.pdf(-x, -loc, scale)


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.gumbel_r.cdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.3679, 0.6922], dtype=float32)
    """
    x, loc, scale = real("gumbel_r.cdf", x, loc, scale)
    return gumbel_l.sf(-x, -loc, scale)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.gumbel_r.logcdf(jnp.array([0.0, 1.0])).round(4)
    Array([-1.    , -0.3679], dtype=float32)
    """
    x, loc, scale = real("gumbel_r.logcdf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(scale > 0, -jnp.exp(-z), np.nan)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> jnp.round(stats.gumbel_r.sf(jnp.array([0.0, 1.0])), 3)
    Array([0.632, 0.308], dtype=float32)
    """
    x, loc, scale = real("gumbel_r.sf", x, loc, scale)
    return gumbel_l.cdf(-x, -loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> jnp.round(stats.gumbel_r.logsf(jnp.array([0.0, 1.0])), 3)
    Array([-0.459, -1.178], dtype=float32)
    """
    x, loc, scale = real("gumbel_r.logsf", x, loc, scale)
    return gumbel_l.logcdf(-x, -loc, scale)


def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``p``, the inverse of ``cdf``.

    >>> stats.gumbel_r.ppf(jnp.array([0.25, 0.5])).round(4)
    Array([-0.3266,  0.3665], dtype=float32)
    """
    p, loc, scale = real("gumbel_r.ppf", p, loc, scale)
    return jnp.where((p >= 0) & (p <= 1), loc - scale * jnp.log(-jnp.log(p)), np.nan)
