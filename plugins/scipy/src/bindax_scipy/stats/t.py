"""Student's distribution of ``df`` degrees of freedom."""

from __future__ import annotations

import math
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import gammaln

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.t.logpdf(jnp.array([0.0, 1.0]), 3.0).round(3)
    Array([-1.001, -1.576], dtype=float32)
    """
    x, df, loc, scale = real("t.logpdf", x, df, loc, scale)
    z = (x - loc) / scale
    half = (df + 1) / 2
    normalizer = gammaln(df / 2) - gammaln(half) + jnp.log(math.pi * df * scale * scale) / 2
    return -normalizer - half * jnp.log1p(z * z / df)


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.t.pdf(jnp.array([0.0, 1.0]), 3.0).round(3)
    Array([0.368, 0.207], dtype=float32)
    """
    return jnp.exp(logpdf(x, df, loc, scale))
