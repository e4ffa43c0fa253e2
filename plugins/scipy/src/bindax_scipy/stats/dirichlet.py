"""Dirichlet's distribution of numbers that are positive and add up to 1."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import one_dtype
from bindax_scipy.special import gammaln, xlogy

__all__ = ["logpdf", "pdf"]

_TOLERANCE = 1e-6


def logpdf(x: Any, alpha: Any) -> Array:
    """The logarithm of the density.

    Args:
        x: the numbers along the first axis; the last one may be left out.
        alpha: the shapes, a vector.

    Raises:
        ValueError: when the sizes do not fit together.

    >>> stats.dirichlet.logpdf(jnp.array([0.25, 0.75]), jnp.array([2.0, 3.0])).round(3)
    Array(0.523, dtype=float32)
    """
    x, alpha = one_dtype("dirichlet.logpdf", x, alpha)
    if alpha.ndim != 1 or x.ndim == 0 or x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            f"dirichlet.logpdf: alpha must be a vector, and x have as many elements along its "
            f"first axis, or one less, but their shapes are {alpha.shape} and {x.shape}."
        )
    if x.shape[0] != alpha.shape[0]:
        x = jnp.concatenate([x, 1 - jnp.sum(x, 0, keepdims=True)])
    normalizer = jnp.sum(gammaln(alpha)) - gammaln(jnp.sum(alpha))
    shapes = jnp.reshape(alpha, (-1,) + (1,) * (x.ndim - 1))
    value = jnp.sum(xlogy(shapes - 1, x), axis=0) - normalizer
    legal = jnp.all(x > 0, axis=0) & (jnp.abs(jnp.sum(x, axis=0) - 1) < _TOLERANCE)
    return jnp.where(legal, value, -np.inf)


def pdf(x: Any, alpha: Any) -> Array:
    """The density; see ``logpdf``.

    >>> stats.dirichlet.pdf(jnp.array([0.25, 0.75]), jnp.array([2.0, 3.0])).round(4)
    Array(1.6875, dtype=float32)
    """
    return jnp.exp(logpdf(x, alpha))
