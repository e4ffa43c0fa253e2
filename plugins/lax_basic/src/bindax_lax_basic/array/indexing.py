"""NumPy-style ``x[...]``: integers, slices, None, Ellipsis, masks, and arrays of integers.

Where every entry is known while tracing and is no array, slices and reversals do; otherwise it is
one gather.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bindax_core.extend import (
    Array,
    ShapedArray,
    Tracer,
    config,
    is_extended,
    trace_state,
    typeof,
)
from bindax_lax_basic.array.index_parsing import Item, NewAxis, Positions, Run, parse_index
from bindax_lax_basic.array.indexer import Indexer, build_indexer
from bindax_lax_basic.gather_scatter.dimension_numbers import GatherScatterMode
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import default_fill, gather
from bindax_lax_basic.shape.creation import full_like
from bindax_lax_basic.shape.reshape import expand_dims, squeeze_p
from bindax_lax_basic.shape.rev import rev_p
from bindax_lax_basic.shape.slice_and_pad import slice_p

Shape = tuple[int, ...]
_Box = tuple[int, int, int, bool]


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``, by NumPy's rules; ``ds`` makes slices with a traced start.

    Raises:
        IndexError: when there are too many indices, a static one is out of bounds, or a mask does
            not have the shape of its axes.
        TypeError: when an index is of another type than those.

    An index in an array that is out of bounds is taken to the nearest end, as in compiled code;
    ``x.at[index].get(mode="fill")`` reads a fill value there.
    """
    shape = typeof(x).shape
    if type(index) is int and shape:  # the commonest index, and the one iteration uses
        return _take_boxes(x, shape, [(_checked(index, 0, shape), 1, 1, True)])
    items = [_within(item, shape) for item in parse_index(index, shape)]
    if all(map(_is_static, items)):
        return _take_static(x, shape, items)
    return take_indexed(x, build_indexer(items, shape), GatherScatterMode.CLIP, None)


def _is_static(item: Item) -> bool:
    if isinstance(item, Positions):
        return type(item.value) is int
    return not (isinstance(item, Run) and item.moves)


def parse(index: Any, shape: Shape) -> list[Item]:
    """The entries of an index of an update, checked where ``config.check_static_indices`` asks."""
    items = parse_index(index, shape)
    if config.check_static_indices:
        for item in items:
            _within(item, shape)
    return items


def _within(item: Item, shape: Shape) -> Item:
    """An entry of an index; a static position is checked, and counted from the start."""
    if isinstance(item, Positions) and type(item.value) is int and item.axis is not None:
        return item._replace(value=_checked(item.value, item.axis, shape))
    return item


def _checked(index: int, axis: int, shape: Shape) -> int:
    """A static index, counted from the start."""
    size = shape[axis]
    if not -size <= index < size:
        if config.conventions == "jax" and size and not config.check_static_indices:
            return size - 1 if index > 0 else 0
        raise IndexError(
            f"index {index} is out of bounds for axis {axis} with size {size} (shape {shape})."
        )
    return index + size if index < 0 else index


def take_indexed(
    x: Any,
    indexer: Indexer,
    mode: GatherScatterMode,
    fill_value: Any,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Any:
    """Elements that an indexer selects from an array."""
    fills = mode in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT)
    if indexer.empty:
        if 0 not in indexer.shape and not fills:
            raise IndexError(
                f"an axis without elements is indexed: the array has the shape {typeof(x).shape}, "
                f"and the result would have {indexer.shape}."
            )
        if mode is GatherScatterMode.ONE_HOT:
            fill_value = 0
        value = default_fill(typeof(x).dtype) if fill_value is None else fill_value
        return full_like(x, value, shape=indexer.shape)
    out = gather(
        x,
        indexer.indices,
        indexer.numbers,
        indexer.slice_sizes,
        indices_are_sorted=indices_are_sorted or indexer.is_sorted,
        unique_indices=unique_indices or indexer.unique,
        mode=mode,
        fill_value=fill_value,
    )
    if indexer.reverse:
        out = rev_p.bind(out, dimensions=indexer.reverse)
    return expand_dims(out, indexer.new_axes) if indexer.new_axes else out


def _take_static(x: Any, shape: Shape, items: Sequence[Item]) -> Any:
    """Apply an index without arrays."""
    boxes: list[_Box] = []
    new_axes: list[int] = []
    out_axis = 0
    for item in items:
        if isinstance(item, NewAxis):
            new_axes.append(out_axis)
            out_axis += 1
        elif isinstance(item, Run):
            boxes.append((item.start, item.length, item.step, False))
            out_axis += 1
        else:
            boxes.append((item.value, 1, 1, True))
    out = _take_boxes(x, shape, boxes)
    return expand_dims(out, new_axes) if new_axes else out


def _take_boxes(x: Any, shape: Shape, boxes: Sequence[_Box]) -> Any:
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
    strided = any(step != 1 for step in steps)
    if strided or any(start != 0 for start in starts) or tuple(stops) != shape:
        strides = tuple(steps) if strided else None
        x = slice_p.bind(
            x, start_indices=tuple(starts), limit_indices=tuple(stops), strides=strides
        )
    if reverse:
        x = rev_p.bind(x, dimensions=tuple(reverse))
    return squeeze_p.bind(x, dimensions=tuple(removed)) if removed else x


def iterate(x: Any) -> Any:
    """The slices of an array along its first axis, for ``for`` and unpacking, one at a time."""
    aval = typeof(x)
    shape = aval.shape
    if not shape:
        what = "a traced scalar" if isinstance(x, Tracer) else "a scalar array"
        raise TypeError(f"{what} cannot be iterated over: {aval.str_short()} has no axes.")
    if type(x) is not Array or x.committed or is_extended(aval.dtype) or trace_state.dynamic:
        return (getitem(x, i) for i in range(shape[0]))
    return _rows(x, aval.update(shape=shape[1:]))


def _rows(x: Array, aval: ShapedArray) -> Iterator[Array]:
    """The slices of an array that is read at once, which takes less time than operations do."""
    for row in x.numpy():
        yield Array.from_numpy(row, aval)
