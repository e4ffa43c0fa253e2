"""Cauchy's distribution wrapped around a circle, for angles from 0 to 2 pi."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, c: Any) -> Array:
    """The logarithm of the density.

    >>> stats.wrapcauchy.logpdf(jnp.array([0.0, 1.0]), 0.5).round(4)
    Array([-0.7393, -1.7826], dtype=float32)
    """
    x, c = real("wrapcauchy.logpdf", x, c)
    value = jnp.log((1 - c * c) / (2 * math.pi)) - jnp.log(1 + c * c - 2 * c * jnp.cos(x))
    value = jnp.where((x < 0) | (x > 2 * math.pi), -np.inf, value)
    return jnp.where((c > 0) & (c < 1), value, np.nan)


def pdf(x: Any, c: Any) -> Array:
    """The density.

    >>> stats.wrapcauchy.pdf(jnp.array([0.0, 1.0]), 0.5).round(4)
    Array([0.4775, 0.1682], dtype=float32)
    """
    return jnp.exp(logpdf(x, c))
