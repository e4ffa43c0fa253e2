"""Quantiles: the elements at given places of the order."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axes_argument, convert, refuse_out
from bindax_numpy._operands import constant, put_into, require_real, strong_operand
from bindax_numpy.comparison import isnan, where
from bindax_numpy.indexing import take_along_axis
from bindax_numpy.reductions import all, any, argmax, sum
from bindax_numpy.reshaping import as_last_axis, broadcast_to, expand_dims, ravel, reshape
from bindax_numpy.sorting import argsort, sort
from bindax_transforms.extend import decided

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """The values below which given parts of the elements over axes are; nan if one is.

    Args:
        a: an array of real numbers.
        q: the parts, from 0 to 1: a scalar or a vector.
        axis: an axis, several, or None for all.
        out: None.
        overwrite_input: accepted for compatibility; arrays are immutable.
        method: what is between two elements: "linear" interpolation, the "lower" or the "higher"
            one, their "midpoint", or the "nearest"; or "inverted_cdf" for the first element up to
            which there is that part of the elements, or of their weights.
        keepdims: whether the axes stay, with size 1.
        weights: for "inverted_cdf", of the shape of ``a`` or of its axes that are reduced.

    Returns:
        The values, as wide as the array; those for each of several parts are along a new first
        axis.

    Raises:
        ValueError: for any other method.

    >>> jnp.quantile(jnp.array([1.0, 2.0, 3.0, 4.0]), jnp.array([0.0, 0.5]))
    Array([1. , 2.5], dtype=float32)
    """
    return _quantile("quantile", a, q, axis, out, method, keepdims, weights)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """``quantile`` of the elements that are not nan.

    >>> jnp.nanquantile(jnp.array([1.0, jnp.nan, 3.0]), 0.5)
    Array(2., dtype=float32)
    """
    return _quantile("nanquantile", a, q, axis, out, method, keepdims, weights)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    out_sharding: Any = None,
) -> Array:
    """``quantile`` with parts of a hundred.

    >>> jnp.percentile(jnp.array([1.0, 2.0, 3.0]), 50)
    Array(2., dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            percentile,
            out_sharding,
            (a, q, axis, out, overwrite_input, method, keepdims),
            {"weights": weights},
        )
    return _quantile("percentile", a, _hundredth(q), axis, out, method, keepdims, weights)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """``percentile`` of the elements that are not nan.

    >>> jnp.nanpercentile(jnp.array([1.0, jnp.nan, 3.0]), 50)
    Array(2., dtype=float32)
    """
    return _quantile("nanpercentile", a, _hundredth(q), axis, out, method, keepdims, weights)


def _hundredth(q: Any) -> Any:
    return q / 100 if isinstance(q, (int, float)) else strong_operand("percentile", q) / 100


def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle element over axes, or the mean of the two in the middle; nan if one is.

    Args:
        a: an array of real numbers.
        axis: an axis, several, or None for all.
        out: None.
        overwrite_input: accepted for compatibility; arrays are immutable.
        keepdims: whether the axes stay, with size 1.

    >>> jnp.median(jnp.array([3.0, 1.0, 2.0, 9.0]))
    Array(2.5, dtype=float32)
    """
    return _quantile("median", a, 0.5, axis, out, "midpoint", keepdims, None)


def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """``median`` of the elements that are not nan.

    >>> jnp.nanmedian(jnp.array([3.0, jnp.nan, 1.0, 2.0]))
    Array(2., dtype=float32)
    """
    return _quantile("nanmedian", a, 0.5, axis, out, "midpoint", keepdims, None)


def _quantile(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    out: None,
    method: str,
    keepdims: bool,
    weights: Any = None,
) -> Any:
    refuse_out(name, out)
    ignore_nan = name.startswith("nan")
    if method not in _METHODS:
        raise ValueError(f"{name}: method must be one of {_METHODS}, but it is {method!r}.")
    x = strong_operand(name, a)
    dtype = dtypes.inexact_dtype(typeof(x).dtype)
    part = put_into(name, q, dtype) if type(q) in (int, float) else strong_operand(name, q)
    require_real(name, x, part)
    if typeof(part).ndim > 1:
        raise ValueError(f"{name}: q must be a scalar or a vector, not {typeof(part).str_short()}.")
    axes = axes_argument(name, axis, typeof(x).ndim, "axis")
    rows = as_last_axis(convert(x, dtype, False), axes)
    heavy = None if weights is None else _weights(name, weights, x, axes, method)
    if not typeof(rows).shape[-1]:
        raise ValueError(
            f"{name} over axes {axes} of {typeof(x).str_short()}: there are no elements."
        )
    # Places in a long vector are not exact in 16 bits.
    wide = dtypes.float32 if dtype.itemsize < 4 else dtype
    parts = ravel(convert(part, wide, False))
    if method == "inverted_cdf":
        found = _inverted(rows, heavy, parts, ignore_nan)
    else:
        found = _at_parts(sort(rows), parts, method, ignore_nan)
    if keepdims:
        shape = [1 if i in axes else n for i, n in enumerate(typeof(x).shape)]
        found = reshape(found, (typeof(parts).size, *shape))
    return found if typeof(part).ndim else reshape(found, typeof(found).shape[1:])


def _weights(name: str, weights: Any, x: Any, axes: tuple[int, ...], method: str) -> Any:
    """The weights of the elements, as their rows."""
    heavy = strong_operand(name, weights)
    require_real(name, heavy)
    if method != "inverted_cdf":
        raise ValueError(f"{name}: only the method 'inverted_cdf' has weights, not {method!r}.")
    shape = typeof(x).shape
    if typeof(heavy).shape != shape:
        if typeof(heavy).shape != tuple(shape[i] for i in axes):
            raise ValueError(
                f"{name}: weights must have the shape of the array or of its axes {axes}, but are "
                f"{typeof(heavy).str_short()} beside {typeof(x).str_short()}."
            )
        heavy = lax.broadcast_in_dim(heavy, shape, axes)
    return as_last_axis(heavy, axes)


def _inverted(rows: Any, weights: Any, parts: Any, ignore_nan: bool) -> Any:
    """The first elements up to which there are the parts of the weights."""
    order = argsort(rows)
    ordered, unknown = take_along_axis(rows, order), isnan(rows)
    wide = typeof(parts).dtype
    heavy = lax.full_like(rows, 1, wide) if weights is None else convert(weights, wide, False)
    heavy = take_along_axis(where(unknown | (heavy < 0), 0.0, heavy), order)
    total = lax.expand_dims(lax.cumsum(heavy, typeof(heavy).ndim - 1), (0,))
    column = reshape(parts, (typeof(parts).size, *(1,) * typeof(rows).ndim))
    reached = (total >= column * total[..., -1:]) & (total > 0)
    found = _elements(ordered, argmax(reached, -1))
    spoiled = all(unknown, -1) if ignore_nan else any(unknown, -1)
    return where(broadcast_to(spoiled, typeof(found).shape), np.nan, found)


def _at_parts(rows: Any, parts: Any, method: str, ignore_nan: bool) -> Any:
    """The value at each part of sorted rows; the parts are along a new first axis."""
    *sizes, n = typeof(rows).shape
    wide = typeof(parts).dtype
    missing = sum(convert(isnan(rows), np.dtype(np.int32), False), -1)
    last = convert(n - 1 - missing, wide, False) if ignore_nan else lax.full(sizes, n - 1, wide)
    column = reshape(parts, (typeof(parts).size, *(1,) * len(sizes)))
    # Parts beyond the ends are taken to them, before they can point at what is nan.
    column = lax.clamp(constant(0.0, parts), column, constant(1.0, parts))
    place = column * lax.expand_dims(lax.max(last, lax.full_like(last, 0)), (0,))
    low = lax.floor(place)
    weight = place - low
    below, above = _elements(rows, low), _elements(rows, lax.ceil(place))
    out = _between(below, above, weight, method)
    spoiled = lax.eq(missing, lax.full_like(missing, n)) if ignore_nan else missing > 0
    return where(broadcast_to(spoiled, typeof(out).shape), np.nan, out)


def _elements(rows: Any, places: Any) -> Any:
    """The elements of each row at the places of each part."""
    spread = broadcast_to(rows, (typeof(places).shape[0], *typeof(rows).shape))
    places = convert(places, np.dtype(np.int32), False)
    index = lax.clamp(np.int32(0), places, np.int32(typeof(rows).shape[-1] - 1))
    return take_along_axis(spread, expand_dims(index, -1), -1)[..., 0]


def _between(below: Any, above: Any, weight: Any, method: str) -> Any:
    dtype = typeof(below).dtype
    if method == "lower":
        return below
    if method == "higher":
        return above
    if method == "nearest":
        return where(weight <= 0.5, below, above)
    if method == "midpoint":
        return (below + above) * convert(0.5, dtype, False)
    weight = convert(weight, dtype, False)
    # Infinite elements would be multiplied with 0.
    return where(weight == 0, below, below * (1 - weight) + above * weight)
