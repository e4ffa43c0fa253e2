"""Numbers of distributions whose distribution function has an inverse: formulas of uniform ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import DType, broadcast_to, shape_argument
from bindax_numpy import power, where
from bindax_random._compiled import compiled, drawn
from bindax_random._operands import (
    Shape,
    float_dtype,
    in_dtype,
    integer_dtype,
    parameter_dtype,
    result_shape,
)
from bindax_random.keys import single_key
from bindax_random.uniform_numbers import uniform_floats
from bindax_transforms.extend import decided


def _info(dtype: DType) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw numbers of the exponential distribution, with density exp(-x) for positive x.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import exponential, key
    >>> exponential(key(42), (2,)).round(4)
    Array([0.6708, 1.1388], dtype=float32)
    """
    if out_sharding is not None:
        return decided(exponential, out_sharding, (key, shape, dtype))
    return drawn("exponential", exponential_floats, key, shape, dtype)


@compiled
def exponential_floats(key: Any, *, shape: Shape, dtype: DType) -> Any:
    """Exponential floats of one typed key."""
    return lax.neg(lax.log1p(lax.neg(uniform_floats(key, shape, dtype))))


def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw numbers of the Cauchy distribution, with density proportional to 1 / (1 + x**2).

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import cauchy, key
    >>> cauchy(key(42), (2,)).round(4)
    Array([-0.0355,  0.6337], dtype=float32)
    """
    if out_sharding is not None:
        return decided(cauchy, out_sharding, (key, shape, dtype))
    return drawn("cauchy", _cauchy, key, shape, dtype)


@compiled
def _cauchy(key: Any, *, shape: Shape, dtype: DType) -> Any:
    u = uniform_floats(key, shape, dtype, np.asarray(_info(dtype).eps, dtype), np.ones((), dtype))
    return lax.tan(lax.mul(np.array(np.pi).astype(dtype), lax.sub(u, np.array(0.5).astype(dtype))))


def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw numbers of the Laplace distribution, with density exp(-abs(x)) / 2.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, laplace
    >>> laplace(key(42), (2,)).round(3)
    Array([ 0.023, -0.446], dtype=float32)
    """
    if out_sharding is not None:
        return decided(laplace, out_sharding, (key, shape, dtype))
    return drawn("laplace", _laplace, key, shape, dtype)


@compiled
def _laplace(key: Any, *, shape: Shape, dtype: DType) -> Any:
    low = np.array(-1.0).astype(dtype) + np.asarray(_info(dtype).epsneg, dtype)
    u = uniform_floats(key, shape, dtype, low, np.ones((), dtype))
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw numbers of the logistic distribution, with density exp(-x) / (1 + exp(-x))**2.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, logistic
    >>> logistic(key(42), (2,)).round(4)
    Array([-0.0452,  0.7528], dtype=float32)
    """
    if out_sharding is not None:
        return decided(logistic, out_sharding, (key, shape, dtype))
    return drawn("logistic", _logistic, key, shape, dtype)


@compiled
def _logistic(key: Any, *, shape: Shape, dtype: DType) -> Any:
    tiny = np.asarray(_info(dtype).tiny, dtype)
    u = uniform_floats(key, shape, dtype, tiny, np.ones((), dtype))
    return lax.sub(lax.log(u), lax.log1p(lax.neg(u)))


def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers of the Pareto distribution, with density b / x**(b + 1) for x above 1.

    Args:
        key: a random key.
        b: the shape parameter, positive; broadcast to the shape of the result.
        shape: the shape of the result; that of ``b`` if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, pareto
    >>> pareto(key(42), 2.0, (2,)).round(4)
    Array([1.3985, 1.7672], dtype=float32)
    """
    if out_sharding is not None:
        return decided(pareto, out_sharding, (key, b, shape, dtype))
    return drawn("pareto", _pareto, key, shape, dtype, b=b)


@compiled
def _pareto(key: Any, b: Any, *, shape: Shape, dtype: DType) -> Any:
    return lax.exp(exponential_floats(key, shape=shape, dtype=dtype) / broadcast_to(b, shape))


def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw numbers of the Rayleigh distribution, the length of two normal coordinates.

    Args:
        key: a random key.
        scale: the standard deviation of a coordinate; broadcast to the shape of the result.
        shape: the shape of the result; that of ``scale`` if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, rayleigh
    >>> rayleigh(key(42), 1.0, (2,)).round(3)
    Array([1.197, 0.879], dtype=float32)
    """
    if out_sharding is not None:
        return decided(rayleigh, out_sharding, (key, scale, shape, dtype))
    return drawn("rayleigh", _rayleigh, key, shape, dtype, scale=scale)


@compiled
def _rayleigh(key: Any, scale: Any, *, shape: Shape, dtype: DType) -> Any:
    logarithm = lax.log(uniform_floats(key, shape, dtype))
    return lax.mul(
        broadcast_to(scale, shape), lax.sqrt(lax.mul(logarithm, np.array(-2).astype(dtype)))
    )


def triangular(
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers of a triangular distribution: its density rises to the mode, then falls.

    Args:
        key: a random key.
        left: where the density begins.
        mode: where it is greatest.
        right: where it ends; the three are broadcast to the shape of the result.
        shape: the shape of the result; that of the parameters together if omitted.
        dtype: a float dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> from bindax_random import key, triangular
    >>> triangular(key(42), 0.0, 1.0, 2.0, (2,)).round(3)
    Array([0.989, 1.2  ], dtype=float32)
    """
    if out_sharding is not None:
        return decided(triangular, out_sharding, (key, left, mode, right, shape, dtype))
    return drawn("triangular", _triangular, key, shape, dtype, left=left, mode=mode, right=right)


@compiled
def _triangular(key: Any, left: Any, mode: Any, right: Any, *, shape: Shape, dtype: DType) -> Any:
    left, mode, right = [broadcast_to(x, shape) for x in (left, mode, right)]
    width = right - left
    u = uniform_floats(key, shape, dtype)
    rising = left + lax.sqrt(u * width * (mode - left))
    falling = right - lax.sqrt((1 - u) * width * (right - mode))
    return lax.select(u < (mode - left) / width, rising, falling)


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw numbers of the Weibull distribution.

    Its density is proportional to x**(c - 1) * exp(-(x / s)**c) for positive x.

    Args:
        key: a random key.
        scale: s, positive; broadcast with the shape.
        concentration: c, positive; broadcast with the shape.
        shape: the shape of the draws.
        dtype: a float dtype; the default one if omitted.

    >>> from bindax_random import key, weibull_min
    >>> weibull_min(key(42), 1.0, 2.0, (2,)).round(3)
    Array([0.819, 1.067], dtype=float32)
    """
    typed = single_key("weibull_min", key)
    sizes, found = shape_argument("weibull_min", shape), float_dtype("weibull_min", dtype)
    return _weibull_min(typed, scale, concentration, shape=sizes, dtype=found)


@compiled
def _weibull_min(key: Any, scale: Any, concentration: Any, *, shape: Shape, dtype: DType) -> Any:
    return power(exponential_floats(key, shape=shape, dtype=dtype), 1.0 / concentration) * scale


def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw how many trials it takes until one succeeds.

    Args:
        key: a random key.
        p: the probability that a trial succeeds; broadcast to the shape of the result.
        shape: the shape of the result; that of ``p`` if omitted.
        dtype: an integer dtype; the default one if omitted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the dtype is no integer dtype, or ``p`` cannot be broadcast.

    >>> from bindax_random import geometric, key
    >>> geometric(key(42), 0.3, (4,))
    Array([3, 2, 2, 2], dtype=int32)
    """
    if out_sharding is not None:
        return decided(geometric, out_sharding, (key, p, shape, dtype))
    typed = single_key("geometric", key)
    found = integer_dtype("geometric", dtype)
    chance = in_dtype(p, parameter_dtype(p))
    return _geometric(typed, chance, shape=result_shape("geometric", shape, p=p), dtype=found)


@compiled
def _geometric(key: Any, p: Any, *, shape: Shape, dtype: DType) -> Any:
    u = uniform_floats(key, shape, typeof(p).dtype)
    logarithm = lax.log(where(u == 0, 1, u))
    trials = lax.floor(lax.div(logarithm, broadcast_to(lax.log1p(-p), shape))) + 1
    return lax.convert_element_type(trials, dtype)
