"""The distribution of von Mises of angles around 0, of concentration ``kappa``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import i0e

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, kappa: Any) -> Array:
    """The logarithm of the density.

    >>> stats.vonmises.logpdf(jnp.array([0.0, 1.0]), 2.0).round(4)
    Array([-0.6619, -1.5813], dtype=float32)
    """
    x, kappa = real("vonmises.logpdf", x, kappa)
    value = kappa * (jnp.cos(x) - 1) - jnp.log(2 * math.pi * i0e(kappa))
    return jnp.where(kappa > 0, value, np.nan)


def pdf(x: Any, kappa: Any) -> Array:
    """The density.

    >>> stats.vonmises.pdf(jnp.array([0.0, 1.0]), 2.0).round(4)
    Array([0.5159, 0.2057], dtype=float32)
    """
    return jnp.exp(logpdf(x, kappa))
