"""The negative binomial distribution: failures before ``n`` successes of probability ``p``."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import gammaln, xlogy

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of ``k``.

    >>> stats.nbinom.logpmf(jnp.array([0, 1]), 2, 0.5).round(4)
    Array([-1.3863, -1.3863], dtype=float32, weak_type=True)
    """
    k, n, p, loc = real("nbinom.logpmf", k, n, p, loc)
    y = k - loc
    ways = gammaln(y + n) - gammaln(n) - gammaln(y + 1)
    value = ways + xlogy(n, p) + xlogy(y, 1 - p)
    return jnp.where(y < 0, -np.inf, value)


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of ``k``.

    >>> stats.nbinom.pmf(jnp.array([0, 1]), 2, 0.5).round(4)
    Array([0.25, 0.25], dtype=float32, weak_type=True)
    """
    return jnp.exp(logpmf(k, n, p, loc))
