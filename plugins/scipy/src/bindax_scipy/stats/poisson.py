"""Poisson's distribution of mean ``mu``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import one_dtype, real
from bindax_scipy.special import entr, gammaincc, gammaln, xlogy

__all__ = ["cdf", "entropy", "logpmf", "pmf"]


def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of ``k``.

    >>> stats.poisson.logpmf(jnp.array([0, 1]), 2.0).round(3)
    Array([-2.   , -1.307], dtype=float32, weak_type=True)
    """
    k, mu, loc = real("poisson.logpmf", k, mu, loc)
    y = k - loc
    value = xlogy(y, mu) - gammaln(y + 1) - mu
    return jnp.where((y < 0) | (jnp.round(k) != k) & ~jnp.isnan(k), -np.inf, value)


def pmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The probability of ``k``.

    >>> stats.poisson.pmf(jnp.array([0, 1]), 2.0).round(4)
    Array([0.1353, 0.2707], dtype=float32, weak_type=True)
    """
    return jnp.exp(logpmf(k, mu, loc))


def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The probability of at most ``k``.

    >>> stats.poisson.cdf(jnp.array([0, 1]), 2.0).round(4)
    Array([0.1353, 0.406 ], dtype=float32, weak_type=True)
    """
    k, mu, loc = real("poisson.cdf", k, mu, loc)
    y = k - loc
    negative = y < 0
    return jnp.where(negative, 0.0, gammaincc(jnp.floor(1 + jnp.where(negative, 0.0, y)), mu))


def entropy(mu: Any, loc: Any = 0) -> Array:
    """The entropy, in nats.

    The sum of the entropies of all values below 100, else the first terms of its expansion.

    >>> stats.poisson.entropy(jnp.array([0.0, 2.0])).round(4)
    Array([0.    , 1.7049], dtype=float32)
    """
    mu, loc = one_dtype("poisson.entropy", mu, loc)
    small = mu < 100
    k = jnp.expand_dims(jnp.arange(250, dtype=mu.dtype), tuple(range(1, mu.ndim + 1)))
    p = pmf(k, jnp.where(small, mu, 1.0))
    # What is too small to represent adds nothing, nor has its reciprocal a value.
    normal = p >= float(jnp.finfo(p.dtype).tiny)
    near = jnp.sum(jnp.where(normal, entr(jnp.where(normal, p, 1.0)), 0.0), axis=0)
    large = jnp.where(small, 100.0, mu)
    far = 0.5 * jnp.log(2 * math.pi * math.e * large) - 1 / (12 * large)
    # The entropy of nothing is minus zero.
    value = jnp.where(mu == 0, entr(mu) + 0.0, jnp.where(small, near, far))
    value = jnp.where(mu < 0, np.nan, value)
    return jnp.broadcast_to(value, np.broadcast_shapes(mu.shape, loc.shape))
