"""Densities estimated from samples: a normal distribution around each of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import bindax_numpy as jnp
import bindax_random as random
from bindax_core.extend import Array
from bindax_core.tree_util import register_dataclass
from bindax_nn import logsumexp
from bindax_scipy._operands import one_dtype, real
from bindax_scipy.linalg import cho_factor, cho_solve, cholesky
from bindax_scipy.special import ndtr
from bindax_transforms import vmap

_FIELDS = ("neff", "dataset", "weights", "covariance", "inv_cov")


@dataclasses.dataclass(frozen=True, init=False, slots=True, eq=False)
class gaussian_kde:
    """A density estimated from a sample, the mean of normal densities around its points.

    Args:
        dataset: the points, of shape ``[d, n]``, or ``[n]`` for one dimension.
        bw_method: the width of the normal densities relative to the sample: ``"scott"`` (the
            default), ``"silverman"``, a number, or a function of this object.
        weights: weights of the points, of shape ``[n]``.

    Attributes:
        neff: how many points of equal weight tell as much.
        dataset: the points.
        weights: the weights, of sum 1.
        covariance: the covariance of each normal density.
        inv_cov: its inverse.

    Raises:
        ValueError: for fewer than two numbers, complex ones, or weights that do not fit.

    >>> kde = stats.gaussian_kde(jnp.array([0.0, 1.0, 2.0]))
    >>> kde(jnp.array([1.0])).round(4)
    Array([0.3182], dtype=float32)
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        (points,) = real("gaussian_kde", dataset)
        points = jnp.atleast_2d(points)
        if points.size < 2:
            raise ValueError(
                f"gaussian_kde: dataset must have two numbers or more, but it has shape "
                f"{points.shape}."
            )
        d, n = points.shape
        if weights is None:
            weights = jnp.full(n, 1.0 / n, dtype=points.dtype)
        else:
            points, weights = one_dtype("gaussian_kde", points, jnp.atleast_1d(weights))
            if weights.shape != (n,):
                raise ValueError(
                    f"gaussian_kde: weights must have shape {(n,)}, as there are {n} points, but "
                    f"they have {weights.shape}."
                )
            weights = weights / jnp.sum(weights)
        self._set(neff=1 / jnp.sum(weights**2), dataset=points, weights=weights)
        factor = self._factor("scott" if bw_method is None else bw_method, d)
        covariance = jnp.atleast_2d(jnp.cov(points, rowvar=True, bias=False, aweights=weights))
        inverse = jnp.linalg.inv(covariance) / factor**2
        self._set(covariance=covariance * factor**2, inv_cov=inverse)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _factor(self, method: Any, d: int) -> Any:
        if callable(method):
            return method(self)
        if not isinstance(method, str):
            return method
        if method == "scott":
            return self.neff ** (-1.0 / (d + 4))
        if method == "silverman":
            return (self.neff * (d + 2) / 4.0) ** (-1.0 / (d + 4))
        raise ValueError(
            f"gaussian_kde: bw_method must be 'scott', 'silverman', a number or a function, but "
            f"it is {method!r:.60}."
        )

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return int(self.dataset.shape[0])

    @property
    def n(self) -> int:
        """The number of points."""
        return int(self.dataset.shape[1])

    def __call__(self, points: Any) -> Array:
        """The density at points of shape ``[d, m]``."""
        return self.evaluate(points)

    def evaluate(self, points: Any) -> Array:
        """The density at points of shape ``[d, m]``."""
        values, distances = self._kernel(points)
        return jnp.sum(self.weights * jnp.exp(values - distances), axis=-1)

    def pdf(self, x: Any) -> Array:
        """The density at points of shape ``[d, m]``."""
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Array:
        """The logarithm of the density at points of shape ``[d, m]``."""
        values, distances = self._kernel(x)
        return logsumexp(jnp.log(self.weights) + values - distances, axis=-1)

    def _kernel(self, points: Any) -> tuple[Any, Any]:
        """The logarithm of the largest value, and how far the logarithm is below it."""
        points = self._points(points)
        white = cholesky(self.inv_cov, lower=True)
        near = jnp.matmul(points.T, white)[:, None] - jnp.matmul(self.dataset.T, white)
        constant = jnp.sum(jnp.log(jnp.diagonal(white))) - 0.5 * self.d * math.log(2 * math.pi)
        return constant, 0.5 * jnp.sum(near * near, axis=-1)

    def _points(self, points: Any) -> Any:
        (points,) = real("gaussian_kde", points)
        points = jnp.atleast_2d(points)
        if points.shape[0] == self.d:
            return points
        if points.shape == (1, self.d):
            return jnp.reshape(points, (self.d, 1))
        raise ValueError(
            f"gaussian_kde: points must have shape ({self.d}, m), but they have {points.shape}."
        )

    def integrate_gaussian(self, mean: Any, cov: Any) -> Array:
        """The integral of the product with a normal density."""
        mean, cov = jnp.atleast_1d(jnp.squeeze(mean)), jnp.atleast_2d(cov)
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError(
                f"gaussian_kde.integrate_gaussian: mean and cov must have shapes {(self.d,)} and "
                f"{(self.d, self.d)}, but they have {mean.shape} and {cov.shape}."
            )
        return self._overlap(cov, mean[:, None])[0]

    def _overlap(self, covariance: Any, means: Any) -> Any:
        """The integrals of the products with normal densities around several means."""
        factor = cho_factor(self.covariance + covariance)
        height = 1 / ((2 * math.pi) ** (self.d / 2) * jnp.prod(jnp.diagonal(factor[0])))

        def one(mean: Any) -> Any:
            gap = self.dataset - mean[:, None]
            energy = 0.5 * jnp.sum(gap * cho_solve(factor, gap), axis=0)
            return height * jnp.sum(jnp.exp(-energy) * self.weights)

        return vmap(one, in_axes=1)(means)

    def integrate_box_1d(self, low: Any, high: Any) -> Array:
        """The probability between two numbers, of one dimension."""
        if self.d != 1 or jnp.ndim(low) or jnp.ndim(high):
            raise ValueError(
                f"gaussian_kde.integrate_box_1d: the estimate must have one dimension and the "
                f"limits be scalars, but it has {self.d}, and they have shapes {jnp.shape(low)} "
                f"and {jnp.shape(high)}."
            )
        sigma = jnp.sqrt(self.covariance[0, 0])
        ends = (ndtr((x - self.dataset[0]) / sigma) for x in (high, low))
        upper, lower = ends
        return jnp.sum(self.weights * (upper - lower))

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """The integral of the product with another estimate."""
        if other.d != self.d:
            raise ValueError(
                f"gaussian_kde.integrate_kde: the estimates must have the same number of "
                f"dimensions, but they have {self.d} and {other.d}."
            )
        small, large = (self, other) if self.n < other.n else (other, self)
        return jnp.sum(large._overlap(small.covariance, small.dataset) * small.weights)

    def resample(self, key: Any, shape: Sequence[int] = ()) -> Array:
        """Draw points, of shape ``[d, *shape]``."""
        index_key, noise_key = random.split(key)
        index = random.choice(index_key, self.n, shape=tuple(shape), p=self.weights)
        noise = random.normal(noise_key, (*shape, self.d), self.dataset.dtype)
        noise = jnp.matmul(noise, cholesky(self.covariance))
        return self.dataset[:, index] + jnp.moveaxis(noise, -1, 0)


register_dataclass(gaussian_kde, data_fields=_FIELDS, meta_fields=())
