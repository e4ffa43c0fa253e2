"""The logistic distribution around ``loc``."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import real
from bindax_scipy.special import expit, logit

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density.

    >>> stats.logistic.logpdf(jnp.array([0.0, 1.0])).round(4)
    Array([-1.3863, -1.6265], dtype=float32)
    """
    x, loc, scale = real("logistic.logpdf", x, loc, scale)
    half = (x - loc) / scale / 2
    return -2 * jnp.logaddexp(half, -half) - jnp.log(scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density.

    >>> stats.logistic.pdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.25  , 0.1966], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of at most ``x``.

    >>> stats.logistic.cdf(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.7311], dtype=float32)
    """
    x, loc, scale = real("logistic.cdf", x, loc, scale)
    return expit((x - loc) / scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of more than ``x``, ``1 - cdf``.

    >>> stats.logistic.sf(jnp.array([0.0, 1.0])).round(4)
    Array([0.5   , 0.2689], dtype=float32)
    """
    x, loc, scale = real("logistic.sf", x, loc, scale)
    return expit((loc - x) / scale)


def ppf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number below which the probability is ``x``, the inverse of ``cdf``.

    >>> stats.logistic.ppf(jnp.array([0.25, 0.5])).round(4)
    Array([-1.0986,  0.    ], dtype=float32)
    """
    x, loc, scale = real("logistic.ppf", x, loc, scale)
    return logit(x) * scale + loc


def isf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The number above which the probability is ``x``, the inverse of ``sf``.

    >>> stats.logistic.isf(jnp.array([0.25, 0.5])).round(4)
    Array([1.0986, 0.    ], dtype=float32)
    """
    x, loc, scale = real("logistic.isf", x, loc, scale)
    return loc - logit(x) * scale
