"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import one_dtype
from bindax_scipy.linalg import solve_triangular

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, mean: Any, cov: Any, allow_singular: None = None) -> Array:
    """The logarithm of the density.

    Args:
        x: vectors along the last axis, or numbers.
        mean: the means, a vector or a number.
        cov: the covariances, a matrix, or the variance of all, a number.
        allow_singular: must be None; the covariances must be positive definite.

    Raises:
        ValueError: when the shapes do not fit together, or ``allow_singular`` is given.

    >>> stats.multivariate_normal.logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2)).round(4)
    Array(-1.8379, dtype=float32)
    """
    if allow_singular is not None:
        raise ValueError(
            f"multivariate_normal.logpdf: allow_singular must be None, but it is "
            f"{allow_singular!r:.60}; covariances must be positive definite."
        )
    x, mean, cov = one_dtype("multivariate_normal.logpdf", x, mean, cov)
    y = x - mean
    constant = math.log(2 * math.pi)
    if mean.ndim == 0:
        return -0.5 * (jnp.square(y) / cov + constant + jnp.log(cov))
    n = mean.shape[-1]
    if cov.ndim == 0:
        return -0.5 * (jnp.sum(y * y, axis=-1) / cov + n * (constant + jnp.log(cov)))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(
            f"multivariate_normal.logpdf: cov must have shape {(n, n)}, as mean has shape "
            f"{mean.shape}, but it has shape {cov.shape}."
        )
    factor = jnp.linalg.cholesky(cov)
    white = solve_triangular(factor, jnp.expand_dims(y, -1), lower=True)[..., 0]
    logarithms = jnp.sum(jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)
    return -0.5 * (jnp.sum(white * white, axis=-1) + n * constant) - logarithms


def pdf(x: Any, mean: Any, cov: Any) -> Array:
    """The density; see ``logpdf``.

    >>> stats.multivariate_normal.pdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2)).round(3)
    Array(0.159, dtype=float32)
    """
    return jnp.exp(logpdf(x, mean, cov))
