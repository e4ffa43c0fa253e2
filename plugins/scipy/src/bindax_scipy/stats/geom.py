"""The geometric distribution: trials of probability ``p`` up to the first success."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import xlog1py

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of ``k``.

    >>> stats.geom.logpmf(jnp.array([1, 2]), 0.5).round(3)
    Array([-0.693, -1.386], dtype=float32, weak_type=True)
    """
    k, p, loc = real("geom.logpmf", k, p, loc)
    y = k - loc
    return jnp.where(y <= 0, -np.inf, xlog1py(y - 1, -p) + jnp.log(p))


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of ``k``.

    >>> stats.geom.pmf(jnp.array([1, 2]), 0.5).round(3)
    Array([0.5 , 0.25], dtype=float32, weak_type=True)
    """
    return jnp.exp(logpmf(k, p, loc))
