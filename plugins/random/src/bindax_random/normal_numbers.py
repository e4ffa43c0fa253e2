"""Normally distributed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import DType, broadcast_to, real_dtype, shape_argument
from bindax_numpy import einsum
from bindax_numpy.linalg import cholesky, eigh, svd
from bindax_random._compiled import compiled, drawn
from bindax_random._operands import (
    Shape,
    fitting_shape,
    float_dtype,
    float_parameters,
    in_dtype,
    inexact_argument,
    promoted_floats,
    result_shape,
    shape_of,
)
from bindax_random.keys import single_key
from bindax_random.quantiles import quantile
from bindax_random.uniform_numbers import signs_of, split_in, uniform_floats
from bindax_transforms.extend import decided


def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw numbers of the standard normal distribution.

    Complex ones have independent parts, and a mean square of one.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float or complex dtype; the default float dtype if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the dtype is neither.

    >>> from bindax_random import key, normal
    >>> normal(key(42), (2,)).round(4)
    Array([-0.0283,  0.4671], dtype=float32)
    """
    if out_sharding is not None:
        return decided(normal, out_sharding, (key, shape, dtype))
    typed = single_key("normal", key)
    sizes = shape_argument("normal", shape)
    return normal_program(typed, shape=sizes, dtype=inexact_argument("normal", dtype))


@compiled
def normal_program(key: Any, *, shape: Shape, dtype: DType) -> Any:
    """Standard normal floats, or complex numbers, of one typed key."""
    if dtype.kind != "c":
        return normal_floats(key, shape, dtype)
    parts = [normal_floats(one, shape, real_dtype(dtype)) for one in split_in(key)]
    return lax.complex(*parts) / np.sqrt(2.0).astype(dtype)


def normal_floats(typed: Any, shape: Shape, dtype: DType) -> Any:
    """Standard normal floats of one typed key, by the inverse of the distribution function."""
    low = np.nextafter(np.array(-1).astype(dtype), np.array(0).astype(dtype))
    chances = uniform_floats(typed, shape, dtype, low, np.ones((), dtype))
    return lax.mul(np.sqrt(2.0).astype(dtype), quantile(chances))


def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of the standard normal distribution that lie between two bounds.

    Args:
        key: a random key.
        lower: the lower bound; it is not drawn.
        upper: the upper bound; it is not drawn.
        shape: the shape of the result; that of the bounds together if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the dtype is no float dtype, or a bound cannot be broadcast.

    >>> from bindax_random import key, truncated_normal
    >>> truncated_normal(key(42), -1.0, 1.0, (2,)).round(4)
    Array([-0.0193,  0.3127], dtype=float32)
    """
    if out_sharding is not None:
        return decided(truncated_normal, out_sharding, (key, lower, upper, shape, dtype))
    typed = single_key("truncated_normal", key)
    found = float_dtype("truncated_normal", dtype)
    sizes = result_shape("truncated_normal", shape, lower=lower, upper=upper)
    return _truncated_normal(typed, lower, upper, shape=sizes, dtype=found)


@compiled
def _truncated_normal(key: Any, lower: Any, upper: Any, *, shape: Shape, dtype: DType) -> Any:
    root = np.sqrt(2.0).astype(dtype)
    low, high = [in_dtype(x, dtype) for x in (lower, upper)]
    chances = uniform_floats(key, shape, dtype, lax.erf(low / root), lax.erf(high / root))
    out = lax.mul(root, quantile(chances))
    # Rounding must not give the bounds themselves.
    infinity = np.array(np.inf).astype(dtype)
    least, greatest = [
        broadcast_to(lax.nextafter(lax.stop_gradient(x), end), shape)
        for x, end in ((low, infinity), (high, -infinity))
    ]
    return lax.min(lax.max(out, least), greatest)


# ------------------------------------------------------------------- made of normal numbers


def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers whose logarithms are normally distributed around zero.

    Args:
        key: a random key.
        sigma: the standard deviation of the logarithm; broadcast to the shape of the result.
        shape: the shape of the result; that of ``sigma`` if omitted.
        dtype: a float or complex dtype; the default float dtype if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, lognormal
    >>> lognormal(key(42), 0.5, (2,)).round(3)
    Array([0.986, 1.263], dtype=float32)
    """
    if out_sharding is not None:
        return decided(lognormal, out_sharding, (key, sigma, shape, dtype))
    found = inexact_argument("lognormal", dtype)
    sizes = result_shape("lognormal", shape, sigma=sigma)
    parameters = float_parameters("lognormal", found, sigma=sigma)
    return _lognormal(single_key("lognormal", key), *parameters, shape=sizes, dtype=found)


@compiled
def _lognormal(key: Any, sigma: Any, *, shape: Shape, dtype: DType) -> Any:
    return lax.exp(normal_program(key, shape=shape, dtype=dtype) * sigma)


def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw numbers of the Maxwell distribution: lengths of vectors of three normal coordinates.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, maxwell
    >>> maxwell(key(42), (2,)).round(4)
    Array([0.5536, 0.2933], dtype=float32)
    """
    if out_sharding is not None:
        return decided(maxwell, out_sharding, (key, shape, dtype))
    return drawn("maxwell", _maxwell, key, shape, dtype)


@compiled
def _maxwell(key: Any, *, shape: Shape, dtype: DType) -> Any:
    coordinates = normal_floats(key, (*shape, 3), dtype)
    return lax.sqrt(lax.reduce_sum(lax.mul(coordinates, coordinates), (len(shape),)))


def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw numbers of a Maxwell distribution with a random sign.

    Args:
        key: a random key.
        loc: the center.
        scale: the scale; the two are broadcast together.
        shape: the shape of the draws for each pair of parameters. As in JAX, the shape of the
            parameters comes after it, and stands twice if it is empty.
        dtype: a float dtype; the default one if omitted.

    >>> from bindax_random import double_sided_maxwell, key
    >>> double_sided_maxwell(key(42), 0.0, 1.0, (2,)).shape
    (2,)
    """
    typed = single_key("double_sided_maxwell", key)
    found = float_dtype("double_sided_maxwell", dtype)
    own = result_shape("double_sided_maxwell", None, loc=loc, scale=scale)
    sizes = shape_argument("double_sided_maxwell", shape) or own
    return _double_sided_maxwell(typed, loc, scale, shape=(*sizes, *own), dtype=found)


@compiled
def _double_sided_maxwell(key: Any, loc: Any, scale: Any, *, shape: Shape, dtype: DType) -> Any:
    first, second = split_in(key)
    signs = signs_of(second, shape=shape, dtype=dtype)
    return signs * _maxwell(first, shape=shape, dtype=dtype) * scale + loc


def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers of the Wald (inverse Gaussian) distribution of scale one.

    Args:
        key: a random key.
        mean: the mean, positive; broadcast to the shape of the result.
        shape: the shape of the result; that of ``mean`` if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    The method is that of J. Michael, W. Schucany, R. Haas, The American Statistician 30 (1976).

    >>> from bindax_random import key, wald
    >>> wald(key(42), 1.0, (2,)).shape
    (2,)
    """
    if out_sharding is not None:
        return decided(wald, out_sharding, (key, mean, shape, dtype))
    return drawn("wald", _wald, key, shape, dtype, mean=mean)


@compiled
def _wald(key: Any, mean: Any, *, shape: Shape, dtype: DType) -> Any:
    normal_key, uniform_key = split_in(key)
    mean = broadcast_to(mean, shape)
    y = lax.integer_pow(normal_floats(normal_key, shape, dtype), 2)
    z = uniform_floats(uniform_key, shape, dtype)
    square = lax.integer_pow(mean, 2)
    root = lax.sqrt(4 * mean * y + square * lax.integer_pow(y, 2))
    x = mean + square * y / 2 - mean / 2 * root
    return lax.select(z <= mean / (mean + x), x, square / x)


_METHODS = ("cholesky", "eigh", "svd")


def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors of a normal distribution with a mean and a covariance matrix.

    Args:
        key: a random key.
        mean: the mean, of shape (..., n).
        cov: the covariance, positive definite, of shape (..., n, n).
        shape: the shape of the draws, to which the leading axes of both are broadcast.
        dtype: a float dtype; that of the parameters if omitted.
        method: the decomposition of ``cov``: ``"cholesky"``, or ``"eigh"`` or ``"svd"`` for
            matrices that are singular.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        An array of shape (*shape, n).

    Raises:
        ValueError: when there is no such method, or shapes do not fit.

    >>> from bindax_random import key, multivariate_normal
    >>> multivariate_normal(key(42), np.zeros(2, np.float32), np.eye(2, dtype=np.float32)).round(4)
    Array([-0.0283,  0.4671], dtype=float32)
    """
    if out_sharding is not None:
        return decided(multivariate_normal, out_sharding, (key, mean, cov, shape, dtype, method))
    typed = single_key("multivariate_normal", key)
    if method not in _METHODS:
        raise ValueError(
            f"multivariate_normal: method must be one of {', '.join(map(repr, _METHODS))}, but got "
            f"{method!r}."
        )
    mean, cov = promoted_floats(mean, cov)
    own, square = shape_of(mean), shape_of(cov)
    if not own:
        raise ValueError("multivariate_normal: mean must have an axis, but is a scalar.")
    if len(square) < 2 or square[-2:] != (own[-1], own[-1]):
        raise ValueError(
            f"multivariate_normal: cov must have the shape (..., {own[-1]}, {own[-1]}), since mean "
            f"has the shape {own}, but its shape is {square}."
        )
    sizes = fitting_shape("multivariate_normal", shape, mean=own[:-1], cov=square[:-2])
    found = typeof(mean).dtype if dtype is None else float_dtype("multivariate_normal", dtype)
    return _multivariate_normal(typed, mean, cov, shape=sizes, dtype=found, method=method)


@compiled
def _multivariate_normal(
    key: Any, mean: Any, cov: Any, *, shape: Shape, dtype: DType, method: str
) -> Any:
    if method == "cholesky":
        factor = cholesky(cov)
    else:
        vectors, values = eigh(cov)[::-1] if method == "eigh" else svd(cov)[:2]
        factor = vectors * lax.sqrt(values[..., None, :])
    numbers = normal_floats(key, (*shape, shape_of(mean)[-1]), dtype)
    return broadcast_to(mean, shape_of(numbers)) + einsum("...ij,...j->...i", factor, numbers)
