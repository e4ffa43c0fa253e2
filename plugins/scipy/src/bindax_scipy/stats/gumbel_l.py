"""Gumbel's distribution of the smallest of many numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_nn import log1mexp
from bindax_scipy._operands import largest, real

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def _limited(z: Any) -> Any:
    """Numbers of which the exponential is finite: beyond, all that is made of it is 0 or 1."""
    return jnp.minimum(z, 0.99 * math.log(largest(z)))


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.gumbel_l.logpdf(jnp.array([0.0, 1.0])).round(4)
    Array([-1.    , -1.7183], dtype=float32)
    """
    x, loc, scale = real("gumbel_l.logpdf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(scale > 0, -jnp.log(scale) + z - jnp.exp(z), np.nan)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.gumbel_l.pdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.3679, 0.1794], dtype=float32)
    """
    x, loc, scale = real("gumbel_l.pdf", x, loc, scale)
    z = _limited((x - loc) / scale)
    return jnp.where(scale > 0, jnp.exp(z - jnp.exp(z)) / scale, np.nan)


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.gumbel_l.cdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.6321, 0.934 ], dtype=float32)
    """
    x, loc, scale = real("gumbel_l.cdf", x, loc, scale)
    z = _limited((x - loc) / scale)
    return jnp.where(scale > 0, -jnp.expm1(-jnp.exp(z)), np.nan)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> jnp.round(stats.gumbel_l.logcdf(jnp.array([0.0, 1.0])), 3)
    Array([-0.459, -0.068], dtype=float32)
    """
    x, loc, scale = real("gumbel_l.logcdf", x, loc, scale)
    z = _limited((x - loc) / scale)
    # Its series where the exponential is small, whose inverse overflows in the derivative.
    small = z < -20
    near = log1mexp(jnp.exp(jnp.where(small, 0.0, z)))
    return jnp.where(scale > 0, jnp.where(small, z - jnp.exp(z) / 2, near), np.nan)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.gumbel_l.sf(jnp.array([0.0, 1.0])).round(4)
    Array([0.3679, 0.066 ], dtype=float32)
    """
    x, loc, scale = real("gumbel_l.sf", x, loc, scale)
    z = _limited((x - loc) / scale)
    return jnp.where(scale > 0, jnp.exp(-jnp.exp(z)), np.nan)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.gumbel_l.logsf(jnp.array([0.0, 1.0])).round(4)
    Array([-1.    , -2.7183], dtype=float32)
    """
    x, loc, scale = real("gumbel_l.logsf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(scale > 0, -jnp.exp(z), np.nan)


def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``p``, the inverse of ``cdf``.

    >>> stats.gumbel_l.ppf(jnp.array([0.25, 0.5])).round(4)
    Array([-1.2459, -0.3665], dtype=float32)
    """
    p, loc, scale = real("gumbel_l.ppf", p, loc, scale)
    return jnp.where((p >= 0) & (p <= 1), loc + scale * jnp.log(-jnp.log1p(-p)), np.nan)
