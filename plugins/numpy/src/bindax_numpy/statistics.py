"""Means, variances and weighted averages, covariances and correlations."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import bindax_lax_basic as lax
from bindax_core.extend import Array, Dimension, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    averaged,
    axes_argument,
    broadcast_to,
    canonical_dtype,
    convert,
    mask_operand,
    promote_dtypes,
    reduced,
    reductions,
    refuse_out,
    result_type,
    selected,
)
from bindax_numpy._operands import array_operand, checked, constant, listed_axes, strong_operand
from bindax_numpy.arithmetic import absolute_squares, clip, conj, real
from bindax_numpy.concatenate import concatenate
from bindax_numpy.dot_matmul import dot
from bindax_numpy.exp_log_trigonometry import root
from bindax_numpy.indexing import diagonal
from bindax_numpy.reductions import sum as array_sum
from bindax_numpy.reshaping import atleast_2d, expand_dims, squeeze
from bindax_transforms import evaluated


def _count(name: str, x: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    aval = typeof(x)
    if where is None:
        axes = axes_argument(name, axis, aval.ndim, "axis")
        count: Any = math.prod(aval.shape[i] for i in axes)
        known = not isinstance(count, Dimension)
        return float(count) if known else convert(count, aval.dtype, True)
    mask = broadcast_to(mask_operand(name, where), aval.shape)
    return convert(array_sum(mask, axis, keepdims=keepdims), dtypes.real_dtype(aval.dtype), False)


@evaluated
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """The mean over axes; a float also of integers, nan of nothing.

    Args:
        a: an array.
        axis: an axis, several, or None for all.
        dtype: the dtype of the result.
        out: None.
        keepdims: whether the axes stay, with size 1.
        where: booleans, which broadcast: the elements that count.

    >>> jnp.mean(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([2., 3.], dtype=float32)
    """
    return reductions.mean(checked("mean", a), axis, dtype, out, keepdims, where)


@evaluated
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: int | float | None = None,
) -> Array:
    """The variance over axes: the mean squared distance from the mean.

    Args:
        a: an array.
        axis: an axis, several, or None for all.
        dtype: the dtype of the result.
        out: None.
        ddof: what is subtracted from the number of elements before the division by it.
        keepdims: whether the axes stay, with size 1.
        where: booleans, which broadcast: the elements that count.
        mean: the mean with its axes kept, where it is known.
        correction: another name for ``ddof``.

    Raises:
        ValueError: for both ``ddof`` and ``correction``, and when ``where`` or ``mean`` do not
            broadcast.

    >>> jnp.var(jnp.array([1.0, 2.0, 3.0])).round(4)
    Array(0.6667, dtype=float32)
    """
    refuse_out("var", out)
    if correction is not None and ddof:
        raise ValueError(f"var: give ddof or correction, not both, here {ddof} and {correction}.")
    x, wanted = averaged("var", checked("var", a), dtype)
    shape = typeof(x).shape
    x = selected("var", x, where, 0)
    if mean is None:
        center = _center("var", x, axis, where)
    else:
        center = array_operand("var", mean)
        joined = dtypes.joined_dtype(typeof(x).dtype, typeof(center).dtype)
        x, center = convert(x, joined, False), convert(center, joined, False)
    if typeof(x).shape != shape or (mean is not None and typeof(x - center).shape != shape):
        raise ValueError(
            f"where and mean must broadcast to the shape of the array, {shape}, without "
            f"making it larger."
        )
    # Elements that do not count must not reach the derivative either.
    squares = absolute_squares(selected("var", x - center, where, 0))
    total = reduced("var", lax.reduce_sum_p, squares, axis, keepdims)
    freedom = _count("var", squares, axis, keepdims, where) - (
        ddof if correction is None else correction
    )
    found = dtypes.real_dtype(wanted) if dtype is None else wanted
    return convert(_divided(total, freedom, math.nan), found, False)


def _center(name: str, x: Any, axis: Any, where: Any) -> Any:
    """The mean with its axes kept, 0 where nothing counts."""
    total = reduced(name, lax.reduce_sum_p, x, axis, keepdims=True)
    return _divided(total, _count(name, x, axis, True, where), 0.0)


def _divided(total: Any, count: Any, otherwise: float) -> Any:
    """A sum by a count; another number, of derivative 0, where the count is not positive."""
    if isinstance(count, float):
        return total / count if count > 0 else lax.full_like(total, otherwise)
    counted = lax.gt(count, constant(0, count))
    safe = lax.select(counted, count, lax.full_like(count, 1))
    quotient = total / convert(safe, typeof(total).dtype, False)
    counted = broadcast_to(counted, typeof(quotient).shape)
    return lax.select(counted, quotient, lax.full_like(quotient, otherwise))


@evaluated
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: int | float | None = None,
) -> Array:
    """The standard deviation over axes, the square root of ``var``; arguments as there.

    The derivative is zero where all elements are equal.

    >>> jnp.std(jnp.array([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    refuse_out("std", out)
    axis = axes_argument("std", axis, typeof(strong_operand("std", a)).ndim, "axis")
    variance = var(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return root(variance)


@overload
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Literal[False] = False,
    keepdims: bool = False,
) -> Array: ...
@overload
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Array, Array]: ...
@overload
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any: ...
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """The mean over axes, weighted.

    Args:
        a: an array.
        axis: an axis, several, or None for all.
        weights: of the shape of ``a``, or of its sizes along ``axis``, in that order; by default
            all equal.
        returned: whether the sum of the weights is returned, too.
        keepdims: whether the axes stay, with size 1.

    >>> jnp.average(jnp.array([1.0, 2.0]), weights=jnp.array([3.0, 1.0]))
    Array(1.25, dtype=float32)
    """
    x = strong_operand("average", a)
    named: tuple[int, ...] = ()
    if axis is not None:
        named = listed_axes("average", axis, typeof(x).ndim)
        axis = axes_argument("average", axis, typeof(x).ndim, "axis")
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = _count("average", x, axis, keepdims, None)
        total: Any = convert(lax.full_like(result, count), typeof(result).dtype, False)
        return (result, total) if returned else result
    w = strong_operand("average", weights)
    shape = typeof(x).shape
    if typeof(w).shape != shape:
        if not named or typeof(w).shape != tuple([shape[i] for i in named]):
            raise ValueError(
                f"average: weights must have the shape {shape} of the array, or its sizes along "
                f"the axes that are averaged, but they are {typeof(w).str_short()} and axis is "
                f"{named or None}."
            )
        w = lax.transpose(w, [named.index(i) for i in sorted(named)])
        w = lax.broadcast_in_dim(w, shape, sorted(named))
    dtype = dtypes.inexact_dtype(result_type(x, w))
    x, counts = convert(x, dtype, False), convert(w, dtype, False)
    total = array_sum(counts, axis, keepdims=keepdims)
    # Booleans choose, and what they leave out may be infinite.
    x = x * (w if typeof(w).dtype == dtypes.bool_ else counts)
    result = array_sum(x, axis, keepdims=keepdims) / total
    return (result, total) if returned else result


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Array:
    """The covariances of variables.

    Args:
        m: the observations: a vector, or a matrix.
        y: further variables, in the same form.
        rowvar: whether each row is a variable, rather than each column.
        bias: whether sums are divided by the number of observations, rather than by one less.
        ddof: what is subtracted from the number of observations instead.
        fweights: integers: how often each observation counts.
        aweights: weights of the observations.
        dtype: the dtype of the result.

    Raises:
        ValueError: when there are more than two axes, or weights do not fit.

    >>> jnp.cov(jnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    x = _variables("cov", m, rowvar)
    if y is not None:
        x = concatenate(promote_dtypes(x, _variables("cov", y, rowvar)))
    wanted = dtypes.inexact_dtype(typeof(x).dtype) if dtype is None else canonical_dtype(dtype)
    if not dtypes.is_inexact(wanted):
        raise ValueError(f"dtype of covariances must be float or complex, but is {wanted.name}.")
    x = convert(x, wanted, False)
    n = typeof(x).shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    weights = _weights(fweights, n, wanted, "fweights")
    importance = _weights(aweights, n, wanted, "aweights")
    if importance is not None:
        weights = importance if weights is None else weights * importance
    if weights is None:
        center = array_sum(x, 1, keepdims=True) / n
        freedom: Any = n - less if n else math.nan
    else:
        total = array_sum(weights)
        row = lax.expand_dims(weights, (0,))
        center = array_sum(x * row, 1, keepdims=True) / total
        # Weights that are no counts make up fewer observations than their sum says.
        effective = 1 if aweights is None else array_sum(weights * importance) / total
        freedom = total - less * effective
    distance = x - center
    weighted = distance if weights is None else distance * row
    found = dot(weighted, conj(distance).T, precision="highest")
    return squeeze(found / convert(array_operand("cov", freedom), wanted, False))


def _variables(name: str, m: Any, rowvar: bool) -> Any:
    x = strong_operand(name, m)
    aval = typeof(x)
    if aval.ndim > 2:
        raise ValueError(f"{name} takes vectors and matrices, but got {aval.str_short()}.")
    x = atleast_2d(x)
    return x.T if not rowvar and aval.ndim == 2 else x


def _weights(given: Any, n: int, dtype: Any, argument: str) -> Any:
    if given is None:
        return None
    weights = strong_operand("cov", given)
    if typeof(weights).shape != (n,):
        raise ValueError(
            f"cov: {argument} must be a vector of {n} weights, but they are "
            f"{typeof(weights).str_short()}."
        )
    if argument == "fweights" and not dtypes.is_integer(typeof(weights).dtype):
        raise TypeError(
            f"cov: fweights must be integers, but they are {typeof(weights).str_short()}."
        )
    return convert(weights, dtype, False)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Array:
    """The correlations of variables, from -1 to 1; arguments as for ``cov``.

    >>> jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))[0, 1] < -0.999
    Array(True, dtype=bool)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not typeof(c).shape:
        return c / c
    spread = convert(lax.sqrt(real(diagonal(c))), typeof(c).dtype, False)
    r = c / expand_dims(spread, 1) / expand_dims(spread, 0)
    if dtypes.is_complex(typeof(r).dtype):
        return lax.complex(clip(lax.real(r), -1, 1), clip(lax.imag(r), -1, 1))
    return clip(r, -1, 1)
