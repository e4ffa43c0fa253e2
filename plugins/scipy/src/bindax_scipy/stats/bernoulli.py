"""Bernoulli's distribution: 1 with probability ``p``, else 0."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import xlog1py, xlogy

__all__ = ["cdf", "logpmf", "pmf", "ppf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of ``k``.

    >>> stats.bernoulli.logpmf(jnp.array([0, 1]), 0.25).round(4)
    Array([-0.2877, -1.3863], dtype=float32, weak_type=True)
    """
    k, p, loc = real("bernoulli.logpmf", k, p, loc)
    k = k - loc
    value = xlogy(k, p) + xlog1py(1 - k, -p)
    return jnp.where((k < 0) | (k > 1), -np.inf, value)


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of ``k``.

    >>> stats.bernoulli.pmf(jnp.array([0, 1]), 0.25).round(3)
    Array([0.75, 0.25], dtype=float32, weak_type=True)
    """
    return jnp.exp(logpmf(k, p, loc))


def cdf(k: Any, p: Any) -> Array:
    """The probability of at most ``k``.

    >>> stats.bernoulli.cdf(jnp.array([0, 1]), 0.25)
    Array([0.75, 1.  ], dtype=float32, weak_type=True)
    """
    k, p = real("bernoulli.cdf", k, p)
    value = jnp.where(k < 0, 0.0, jnp.where(k < 1, 1 - p, 1.0))
    return jnp.where((p >= 0) & (p <= 1) & ~jnp.isnan(k), value, np.nan)


def ppf(q: Any, p: Any) -> Array:
    """The number below which the probability is ``q``, the inverse of ``cdf``.

    >>> stats.bernoulli.ppf(jnp.array([0.25, 0.5]), 0.25)
    Array([0., 0.], dtype=float32)
    """
    q, p = real("bernoulli.ppf", q, p)
    valid = (p >= 0) & (p <= 1) & (q >= 0) & (q <= 1)
    return jnp.where(valid, (q > 1 - p).astype(q.dtype), np.nan)
