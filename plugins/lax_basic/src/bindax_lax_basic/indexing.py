"""NumPy-style ``x[...]``: static integers, slices, None and Ellipsis, and arrays as indices.

What is known while tracing becomes slices and reversals. An index that is an array (or traced)
selects along one axis through ``take``.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from bindax_core.extend import Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.gathering import take
from bindax_lax_basic.shape import expand_dims, rev_p, squeeze_p
from bindax_lax_basic.slicing import slice_p

_WHOLE = slice(None)


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``, by NumPy's rules.

    Raises:
        IndexError: when there are too many indices, or a static one is out of bounds.
        TypeError: when an index is of another type than those.

    An index in an array that is out of bounds is taken to the nearest end, as in compiled code.
    """
    shape = typeof(x).shape
    if type(index) is int and shape:  # the commonest index, and the one iteration uses
        return _take_static(x, shape, [(_static_index(index, 0, shape), 1, 1, True)])
    entries = _expand(index if isinstance(index, tuple) else (index,), shape)
    boxes: list[tuple[int, int, int, bool]] = []
    arrays: list[tuple[int, Any]] = []
    new_axes: list[int] = []
    axis = out_axis = 0
    for entry in entries:
        if entry is None:
            new_axes.append(out_axis)
            out_axis += 1
            continue
        box = _static_box(entry, axis, shape)
        if box is None:
            arrays.append((out_axis - len(new_axes), entry))
            box = (0, shape[axis], 1, False)
        boxes.append(box)
        axis += 1
        out_axis += not box[3]
    out = _take_static(x, shape, boxes)
    if arrays:
        if new_axes:
            raise TypeError(
                "an index with both arrays and None is not supported; index with the arrays "
                "first, then add axes with x[:, None] or expand_dims."
            )
        return _take_arrays(out, arrays)
    return expand_dims(out, new_axes) if new_axes else out


def _expand(index: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """An index without Ellipsis, with one entry for each axis beside the None entries."""
    places = [i for i, entry in enumerate(index) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can have one Ellipsis ('...') only.")
    used = len([entry for entry in index if entry is not None and entry is not Ellipsis])
    if used > len(shape):
        raise IndexError(
            f"too many indices: {used} for an array with {len(shape)} axes, of shape {shape}."
        )
    place = places[0] if places else len(index)
    missing = [_WHOLE] * (len(shape) - used)
    return [*index[:place], *missing, *index[place + len(places) :]]


def _static_index(index: int, axis: int, shape: tuple[int, ...]) -> int:
    size = shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"index {index} is out of bounds for axis {axis} with size {size} (shape {shape})."
        )
    return index + size if index < 0 else index


def _static_box(entry: Any, axis: int, shape: tuple[int, ...]) -> tuple[int, int, int, bool] | None:
    """(start, length, step, whether the axis is removed), or None for an array."""
    if isinstance(entry, slice):
        try:
            positions = range(shape[axis])[entry]
        except TypeError:
            raise TypeError(
                f"the bounds of a slice must be integers known while tracing, but got {entry}; "
                f"for a traced start use lax.dynamic_slice_in_dim."
            ) from None
        return positions.start, len(positions), positions.step, False
    if isinstance(entry, (bool, np.bool_)) or getattr(entry, "dtype", None) == dtypes.bool_:
        raise TypeError(
            f"indexing with booleans gives a shape that depends on values: {entry!r:.60}; use "
            f"lax.select_n(mask, otherwise, x), or index with integers."
        )
    if isinstance(entry, (int, np.integer)):
        return _static_index(operator.index(entry), axis, shape), 1, 1, True
    if isinstance(entry, (list, float, str)) or not _is_integer_array(entry):
        raise TypeError(
            f"an array is indexed by integers, slices, None, Ellipsis and arrays of integers, but "
            f"got {entry!r:.60} of type {type(entry).__name__}."
        )
    return None


def _is_integer_array(entry: Any) -> bool:
    try:
        return dtypes.is_integer(typeof(entry).dtype)
    except TypeError:
        return False


def _take_static(x: Any, shape: tuple[int, ...], boxes: list[tuple[int, int, int, bool]]) -> Any:
    """Apply (start, length, step, removed) to the leading axes of an array."""
    starts, stops, steps = [0] * len(shape), list(shape), [1] * len(shape)
    reverse, removed = [], []
    for axis, (start, length, step, remove) in enumerate(boxes):
        last = start + (length - 1) * step
        if length == 0:
            starts[axis] = stops[axis] = 0
        elif step < 0:
            reverse.append(axis)
            starts[axis], stops[axis], steps[axis] = last, start + 1, -step
        else:
            starts[axis], stops[axis], steps[axis] = start, last + 1, step
        if remove:
            removed.append(axis)
    if any(starts) or tuple(stops) != shape:
        strides = None if all(step == 1 for step in steps) else tuple(steps)
        x = slice_p.bind(
            x, start_indices=tuple(starts), limit_indices=tuple(stops), strides=strides
        )
    elif any(step != 1 for step in steps):
        x = slice_p.bind(
            x, start_indices=tuple(starts), limit_indices=tuple(stops), strides=tuple(steps)
        )
    if reverse:
        x = rev_p.bind(x, dimensions=tuple(reverse))
    return squeeze_p.bind(x, dimensions=tuple(removed)) if removed else x


def _take_arrays(x: Any, arrays: list[tuple[int, Any]]) -> Any:
    """Apply indices that are arrays: one along its axis, scalars along several."""
    if len(arrays) == 1:
        axis, index = arrays[0]
        return take(x, index, axis)
    if any(typeof(index).shape for _, index in arrays):
        raise TypeError(
            "indexing with several arrays at once is not supported; index one axis at a time, or "
            "join the indices into one of the reshaped array."
        )
    for axis, index in reversed(arrays):
        x = take(x, index, axis)
    return x


def iterate(x: Any) -> Any:
    """The slices of an array along its first axis, for ``for`` and unpacking."""
    shape = typeof(x).shape
    if not shape:
        what = "a traced scalar" if isinstance(x, Tracer) else "a scalar array"
        raise TypeError(f"{what} cannot be iterated over: {typeof(x).str_short()} has no axes.")
    return iter([getitem(x, i) for i in range(shape[0])])


__all__ = ["getitem", "iterate"]
