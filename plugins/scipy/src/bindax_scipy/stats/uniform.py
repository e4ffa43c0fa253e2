"""The uniform distribution from ``loc`` to ``loc + scale``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real

__all__ = ["cdf", "logpdf", "pdf", "ppf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.uniform.logpdf(jnp.array([0.5, 3.0]), 0.0, 2.0).round(4)
    Array([-0.6931,    -inf], dtype=float32)
    """
    x, loc, scale = real("uniform.logpdf", x, loc, scale)
    outside = (x < loc) | (x > loc + scale)
    value = jnp.where(jnp.isnan(x), np.nan, -jnp.log(scale))
    return jnp.where(outside, -np.inf, value)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.uniform.pdf(jnp.array([0.5, 2.0]))
    Array([1., 0.], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.uniform.cdf(jnp.array([0.5, 2.0]))
    Array([0.5, 1. ], dtype=float32)
    """
    x, loc, scale = real("uniform.cdf", x, loc, scale)
    z = (x - loc) / scale
    return jnp.where(x < loc, 0.0, jnp.where(x > loc + scale, 1.0, z))


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``q``, the inverse of ``cdf``.

    >>> stats.uniform.ppf(jnp.array([0.25, 0.5]))
    Array([0.25, 0.5 ], dtype=float32)
    """
    q, loc, scale = real("uniform.ppf", q, loc, scale)
    return jnp.where((q >= 0) & (q <= 1), loc + scale * q, np.nan)
