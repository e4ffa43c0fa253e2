"""Laplace's distribution around ``loc``, an exponential one to both sides."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.laplace.logpdf(jnp.array([0.0, 1.0])).round(3)
    Array([-0.693, -1.693], dtype=float32)
    """
    x, loc, scale = real("laplace.logpdf", x, loc, scale)
    return -(jnp.abs(x - loc) / scale + jnp.log(2 * scale))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.laplace.pdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.1839], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.laplace.cdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.8161], dtype=float32)
    """
    x, loc, scale = real("laplace.cdf", x, loc, scale)
    z = (x - loc) / scale
    below = z <= 0
    tail = 0.5 * jnp.exp(jnp.where(below, z, -z))
    return jnp.where(below, tail, 1 - tail)
