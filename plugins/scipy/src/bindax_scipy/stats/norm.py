"""The normal distribution; ``loc`` is the mean, ``scale`` the standard deviation."""

from __future__ import annotations

import math
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import log_ndtr, ndtr, ndtri

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.norm.logpdf(jnp.array([0.0, 1.0])).round(4)
    Array([-0.9189, -1.4189], dtype=float32)
    """
    x, loc, scale = real("norm.logpdf", x, loc, scale)
    z = (x - loc) / scale
    return -0.5 * (z * z + jnp.log(2 * math.pi * scale * scale))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.norm.pdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.3989, 0.242 ], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.norm.cdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.8413], dtype=float32)
    """
    x, loc, scale = real("norm.cdf", x, loc, scale)
    return ndtr((x - loc) / scale)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.norm.logcdf(jnp.array([0.0, 1.0])).round(3)
    Array([-0.693, -0.173], dtype=float32)
    """
    x, loc, scale = real("norm.logcdf", x, loc, scale)
    return log_ndtr((x - loc) / scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.norm.sf(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.1587], dtype=float32)
    """
    x, loc, scale = real("norm.sf", x, loc, scale)
    return ndtr((loc - x) / scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.norm.logsf(jnp.array([0.0, 1.0])).round(3)
    Array([-0.693, -1.841], dtype=float32)
    """
    x, loc, scale = real("norm.logsf", x, loc, scale)
    return log_ndtr((loc - x) / scale)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``q``, the inverse of ``cdf``.

    >>> stats.norm.ppf(jnp.array([0.25, 0.5])).round(4)
    Array([-0.6745,  0.    ], dtype=float32)
    """
    q, loc, scale = real("norm.ppf", q, loc, scale)
    return ndtri(q) * scale + loc


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number above which the probability is ``q``, the inverse of ``sf``.

    >>> stats.norm.isf(jnp.array([0.25, 0.5])).round(4)
    Array([0.6745, 0.    ], dtype=float32)
    """
    q, loc, scale = real("norm.isf", q, loc, scale)
    return loc - ndtri(q) * scale
