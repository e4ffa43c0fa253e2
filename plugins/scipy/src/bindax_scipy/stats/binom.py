"""The binomial distribution: successes in ``n`` trials of probability ``p``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import gammaln, xlog1py, xlogy

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of ``k``.

    >>> stats.binom.logpmf(jnp.array([0, 1]), 2, 0.5).round(3)
    Array([-1.386, -0.693], dtype=float32, weak_type=True)
    """
    k, n, p, loc = real("binom.logpmf", k, n, p, loc)
    y = k - loc
    ways = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
    linear = xlogy(y, p) + xlog1py(n - y, -p)
    one_way = (y == 0) & (n == 0) | (linear == 0)
    value = jnp.where(one_way, 0.0, ways) + linear
    return jnp.where((y < 0) | (y >= n + 1), -np.inf, value)


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of ``k``.

    >>> stats.binom.pmf(jnp.array([0, 1]), 2, 0.5).round(4)
    Array([0.25, 0.5 ], dtype=float32, weak_type=True)
    """
    return jnp.exp(logpmf(k, n, p, loc))
