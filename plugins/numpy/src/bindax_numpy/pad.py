"""Arrays with more elements around them."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, Dimension, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axis_argument, convert, static_int
from bindax_numpy._operands import (
    array_operand,
    as_operand,
    checked,
)
from bindax_numpy.arithmetic import clip, maximum, round
from bindax_numpy.comparison import where
from bindax_numpy.concatenate import concatenate
from bindax_numpy.index_grids import apply_along_axis
from bindax_numpy.indexing import take
from bindax_numpy.quantiles import median
from bindax_numpy.ranges import arange, linspace
from bindax_numpy.reductions import max, min
from bindax_numpy.reshaping import broadcast_to, flip
from bindax_numpy.statistics import mean

_STATISTICS: dict[str, Any] = {"maximum": max, "minimum": min, "mean": mean, "median": median}
_OPTIONS: dict[str, set[str]] = {
    "constant": {"constant_values"},
    "edge": set(),
    "empty": set(),
    "linear_ramp": {"end_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set(),
    **{mode: {"stat_length"} for mode in _STATISTICS},
}
# What NumPy's functions of these names do, also for sizes that are known at a call only.
_FOR_SYMBOLIC_SIZES = SimpleNamespace(arange=arange, clip=clip, maximum=maximum, where=where)


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """An array with more elements around it.

    Args:
        array: an array.
        pad_width: how many: one integer for every side of every axis, a pair (before, after) for
            every axis, a pair for each axis, or a dict from axes to either.
        mode: what is added: "constant", "empty" (which is 0), the "edge" elements, "linear_ramp"
            from them to other values, what they "reflect" (without the edges) or "symmetric" (with
            them), "wrap" for the other side, or the "maximum", "minimum", "mean" or "median".
            A function takes each vector with zeros at its ends, their two numbers, the axis and a
            dict of the further arguments, and returns the vector.
        **kwargs: ``constant_values`` of "constant" and ``end_values`` of "linear_ramp", as many as
            for ``pad_width``, by default 0; ``stat_length`` of the statistics: how many elements at
            the edge count, likewise, by default all; ``reflect_type`` of "reflect" and
            "symmetric": "even", or "odd" for twice the edge minus the mirror image.

    Raises:
        ValueError: for any other mode, arguments that a mode does not have, and what cannot be
            paired with the axes.

    >>> jnp.pad(jnp.array([1, 2]), (1, 2), constant_values=9)
    Array([9, 1, 2, 9, 9], dtype=int32)
    >>> jnp.pad(jnp.array([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = array_operand("pad", array)
    if callable(mode):
        return _by_function(x, _widths(pad_width, typeof(x).ndim), mode, kwargs)
    if mode not in _OPTIONS:
        raise ValueError(f"pad: mode must be one of {sorted(_OPTIONS)}, but it is {mode!r}.")
    unknown = set(kwargs) - _OPTIONS[mode]
    if unknown:
        raise ValueError(
            f"pad with mode {mode!r} takes {sorted(_OPTIONS[mode]) or 'no further arguments'}, but "
            f"not {sorted(unknown)}."
        )
    made = _padded(x, _widths(pad_width, typeof(x).ndim), mode, kwargs)
    return convert(made, typeof(x).dtype, typeof(x).weak_type)


def _padded(x: Any, widths: list[tuple[int, int]], mode: str, kwargs: dict[str, Any]) -> Any:
    if mode in ("constant", "empty"):
        return _with_constants(x, widths, kwargs.get("constant_values", 0))
    if mode == "linear_ramp":
        return _with_ramps(x, widths, kwargs.get("end_values", 0))
    if mode in _STATISTICS:
        return _with_statistics(x, widths, mode, kwargs.get("stat_length"))
    odd = kwargs.get("reflect_type", "even")
    if odd not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd', but it is {odd!r}.")
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = _mirrored(x, axis, before, after, mode, odd == "odd")
    return x


def _by_function(x: Any, widths: list[tuple[int, int]], function: Any, kwargs: Any) -> Any:
    """Zeros around an array, then every vector along each axis as a function returns it."""
    x = _with_constants(x, widths, 0)
    for axis, width in enumerate(widths):
        x = apply_along_axis(function, axis, x, width, axis, kwargs)
    return x


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, Mapping):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            widths[axis_argument("pad", axis, ndim)] = _widths(width, 1)[0]
        return widths
    rows = np.asarray(pad_width, object if _has_dimension(pad_width) else None)
    integers = rows.dtype.kind in "iu" or all(isinstance(n, (int, Dimension)) for n in rows.flat)
    legal = rows.shape in ((), (1,), (2,), (1, 2), (ndim, 2), (ndim, 1))
    if not legal or not integers or any(n < 0 for n in rows.flat if not isinstance(n, Dimension)):
        raise (ValueError if integers else TypeError)(
            f"pad: pad_width must be an integer, a pair, or a pair for each of {ndim} axes, none "
            f"of them negative, but it is {pad_width!r}."
        )
    pairs = np.broadcast_to(rows, (ndim, 2))
    low, high = ([static_int("pad", "pad_width", n) for n in side] for side in pairs.T)
    return list(zip(low, high, strict=True))


def _has_dimension(widths: Any) -> bool:
    """Tell whether there is a symbolic number in nested sequences."""
    if isinstance(widths, (list, tuple)):
        return any(map(_has_dimension, widths))
    return isinstance(widths, Dimension)


def _value_per_side(name: str, x: Any, given: Any) -> Any:
    """Values of the dtype of the array: one for each side of each axis, or a scalar for all."""
    aval = typeof(x)
    host = np.asarray(given) if isinstance(given, (list, tuple)) else given
    values = as_operand(convert(checked("pad", host), aval.dtype, aval.weak_type))
    shape, ndim = typeof(values).shape, aval.ndim
    if not shape:
        return values
    if shape in ((1,), (1, 1), (2,), (1, 2), (ndim, 2), (ndim, 1)):
        return broadcast_to(values, (ndim, 2))
    raise ValueError(
        f"pad: {name} must be a scalar, a pair, or a pair for each of {ndim} axes, but their "
        f"shape is {shape}."
    )


def _with_constants(x: Any, widths: list[tuple[int, int]], given: Any) -> Any:
    if type(given) is int and given == 0:
        values = np.zeros((), typeof(x).dtype)  # which is not traced, as terms of a sum need it
    else:
        values = _value_per_side("constant_values", x, given)
    if not typeof(values).shape:
        return lax.pad(x, values, [(low, high, 0) for low, high in widths])
    for axis, sides in enumerate(widths):
        for side, width in enumerate(sides):
            edges = [(0, 0, 0)] * typeof(x).ndim
            edges[axis] = (0, width, 0) if side else (width, 0, 0)
            x = lax.pad(x, values[axis, side], edges)
    return x


def _edges(x: Any, axis: int) -> tuple[Any, Any]:
    size = typeof(x).shape[axis]
    if not size:
        raise ValueError(f"pad: axis {axis} of {typeof(x).str_short()} has no elements to repeat.")
    first = lax.slice_in_dim(x, 0, 1, axis=axis)
    return first, lax.slice_in_dim(x, size - 1, size, axis=axis)


def _with_ramps(x: Any, widths: list[tuple[int, int]], given: Any) -> Any:
    values = _value_per_side("end_values", x, given)
    dtype = typeof(x).dtype
    for axis, sides in enumerate(widths):
        ramps: list[Any] = []
        for side, (width, edge) in enumerate(zip(sides, _edges(x, axis), strict=True)):
            end = values[axis, side] if typeof(values).shape else values
            edge = lax.squeeze(edge, (axis,))
            ramp = linspace(end, edge, width, endpoint=False, dtype=dtype, axis=axis)
            ramps.append(flip(ramp, axis) if side else ramp)
        x = concatenate([ramps[0], x, ramps[1]], axis)
    return x


def _with_statistics(x: Any, widths: list[tuple[int, int]], mode: str, length: Any) -> Any:
    aval = typeof(x)
    counts = None if length is None else _widths(length, aval.ndim)
    if counts is not None and any(n < 1 for pair in counts for n in pair):
        raise ValueError(f"pad: stat_length must be positive, but it is {length}.")
    for axis, sides in enumerate(widths):
        size = typeof(x).shape[axis]
        _edges(x, axis)
        parts: list[Any] = []
        for side, width in enumerate(sides):
            n = size if counts is None else sorted((counts[axis][side], size))[0]
            start = size - n if side else 0
            found = _STATISTICS[mode](
                lax.slice_in_dim(x, start, start + n, axis=axis), axis, keepdims=True
            )
            if dtypes.is_integer(aval.dtype) and mode in ("mean", "median"):
                found = round(found)
            shape = [width if i == axis else m for i, m in enumerate(typeof(x).shape)]
            parts.append(broadcast_to(convert(found, aval.dtype, False), shape))
        x = concatenate([parts[0], x, parts[1]], axis)
    return x


def _mirrored(x: Any, axis: int, before: int, after: int, mode: str, odd: bool) -> Any:
    """Take elements by position: repeated, mirrored or wrapped as often as needed."""
    first, last = _edges(x, axis)
    size = typeof(x).shape[axis]
    xp: Any = np
    if any(isinstance(n, Dimension) for n in (before, size, after)):
        xp = _FOR_SYMBOLIC_SIZES
    positions = xp.arange(-before, size + after)
    period = xp.maximum(size if mode == "symmetric" else size - 1, 1)
    out = take(x, _sources(xp, positions, size, period, mode).astype(np.int32), axis)
    if not odd:
        return out
    # A period goes there and back; "reflect" does not repeat the edges.
    turns = positions // period
    # Each mirror turns values round an edge: after two of them they have moved by twice the span.
    moved = _column(xp.where(turns % 2 == 0, 1, -1), axis, x)
    spans = _column(2 * ((turns + 1) // 2), axis, x)
    # Where a turn is odd, what is mirrored is -x plus twice one edge.
    firsts = _column(xp.where(turns % 2 == 0, 0, 2), axis, x)
    return moved * out + firsts * first + spans * (last - first)


def _sources(xp: Any, positions: Any, size: Any, period: Any, mode: str) -> Any:
    """Return the index of the element that stands at each position."""
    if mode == "edge":
        return xp.clip(positions, 0, size - 1)
    if mode == "wrap":
        return positions % size
    there = positions % (2 * period)
    back = 2 * period - there - (mode == "symmetric")
    # One element reflects itself.
    return xp.clip(xp.where(there < size, there, back), 0, size - 1)


def _column(values: Any, axis: int, x: Any) -> Any:
    aval = typeof(x)
    shape = [values.shape[0] if i == axis else 1 for i in range(aval.ndim)]
    return values.astype(aval.dtype).reshape(shape)
