"""The binomial distribution with a probability from the beta distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import betaln

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of ``k``.

    >>> stats.betabinom.logpmf(jnp.array([0, 1]), 2, 1.0, 1.0).round(4)
    Array([-1.0986, -1.0986], dtype=float32)
    """
    k, n, a, b, loc = real("betabinom.logpmf", k, n, a, b, loc)
    y = jnp.floor(k) - loc
    ways = -jnp.log1p(n) - betaln(n - y + 1, y + 1)
    value = ways + betaln(y + a, n - y + b) - betaln(a, b)
    value = jnp.where((y == 0) & (n == 0), 0.0, value)
    value = jnp.where((y < -loc) | (y > n) | (y + a <= 0), -np.inf, value)
    return jnp.where((n < 0) | (a <= 0) | (b <= 0), np.nan, value)


def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """The probability of ``k``.

    >>> stats.betabinom.pmf(jnp.array([0, 1]), 2, 1.0, 1.0).round(4)
    Array([0.3333, 0.3333], dtype=float32)
    """
    return jnp.exp(logpmf(k, n, a, b, loc))
