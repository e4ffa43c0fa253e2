"""The multinomial distribution: how often each of several results comes in ``n`` trials."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_scipy._operands import real
from bindax_scipy.special import gammaln, xlogy

__all__ = ["logpmf", "pmf"]


def logpmf(x: Any, n: Any, p: Any) -> Array:
    """The logarithm of the probability.

    Args:
        x: how often each result came, integers along the last axis.
        n: the number of trials, an integer.
        p: the probabilities of the results.

    Raises:
        ValueError: when ``x`` or ``n`` are not integers.

    >>> stats.multinomial.logpmf(jnp.array([1, 2]), 3, jnp.array([0.5, 0.5])).round(4)
    Array(-0.9808, dtype=float32)
    """
    (p,) = real("multinomial.logpmf", p)
    for name, value in (("x", x), ("n", n)):
        aval = typeof(value)
        if not jnp.issubdtype(aval.dtype, np.integer):
            raise ValueError(
                f"multinomial.logpmf: {name} must be integers, but it is {aval.str_short()}."
            )
    x, n = jnp.asarray(x).astype(p.dtype), jnp.asarray(n).astype(p.dtype)
    value = gammaln(n + 1) + jnp.sum(xlogy(x, p) - gammaln(x + 1), axis=-1)
    return jnp.where(jnp.sum(x) == n, value, -np.inf)


def pmf(x: Any, n: Any, p: Any) -> Array:
    """The probability; see ``logpmf``.

    >>> stats.multinomial.pmf(jnp.array([1, 2]), 3, jnp.array([0.5, 0.5])).round(4)
    Array(0.375, dtype=float32)
    """
    return jnp.exp(logpmf(x, n, p))
