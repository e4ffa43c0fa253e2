"""The normal distribution cut off at ``a`` and ``b`` standard deviations from ``loc``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_nn import log1mexp
from bindax_scipy._operands import aligned, largest, real
from bindax_scipy.special import log_ndtr, ndtr
from bindax_scipy.stats import norm

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def _finite(bound: Any) -> Any:
    """A bound beyond which nothing is left to add; infinite ones would have derivatives of nan."""
    most = math.sqrt(largest(bound)) / 10
    return jnp.clip(bound, -most, most)


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability between two numbers, computed in the left tail."""
    a, b = _finite(a), _finite(b)
    right, left = a > 0, b <= 0
    low, high = jnp.where(right, -b, a), jnp.where(right, -a, b)
    tail = right | left
    upper = log_ndtr(jnp.where(tail, high, 0.0))
    gap = upper - log_ndtr(jnp.where(tail, low, -1.0))
    outer = jnp.where(gap > 0, upper + log1mexp(jnp.where(gap > 0, gap, 1.0)), -np.inf)
    inner = jnp.log1p(-ndtr(jnp.where(tail, -1.0, a)) - ndtr(-jnp.where(tail, 1.0, b)))
    return jnp.where(tail, outer, inner)


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.truncnorm.logpdf(jnp.array([0.0, 3.0]), -1.0, 2.0).round(4)
    Array([-0.7188,    -inf], dtype=float32)
    """
    x, a, b, loc, scale = aligned(*real("truncnorm.logpdf", x, a, b, loc, scale))
    z = (x - loc) / scale
    value = norm.logpdf(x, loc, scale) - _log_mass(a, b)
    value = jnp.where((z < a) | (z > b), -np.inf, value)
    return jnp.where(a >= b, np.nan, value)


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.truncnorm.pdf(jnp.array([0.0, 3.0]), -1.0, 2.0).round(3)
    Array([0.487, 0.   ], dtype=float32)
    """
    return jnp.exp(logpdf(x, a, b, loc, scale))


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``cdf``.

    >>> stats.truncnorm.logcdf(jnp.array([0.0, 3.0]), -1.0, 2.0).round(4)
    Array([-0.8747,  0.    ], dtype=float32)
    """
    x, a, b, loc, scale = aligned(*real("truncnorm.logcdf", x, a, b, loc, scale))
    z = (x - loc) / scale
    inside = ~((z <= a) | (z >= b))
    middle = jnp.where(inside, z, (_finite(a) + _finite(b)) / 2)
    whole = _log_mass(a, b)
    below, above = _log_mass(a, middle) - whole, _log_mass(middle, b) - whole
    # Near 1 the probability is known better from that of the other side.
    near = below > -0.1
    value = jnp.where(near, jnp.log1p(-jnp.exp(jnp.where(near, above, -1.0))), below)
    value = jnp.where(z >= b, 0.0, jnp.where(z <= a, -np.inf, value))
    return jnp.where((a >= b) | jnp.isnan(z), np.nan, value)


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.truncnorm.cdf(jnp.array([0.0, 3.0]), -1.0, 2.0).round(4)
    Array([0.417, 1.   ], dtype=float32)
    """
    return jnp.exp(logcdf(x, a, b, loc, scale))


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of ``sf``.

    >>> stats.truncnorm.logsf(jnp.array([0.0, 1.0]), -1.0, 2.0).round(3)
    Array([-0.54 , -1.796], dtype=float32)
    """
    x, a, b, loc, scale = real("truncnorm.logsf", x, a, b, loc, scale)
    return logcdf(-x, -b, -a, -loc, scale)


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.truncnorm.sf(jnp.array([0.0, 1.0]), -1.0, 2.0).round(4)
    Array([0.583, 0.166], dtype=float32)
    """
    return jnp.exp(logsf(x, a, b, loc, scale))
