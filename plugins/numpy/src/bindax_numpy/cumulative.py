"""Cumulative products and sums, differences, and integrals by trapezoids."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    axis_argument,
    broadcast_to,
    canonical_dtype,
    convert,
    refuse_out,
    result_type,
    running,
    static_int,
    summed_dtype,
)
from bindax_numpy._operands import array_operand, inexact, listed_axes, require_real, strong_operand
from bindax_numpy.arithmetic import absolute, remainder, subtract
from bindax_numpy.comparison import isnan, not_equal, where
from bindax_numpy.concatenate import concatenate
from bindax_numpy.reductions import cumsum, sum
from bindax_numpy.reshaping import moveaxis, ravel, reshape


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """The products up to and including each element; arguments as for ``cumsum``.

    >>> jnp.cumprod(jnp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    refuse_out("cumprod", out)
    x = strong_operand("cumprod", a)
    own = typeof(x).dtype
    if dtype is not None:
        x = convert(x, canonical_dtype(dtype), False)
    elif own == dtypes.bool_:
        x = convert(x, summed_dtype(own), False)
    return running("cumprod", lax.cumprod, x, axis)


def _without_nan(name: str, a: Any, neutral: float) -> Any:
    x = strong_operand(name, a)
    return where(isnan(x), neutral, x) if dtypes.is_inexact(typeof(x).dtype) else x


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """``cumsum`` with nan as 0.

    >>> jnp.nancumsum(jnp.array([1.0, jnp.nan, 3.0]))
    Array([1., 1., 4.], dtype=float32)
    """
    return cumsum(_without_nan("nancumsum", a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """``cumprod`` with nan as 1.

    >>> jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float32)
    """
    return cumprod(_without_nan("nancumprod", a, 1), axis, dtype, out)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The sums up to and including each element, as the array API standard has them.

    Args:
        x: an array.
        axis: the axis, needed unless there is only one.
        dtype: the dtype of the result; by default that of ``x``, for integers at least the default
            one.
        include_initial: whether the result starts with 0, and is longer by one.

    Raises:
        ValueError: without an axis where there are several, and for scalars.

    >>> jnp.cumulative_sum(jnp.array([1, 2]), include_initial=True)
    Array([0, 1, 3], dtype=int32)
    """
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The products up to and including each element; arguments as for ``cumulative_sum``.

    >>> jnp.cumulative_prod(jnp.array([2, 3]), include_initial=True)
    Array([1, 2, 6], dtype=int32)
    """
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


def _cumulative(name: str, a: Any, axis: int | None, dtype: Any, include_initial: bool) -> Any:
    x = strong_operand(name, a)
    aval = typeof(x)
    if not aval.shape or (axis is None and aval.ndim != 1):
        raise ValueError(f"{name} needs an array with axes, and an axis where there are several.")
    place = axis_argument(name, 0 if axis is None else axis, aval.ndim)
    wanted = summed_dtype(aval.dtype) if dtype is None else canonical_dtype(dtype)
    x = convert(x, wanted, False)
    function, neutral = (lax.cumsum, 0) if name == "cumulative_sum" else (lax.cumprod, 1)
    if include_initial:
        shape = [1 if i == place else n for i, n in enumerate(aval.shape)]
        x = concatenate([lax.full(shape, neutral, wanted), x], place)
    return running(name, function, x, place)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The differences of neighbours along an axis.

    Args:
        a: an array.
        n: how often differences are taken.
        axis: the axis.
        prepend: what is put before the elements first: a scalar, or an array.
        append: what is put behind them.

    Raises:
        ValueError: for a scalar, and for a negative ``n``.

    >>> jnp.diff(jnp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    x = array_operand("diff", a)
    given: Any = n
    if isinstance(given, (tuple, list)):
        raise TypeError(f"diff takes one integer for n, but got {n!r:.60}.")
    order = static_int("diff", "n", n)
    if order < 0 or not typeof(x).shape:
        raise ValueError(
            f"diff takes an array with axes and an n that is not negative, but got "
            f"{typeof(x).str_short()} and {order}."
        )
    place = axis_argument("diff", axis, typeof(x).ndim)
    if order == 0:
        return x
    parts = [_edge(prepend, x, place), x, _edge(append, x, place)]
    x = concatenate([part for part in parts if part is not None], place)
    size = typeof(x).shape[place]
    if order >= size:
        # Nothing is left; the number of steps may be huge.
        return lax.slice_in_dim(x, 0, 0, axis=place)
    compare = not_equal if typeof(x).dtype == dtypes.bool_ else subtract
    for _ in range(order):
        size = typeof(x).shape[place]
        later = lax.slice_in_dim(x, 1, size, axis=place)
        x = compare(later, lax.slice_in_dim(x, 0, size - 1, axis=place))
    return x


def _edge(value: Any, x: Any, axis: int) -> Any:
    if value is None:
        return None
    edge = array_operand("diff", value)
    if not typeof(edge).shape:
        shape = [1 if i == axis else n for i, n in enumerate(typeof(x).shape)]
        edge = broadcast_to(edge, tuple(shape))
    return edge


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of neighbours among all elements, in order.

    Args:
        ary: an array.
        to_end: what is put behind them.
        to_begin: what is put before them.

    >>> jnp.ediff1d(jnp.array([1, 4, 9]), to_end=-1)
    Array([ 3,  5, -1], dtype=int32)
    """
    x = ravel(array_operand("ediff1d", ary))
    parts = [diff(x)]
    if to_begin is not None:
        parts.insert(0, ravel(convert(to_begin, typeof(x).dtype, False)))
    if to_end is not None:
        parts.append(ravel(convert(to_end, typeof(x).dtype, False)))
    return concatenate(parts)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """The derivatives of sampled values: central differences, one-sided at the edges.

    Args:
        f: the values, an array.
        *varargs: the distances of samples: nothing for 1, a scalar for all axes, or for each axis a
            scalar or the vector of the places of its samples.
        axis: an axis, several, or None for all.
        edge_order: None or 1: the order of the differences at the edges.

    Returns:
        An array of the shape of ``f``, or a list of one for each of several axes.

    Raises:
        ValueError: for other orders, wrong numbers of distances, and axes of less than two samples.

    For uneven distances: B. Fornberg, "Generation of finite difference formulas on arbitrarily
    spaced grids", 1988.

    >>> jnp.gradient(jnp.array([1.0, 2.0, 4.0]))
    Array([1. , 1.5, 2. ], dtype=float32)
    """
    if edge_order not in (None, 1):
        raise ValueError(f"gradient: edge_order must be None or 1, but it is {edge_order}.")
    (x,) = inexact("gradient", f)
    ndim = typeof(x).ndim
    axes = listed_axes("gradient", range(ndim) if axis is None else axis, ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise ValueError(
            f"gradient takes no distance, one, or one for each of {len(axes)} axes, but got "
            f"{len(varargs)}."
        )
    spacings = varargs if len(varargs) > 1 else (varargs or (1.0,)) * len(axes)
    out = [_slope(x, i, h) for i, h in zip(axes, spacings, strict=True)]
    return out[0] if len(out) == 1 else out


def _slope(x: Any, axis: int, spacing: Any) -> Any:
    moved = moveaxis(x, axis, 0)
    n = typeof(moved).shape[0]
    if n < 2:
        raise ValueError(f"gradient: axis {axis} must have two samples or more, but it has {n}.")
    if not typeof(spacing).shape:
        inner = (moved[2:] - moved[:-2]) / (2 * spacing)
        first, last = (moved[1:2] - moved[:1]) / spacing, (moved[-1:] - moved[-2:-1]) / spacing
    else:
        gaps = reshape(diff(spacing), (n - 1, *(1,) * (typeof(moved).ndim - 1)))
        before, after = gaps[:-1], gaps[1:]
        slopes = (moved[1:] - moved[:-1]) / gaps
        inner = (slopes[:-1] * after + slopes[1:] * before) / (before + after)
        first, last = slopes[:1], slopes[-1:]
    return moveaxis(concatenate([first, inner, last]), 0, axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral along an axis, by the areas of trapezoids.

    Args:
        y: the values.
        x: the places of the samples: a vector, or an array of the shape of ``y``.
        dx: their distance where ``x`` is not given; an array broadcasts with the pairs of
            neighbours.
        axis: the axis.

    >>> jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]))
    Array(4., dtype=float32)
    """
    (values,) = inexact("trapezoid", strong_operand("trapezoid", y))
    place = axis_argument("trapezoid", axis, typeof(values).ndim)
    size, ndim = typeof(values).shape[place], typeof(values).ndim
    left = lax.slice_in_dim(values, 0, max(size - 1, 0), axis=place)
    right = lax.slice_in_dim(values, min(1, size), size, axis=place)
    width = dx
    if x is not None:
        (places,) = inexact("trapezoid", x)
        width = diff(places, axis=0 if typeof(places).ndim == 1 else axis)
        if typeof(places).ndim == 1:
            width = reshape(width, (-1, *(1,) * (ndim - 1 - place)))
    if typeof(width).ndim:
        width = lax.broadcast_to_rank(width, ndim)
    return 0.5 * sum(width * (left + right), place - ndim)


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Array:
    """Phases without jumps: neighbours differ by no more than half a period.

    Args:
        p: an array of real numbers.
        discont: the least jump that is removed; by default half a period.
        axis: the axis.
        period: the period. If it and all phases are integers, so are the results.

    >>> jnp.unwrap(jnp.array([0.0, 3.0, 4.0]), period=4.0)
    Array([ 0., -1.,  0.], dtype=float32)
    """
    x = strong_operand("unwrap", p)
    require_real("unwrap", x)
    dtype = result_type(x, period)
    whole = dtypes.is_integer(dtype)
    x = convert(x, dtype if whole else dtypes.inexact_dtype(dtype), False)
    place = axis_argument("unwrap", axis, typeof(x).ndim)
    if not typeof(x).shape[place]:
        return x
    half = period // 2 if whole else period / 2
    steps = diff(x, axis=place)
    wrapped = remainder(steps + half, period) - half
    if not whole or period % 2 == 0:
        # Steps of half a period keep their direction.
        wrapped = where((wrapped == -half) & (steps > 0), half, wrapped)
    limit = period / 2 if discont is None else discont
    excess = where(absolute(steps) < limit, 0, wrapped - steps)
    head = lax.slice_in_dim(x, 0, 1, axis=place)
    tail = lax.slice_in_dim(x, 1, typeof(x).shape[place], axis=place)
    return concatenate([head, tail + lax.cumsum(excess, place)], place, typeof(x).dtype)
