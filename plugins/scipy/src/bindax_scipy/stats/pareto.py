"""Pareto's distribution: a power ``b`` from ``loc + scale`` on."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _inside(x: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
    """Where numbers are below all that occur; and the numbers in units of the least, 2 there."""
    below = x < loc + scale
    return below, jnp.where(below, 2.0, (x - loc) / scale)


def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.pareto.logpdf(jnp.array([1.5, 2.0]), 2.0).round(3)
    Array([-0.523, -1.386], dtype=float32)
    """
    x, b, loc, scale = real("pareto.logpdf", x, b, loc, scale)
    below, z = _inside(x, loc, scale)
    value = jnp.log(b / scale) - (b + 1) * jnp.log(z)
    return jnp.where(below, -np.inf, value)


def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.pareto.pdf(jnp.array([1.5, 2.0]), 2.0).round(4)
    Array([0.5926, 0.25  ], dtype=float32)
    """
    return jnp.exp(logpdf(x, b, loc, scale))


def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.pareto.cdf(jnp.array([1.5, 2.0]), 2.0).round(4)
    Array([0.5556, 0.75  ], dtype=float32)
    """
    x, b, loc, scale = real("pareto.cdf", x, b, loc, scale)
    below, z = _inside(x, loc, scale)
    return jnp.where(below, 0.0, 1 - z**-b)


def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.pareto.logcdf(jnp.array([1.5, 2.0]), 2.0).round(4)
    Array([-0.5878, -0.2877], dtype=float32)
    """
    x, b, loc, scale = real("pareto.logcdf", x, b, loc, scale)
    below, z = _inside(x, loc, scale)
    return jnp.where(below, -np.inf, jnp.log1p(-(z**-b)))


def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.pareto.sf(jnp.array([1.5, 2.0]), 2.0).round(4)
    Array([0.4444, 0.25  ], dtype=float32)
    """
    x, b, loc, scale = real("pareto.sf", x, b, loc, scale)
    return jnp.exp(logsf(x, b, loc, scale))


def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.pareto.logsf(jnp.array([1.5, 2.0]), 2.0).round(4)
    Array([-0.8109, -1.3863], dtype=float32)
    """
    x, b, loc, scale = real("pareto.logsf", x, b, loc, scale)
    below, z = _inside(x, loc, scale)
    return jnp.where(below, 0.0, -b * jnp.log(z))


def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``q``, the inverse of ``cdf``.

    >>> stats.pareto.ppf(jnp.array([0.25, 0.5]), 2.0).round(4)
    Array([1.1547, 1.4142], dtype=float32)
    """
    q, b, loc, scale = real("pareto.ppf", q, b, loc, scale)
    return jnp.where((q >= 0) & (q <= 1), loc + scale * (1 - q) ** (-1 / b), np.nan)
