"""Reductions of the elements that are not nan."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    axes_argument,
    convert,
    initial_operand,
    largest,
    mask_operand,
    refuse_out,
    smallest,
)
from bindax_numpy._operands import strong_operand
from bindax_numpy.comparison import isnan, logical_and, logical_not, where
from bindax_numpy.reductions import all, argmax, argmin, max, min, prod, sum
from bindax_numpy.statistics import mean, std, var


def _known(name: str, a: Any, axis: Any, chosen: Any) -> tuple[Any, Any]:
    """The operand, and the elements that count; None where all do."""
    x = strong_operand(name, a)
    axes_argument(name, axis, typeof(x).ndim, "axis")
    chosen = None if chosen is None else mask_operand(name, chosen)
    if not dtypes.is_inexact(typeof(x).dtype):
        return x, chosen
    known = logical_not(isnan(x))
    if chosen is not None:
        known = logical_and(known, lax.broadcast_to_rank(chosen, typeof(x).ndim))
    return x, known


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """``sum`` of the elements that are not nan.

    >>> jnp.nansum(jnp.array([1.0, jnp.nan, 3.0]))
    Array(4., dtype=float32)
    """
    x, known = _known("nansum", a, axis, where)
    initial = None if initial is None else initial_operand("nansum", initial)
    return sum(x, axis, dtype, out, keepdims, initial, known)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """``prod`` of the elements that are not nan.

    >>> jnp.nanprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array(6., dtype=float32)
    """
    x, known = _known("nanprod", a, axis, where)
    initial = None if initial is None else initial_operand("nanprod", initial)
    return prod(x, axis, dtype, out, keepdims, initial, known)


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """``mean`` of the elements that are not nan.

    >>> jnp.nanmean(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    x, known = _known("nanmean", a, axis, where)
    return mean(x, axis, dtype, out, keepdims, where=known)


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """``var`` of the elements that are not nan; nan where they are not more than ``ddof``.

    >>> jnp.nanvar(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    x, known = _known("nanvar", a, axis, where)
    return var(x, axis, dtype, out, ddof, keepdims, where=known, mean=mean)


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """``std`` of the elements that are not nan.

    >>> jnp.nanstd(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    x, known = _known("nanstd", a, axis, where)
    return std(x, axis, dtype, out, ddof, keepdims, where=known, mean=mean)


def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """``max`` of the elements that are not nan; nan where all are.

    >>> jnp.nanmax(jnp.array([1.0, jnp.nan, 3.0]))
    Array(3., dtype=float32)
    """
    return _extremum("nanmax", max, smallest, a, axis, out, keepdims, initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """``min`` of the elements that are not nan; nan where all are.

    >>> jnp.nanmin(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    return _extremum("nanmin", min, largest, a, axis, out, keepdims, initial, where)


def _extremum(name: str, function: Any, neutral: Any, a: Any, *options: Any) -> Any:
    axis, _, keepdims, initial, _ = options
    x = strong_operand(name, a)
    axes_argument(name, axis, typeof(x).ndim, "axis")
    if not dtypes.is_inexact(typeof(x).dtype):
        return function(x, *options)
    unknown = isnan(x)
    dtype = typeof(x).dtype
    filler = convert(neutral(dtypes.real_dtype(dtype)), dtype, False)
    found = function(where(unknown, filler, x), *options)
    if initial is not None:
        return found
    return where(all(unknown, axis, keepdims=keepdims), math.nan, found)


def nanargmax(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """``argmax`` of the elements that are not nan; -1 where all are.

    >>> jnp.nanargmax(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2, dtype=int32)
    """
    return _position("nanargmax", argmax, -math.inf, a, axis, out, keepdims)


def nanargmin(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """``argmin`` of the elements that are not nan; -1 where all are.

    >>> jnp.nanargmin(jnp.array([1.0, jnp.nan, 3.0]))
    Array(0, dtype=int32)
    """
    return _position("nanargmin", argmin, math.inf, a, axis, out, keepdims)


def _position(
    name: str, search: Any, filler: float, a: Any, axis: int | None, out: None, keepdims: Any
) -> Any:
    refuse_out(name, out)
    x = strong_operand(name, a)
    if not dtypes.is_inexact(typeof(x).dtype):
        return search(x, axis, keepdims=keepdims)
    unknown = isnan(x)
    found = search(where(unknown, filler, x), axis, keepdims=keepdims)
    return where(all(unknown, axis, keepdims=bool(keepdims)), -1, found)
