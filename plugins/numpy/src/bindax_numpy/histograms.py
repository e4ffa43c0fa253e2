"""Counts of elements in intervals, and interpolation between points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_core.sharding import as_open_sum
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import convert, default_dtype, larger, static_int
from bindax_numpy._operands import array_operand, inexact, put_into, require_real, strong_operand
from bindax_numpy.arithmetic import clip, maximum
from bindax_numpy.comparison import equal, where
from bindax_numpy.concatenate import concatenate
from bindax_numpy.cumulative import diff
from bindax_numpy.indexing import index_operand, take
from bindax_numpy.linalg._matrices import inexact_operands
from bindax_numpy.nonzero_searchsorted import searchsorted, static_size
from bindax_numpy.ranges import linspace
from bindax_numpy.reductions import max, min, sum
from bindax_numpy.reshaping import ravel, reshape
from bindax_numpy.sorting import argsort
from bindax_transforms.extend import decided


def bincount(
    x: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Count the occurrences of each integer.

    Args:
        x: a vector of integers or booleans; negative ones count as 0.
        weights: what each counts for; by default 1.
        minlength: the least size of the result.
        length: its size, needed where ``x`` is traced; greater integers are not counted.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ConcretizationTypeError: without ``length`` where ``x`` is traced.

    >>> jnp.bincount(jnp.array([1, 1, 3]))
    Array([0, 2, 0, 1], dtype=int32)
    """
    if out_sharding is not None:
        return decided(bincount, out_sharding, (x, weights, minlength), {"length": length})
    index = array_operand("bincount", x)
    if typeof(index).dtype == dtypes.bool_:
        index = convert(index, np.dtype(np.int32), False)
    index = index_operand("bincount", index)
    if typeof(index).ndim != 1:
        raise ValueError(f"bincount takes a vector, but got {typeof(index).str_short()}.")
    if length is None:
        greatest = max(index, initial=-1) + 1 if typeof(index).size else 0
        least = static_int("bincount", "minlength", minlength)
        size = larger(static_size("bincount", greatest, None, "length"), least)
    else:
        size = static_int("bincount", "length", length)
    counted = 1 if weights is None else strong_operand("bincount", weights)
    dtype = default_dtype("int") if weights is None else typeof(counted).dtype
    counts = as_open_sum(lax.full((size,), 0, dtype))
    return counts.at[maximum(index, 0)].add(counted, mode="drop")


def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Sequence[Any] | None = None, weights: Any = None
) -> Array:
    """The bounds of the intervals of a histogram.

    Args:
        a: an array of real numbers.
        bins: how many intervals, known while tracing, or their bounds in ascending order.
        range: the least and the greatest bound; by default those of the elements.
        weights: accepted for compatibility.

    >>> jnp.histogram_bin_edges(jnp.array([0.0, 4.0]), bins=2)
    Array([0., 2., 4.], dtype=float32)
    """
    if isinstance(bins, str):
        raise ValueError(
            f"histogram: bins must be a number of intervals or their bounds, but they are {bins!r}."
        )
    x, edges = ravel(strong_operand("histogram", a)), array_operand("histogram", bins)
    require_real("histogram", x, edges)
    dtype = dtypes.inexact_dtype(typeof(x).dtype)
    if typeof(edges).ndim == 1:
        return convert(edges, dtypes.joined_dtype(dtype, typeof(edges).dtype), False)
    count = static_int("histogram", "bins", bins)
    if range is None:
        low, high = (min(x), max(x)) if typeof(x).size else (0.0, 1.0)
    else:
        low, high = range
    low, high = (convert(array_operand("histogram", v), dtype, False) for v in (low, high))
    # Equal bounds are moved apart, so that the intervals are not empty.
    equal = lax.eq(low, high)
    low, high = where(equal, low - 0.5, low), where(equal, high + 0.5, high)
    return linspace(low, high, count + 1, dtype=dtype)


def histogram(
    a: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, Array]:
    """Count the elements in each of several intervals.

    Args:
        a: an array of real numbers.
        bins: how many intervals, known while tracing, or their bounds in ascending order. Each
            holds its lower bound, the last one its upper bound, too.
        range: the least and the greatest bound; by default those of the elements.
        weights: what each element counts for, of the shape of ``a``; by default 1.
        density: whether the counts are divided so that the integral over the intervals is 1.

    Returns:
        The counts, as floats, and the bounds.

    >>> jnp.histogram(jnp.array([0.0, 1.0, 4.0]), bins=2)
    (Array([2., 1.], dtype=float32), Array([0., 2., 4.], dtype=float32))
    """
    x = strong_operand("histogram", a)
    if weights is not None:
        weights = strong_operand("histogram", weights)
        if weights.shape != x.shape:
            raise ValueError(
                f"histogram: weights must have the shape of the array, {x.shape}, but have "
                f"{weights.shape}."
            )
        weights = ravel(weights)
    ranges = None if range is None else [range]
    counts, edges = histogramdd(reshape(x, (x.size, 1)), [bins], ranges, weights, density)
    if weights is None:
        counts = convert(counts, typeof(edges[0]).dtype, False)
    return counts, edges[0]


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """Count the points in each cell of a grid.

    Args:
        x: the first coordinates, a vector.
        y: the second ones.
        bins: as for ``histogram``, for both axes or a pair, or the bounds for both.
        range: a pair of pairs, as for ``histogram``.
        weights: what each point counts for.
        density: as for ``histogram``.

    Returns:
        The counts and the bounds along both axes.

    >>> jnp.histogram2d(jnp.array([0.0, 1.0]), jnp.array([0.0, 1.0]), bins=2)[0]
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    sample = lax.concatenate([reshape(ravel(v), (-1, 1)) for v in inexact("histogram2d", x, y)], 1)
    one_of_each = isinstance(bins, (list, tuple)) and len(bins) in (1, 2)
    if not one_of_each and not isinstance(bins, int):
        bins = [bins, bins]
    counts, edges = histogramdd(sample, bins, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """Count the points in each cell of a grid of any number of axes.

    Args:
        sample: the points, of shape ``[n, d]``.
        bins: as for ``histogram``, for all axes or a sequence of one for each.
        range: None, or for each axis None or a pair.
        weights: what each point counts for.
        density: as for ``histogram``.

    Returns:
        The counts, and a list of the bounds along each axis.

    Raises:
        ValueError: when ``sample``, ``bins`` and ``range`` have different numbers of axes.

    >>> jnp.histogramdd(jnp.array([[0.0], [1.0], [4.0]]), bins=2)[0]
    Array([2, 1], dtype=int32)
    """
    points = strong_operand("histogramdd", sample)
    if typeof(points).ndim != 2:
        raise ValueError(f"histogramdd takes points, [n, d], but got {typeof(points).str_short()}.")
    n, d = typeof(points).shape
    if weights is not None and typeof(strong_operand("histogramdd", weights)).shape != (n,):
        raise ValueError(
            f"histogramdd: weights must be a vector with one entry for each of the {n} points, "
            f"but are {typeof(strong_operand('histogramdd', weights)).str_short()}."
        )
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * d
    ranges = [None] * d if range is None else list(range)
    if len(each) != d or len(ranges) != d:
        raise ValueError(
            f"histogramdd: points of {d} axes need bins and ranges for as many, but there are "
            f"{len(each)} and {len(ranges)}."
        )
    edges = []
    cell: Any = 0
    inside = lax.full((n,), True, dtypes.bool_)
    for i, (count, bounds) in enumerate(zip(each, ranges, strict=True)):
        edges.append(histogram_bin_edges(points[:, i], count, bounds))
        x = convert(points[:, i], typeof(edges[i]).dtype, False)
        place = searchsorted(edges[i], x, "right")
        place = where(equal(x, edges[i][-1]), place - 1, place)
        m = typeof(edges[i]).size - 1
        inside = inside & (place > 0) & (place <= m)
        cell = cell * m + clip(place - 1, 0, m - 1)
    sizes = [typeof(e).size - 1 for e in edges]
    total = math.prod(sizes)
    counts = bincount(where(inside, cell, total), weights, length=total)
    counts = reshape(counts, sizes)
    return (_density(counts, edges) if density else counts), edges


def _density(counts: Any, edges: Sequence[Any]) -> Any:
    dtype = dtypes.joined_dtype(typeof(counts).dtype, *(typeof(e).dtype for e in edges))
    counts = convert(counts, dtype, False)
    out = counts / sum(counts)
    for i, bounds in enumerate(edges):
        column = [1] * len(edges)
        column[i] = -1
        out = out / reshape(convert(diff(bounds), dtype, False), column)
    return out


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Linear interpolation between points.

    Args:
        x: where to interpolate.
        xp: the places of the points, a vector in ascending order unless there is a period.
        fp: their values, a vector.
        left: the value left of all points; by default that of the first one, and with
            "extrapolate" that of the line through the first two.
        right: the value right of all points, likewise.
        period: the period with which the points repeat.

    Raises:
        ValueError: when the points are no vectors of one size, or there are none, and for any
            other text.

    >>> jnp.interp(jnp.array([0.5, 9.0]), jnp.array([0.0, 1.0]), jnp.array([1.0, 3.0]))
    Array([2., 3.], dtype=float32)
    """
    places, values = strong_operand("interp", xp), strong_operand("interp", fp)
    own, other = typeof(places), typeof(values)
    if own.ndim != 1 or own.shape != other.shape or not own.size:
        raise ValueError(
            f"interp: xp and fp must be vectors of one size that is not 0, but they are "
            f"{own.str_short()} and {other.str_short()}."
        )
    if type(x) in (int, float):
        x = put_into("interp", x, dtypes.inexact_dtype(own.dtype))
    at, places = inexact_operands("interp", x, places)
    require_real("interp", at)
    (values,) = inexact("interp", values)
    if period is not None:
        left = right = None
        at, places, values = _repeated(at, places, values, abs(period))
    n = typeof(places).size
    above = clip(searchsorted(places, at, "right"), 1, sorted((n - 1, 1))[-1])
    low, high, start, end = (
        take(v, i, mode="clip") for v in (places, values) for i in (above - 1, above)
    )
    width = high - low
    # Between equal places there is nothing to interpolate.
    flat = lax.eq(width, lax.full_like(width, 0))
    slope = where(flat, 0.0, (at - low) / where(flat, 1.0, width))
    out = start + slope * (end - start)
    out = _beyond("left", left, at < places[0], values[0], out)
    return _beyond("right", right, at > places[-1], values[-1], out)


def _beyond(name: str, value: Any, outside: Any, nearest: Any, line: Any) -> Any:
    """A line, and outside of the points what was asked for."""
    if isinstance(value, str):
        if value != "extrapolate":
            raise ValueError(
                f"interp: {name} must be None, a number or 'extrapolate', but it is {value!r}."
            )
        return line
    return where(outside, nearest if value is None else value, line)


def _repeated(at: Any, places: Any, values: Any, period: Any) -> tuple[Any, Any, Any]:
    """Places within one period, and the points with a neighbour from the periods beside it."""
    at, places = at % period, places % period
    order = argsort(places)
    places, values = take(places, order), take(values, order)
    places = concatenate([places[-1:] - period, places, places[:1] + period])
    return at, places, concatenate([values[-1:], values, values[:1]])
