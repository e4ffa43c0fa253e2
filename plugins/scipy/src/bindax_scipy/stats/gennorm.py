"""The generalized normal distribution, ``exp(-|x| ** beta)`` normalized."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import gammainc, gammaln

__all__ = ["cdf", "logpdf", "pdf"]


def logpdf(x: Any, beta: Any) -> Array:
    """The logarithm of the density.

    >>> stats.gennorm.logpdf(jnp.array([0.0, 1.0]), 2.0).round(4)
    Array([-0.5724, -1.5724], dtype=float32)
    """
    x, beta = real("gennorm.logpdf", x, beta)
    return jnp.log(0.5 * beta) - gammaln(1 / beta) - jnp.abs(x) ** beta


def pdf(x: Any, beta: Any) -> Array:
    """The density.

    >>> stats.gennorm.pdf(jnp.array([0.0, 1.0]), 2.0).round(3)
    Array([0.564, 0.208], dtype=float32)
    """
    return jnp.exp(logpdf(x, beta))


def cdf(x: Any, beta: Any) -> Array:
    """The probability of at most ``x``.

    >>> stats.gennorm.cdf(jnp.array([0.0, 1.0]), 2.0).round(3)
    Array([0.5  , 0.921], dtype=float32)
    """
    x, beta = real("gennorm.cdf", x, beta)
    return 0.5 * (1 + jnp.sign(x) * gammainc(1 / beta, jnp.abs(x) ** beta))
