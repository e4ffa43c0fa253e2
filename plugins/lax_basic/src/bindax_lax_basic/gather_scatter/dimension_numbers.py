"""The geometry that gather and scatter share: dimension numbers, and what they mean in NumPy."""

from __future__ import annotations

import enum
import math
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_lax_basic.dtypes import INTEGER
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.types import require_kind, static_ints

__all__ = ["GatherDimensionNumbers", "GatherScatterMode", "ScatterDimensionNumbers"]


Dims = tuple[int, ...]


class GatherScatterMode(enum.Enum):
    """Treatment of windows that are not within the array.

    ``CLIP`` moves them to the nearest place that is; ``FILL_OR_DROP`` reads a fill value and drops
    what would be written; ``PROMISE_IN_BOUNDS`` says that there are none (and if there are, reads
    are moved and writes are dropped); ``ONE_HOT`` reads zero, as a product with one-hot rows does,
    and drops.

    >>> GatherScatterMode.from_any("clip") == GatherScatterMode.CLIP
    True
    """

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2
    ONE_HOT = 3

    @staticmethod
    def from_any(mode: Any) -> GatherScatterMode:
        """A mode from itself, its name (``"clip"``, ``"fill"``, …) or None for the default.

        Raises:
            ValueError: when it is none of these.
        """
        if isinstance(mode, GatherScatterMode):
            return mode
        try:
            return _MODES[mode]
        except (KeyError, TypeError):
            raise ValueError(
                f"mode must be 'clip', 'fill', 'drop', 'promise_in_bounds', 'one_hot' or a "
                f"GatherScatterMode, but it is {mode!r}."
            ) from None


CLIP, FILL = GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP
_MODES = {
    None: FILL,
    "clip": CLIP,
    "fill": FILL,
    "drop": FILL,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}


def numbers_argument(name: str, kind: type[Any], value: Any) -> Any:
    """Dimension numbers whose fields are tuples, from those that a user gives."""
    if not isinstance(value, tuple) or len(value) not in (3, 5):
        raise TypeError(f"{name}: dimension_numbers must be {kind.__name__}, but are {value!r}.")
    return kind(*[static_ints(name, "dimension_numbers", field) for field in value])


class GatherDimensionNumbers(NamedTuple):
    """Roles of the axes of a gather.

    Attributes:
        offset_dims: the axes of the result that run through a window.
        collapsed_slice_dims: the axes of the operand in which windows have size one, and which the
            result does not have.
        start_index_map: for each entry of an index vector (the last axis of the indices) the axis
            of the operand that it is a position on.
        operand_batching_dims: axes of the operand that go along with axes of the indices.
        start_indices_batching_dims: those axes of the indices.
    """

    offset_dims: Dims
    collapsed_slice_dims: Dims
    start_index_map: Dims
    operand_batching_dims: Dims = ()
    start_indices_batching_dims: Dims = ()


class ScatterDimensionNumbers(NamedTuple):
    """Roles of the axes of a scatter; the fields mirror ``GatherDimensionNumbers``.

    Attributes:
        update_window_dims: the axes of the updates that run through a window.
        inserted_window_dims: the axes of the operand that windows do not have.
        scatter_dims_to_operand_dims: for each entry of an index vector the operand's axis.
        operand_batching_dims: axes of the operand that go along with axes of the indices.
        scatter_indices_batching_dims: those axes of the indices.
    """

    update_window_dims: Dims
    inserted_window_dims: Dims
    scatter_dims_to_operand_dims: Dims
    operand_batching_dims: Dims = ()
    scatter_indices_batching_dims: Dims = ()

    def as_gather(self) -> GatherDimensionNumbers:
        """The gather that reads what this scatter writes."""
        return GatherDimensionNumbers(*self)


class Windows(NamedTuple):
    """Where the elements of windows are: one index array for each axis of the operand."""

    indices: tuple[NumPyArray, ...]  # broadcast against each other to (*batch, *window)
    valid: NumPyArray  # for each batch position whether its window is within the operand
    order: Dims  # for each axis of the result its place in (*batch, *window)
    shape: Dims  # the sizes of (*batch, *window)


def check_windows(
    name: str,
    x: ShapedArray,
    indices: ShapedArray,
    numbers: Any,
    sizes: Dims,
    *,
    into_nothing: bool = False,
) -> None:
    """Raise unless windows fit; ``into_nothing`` scatters drop those in an axis of no elements."""
    require_kind(name, indices, INTEGER, 1)
    _check_axes(name, x, indices, numbers)
    numbers = GatherDimensionNumbers(*numbers)
    gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    room = [
        max(size, 1) if into_nothing and axis in gone else size for axis, size in enumerate(x.shape)
    ]
    if len(sizes) != x.ndim or any(not 0 <= n <= r for n, r in zip(sizes, room, strict=False)):
        raise TypeError(
            f"{name}: the windows {sizes} do not fit into {x.str_short()}: it takes one size for "
            f"each axis, at most the axis's own (-1 stands for one that is not given)."
        )
    if not indices.ndim or indices.shape[-1] != len(numbers.start_index_map):
        raise TypeError(
            f"{name}: the last axis of the indices {indices.str_short()} must have as many entries "
            f"as axes are indexed, {len(numbers.start_index_map)}."
        )
    if any(sizes[axis] != 1 for axis in gone):
        raise TypeError(
            f"{name}: windows {sizes} must have size 1 along the axes {gone}, which the windows of "
            f"the result do not have."
        )
    if x.ndim - len(gone) != len(numbers.offset_dims):
        raise TypeError(
            f"{name}: {len(numbers.offset_dims)} window axes {numbers.offset_dims} are given, but "
            f"windows of {x.str_short()} without the axes {gone} have {x.ndim - len(gone)}."
        )


def _check_axes(name: str, x: ShapedArray, indices: ShapedArray, numbers: Any) -> None:
    """Raise unless the fields of dimension numbers name distinct axes that there are."""
    batch = max(indices.ndim - 1, 0)
    ranks = (batch + len(numbers[0]), x.ndim, x.ndim, x.ndim, batch)
    fields = getattr(numbers, "_fields", GatherDimensionNumbers._fields)
    for field, axes, rank in zip(fields, numbers, ranks, strict=False):
        if len(set(axes)) != len(axes) or not all(0 <= axis < rank for axis in axes):
            raise TypeError(
                f"{name}: {field} must be distinct axes, at least 0 and below {rank}, but they are "
                f"{tuple(axes)}."
            )


def update_sizes(rank: int, updates: Dims, numbers: ScatterDimensionNumbers) -> Dims:
    """The size of a window along each axis of the operand."""
    extents = iter([updates[axis] for axis in numbers.update_window_dims])
    inside = window_dims(rank, numbers.as_gather())
    return tuple([next(extents, -1) if axis in inside else 1 for axis in range(rank)])


def windows(
    shape: Dims, indices: NumPyArray, numbers: GatherDimensionNumbers, slice_sizes: Dims
) -> Windows:
    """The windows of a gather or scatter, those that are out of bounds moved to within."""
    batch = indices.shape[:-1]
    starts = indices.astype(np.int64)
    window_axes = window_dims(len(shape), numbers)
    rank = len(batch) + len(window_axes)
    places = []
    valid = np.ones(batch, np.bool_)
    for axis, (size, extent) in enumerate(zip(shape, slice_sizes, strict=True)):
        if axis in numbers.start_index_map:
            start = starts[..., numbers.start_index_map.index(axis)]
            limit = size - extent
            valid &= (start >= 0) & (start <= limit)
            start = np.clip(start, 0, limit)
        elif axis in numbers.operand_batching_dims:
            along = numbers.operand_batching_dims.index(axis)
            along = numbers.start_indices_batching_dims[along]
            sizes = [1] * len(batch)
            sizes[along] = size
            start = np.arange(size).reshape(sizes)
        else:
            start = np.zeros((1,) * len(batch), np.int64)
        start = start.reshape((*start.shape, *(1,) * len(window_axes)))
        if axis in window_axes:
            sizes = [1] * rank
            sizes[len(batch) + window_axes.index(axis)] = extent
            start = start + np.arange(extent).reshape(sizes)
        places.append(start)
    extents = tuple([slice_sizes[axis] for axis in window_axes])
    return Windows(tuple(places), valid, result_order(rank, numbers), (*batch, *extents))


def window_dims(rank: int, numbers: GatherDimensionNumbers) -> Dims:
    """The axes of the operand that run through a window and remain in the result."""
    gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    return tuple([axis for axis in range(rank) if axis not in gone])


def result_order(rank: int, numbers: GatherDimensionNumbers) -> Dims:
    """For each axis of the result its place in ``(*batch, *window)``."""
    batch = rank - len(numbers.offset_dims)
    order, next_batch = [], 0
    for axis in range(rank):
        if axis in numbers.offset_dims:
            order.append(batch + numbers.offset_dims.index(axis))
        else:
            order.append(next_batch)
            next_batch += 1
    return tuple(order)


def gather(operand: NumPyArray, found: Windows) -> NumPyArray:
    """Read windows."""
    if math.prod(found.shape) == 0 or operand.size == 0:
        out = np.zeros(found.shape, operand.dtype)
    else:
        whole = _whole_axes(operand, found)
        places = found.indices[: operand.ndim - whole]
        indices = tuple([place.reshape(place.shape[: place.ndim - whole]) for place in places])
        out = np.broadcast_to(operand[indices] if indices else operand, found.shape)
    return out.transpose(found.order)


def _whole_axes(operand: NumPyArray, found: Windows) -> int:
    """Number of last axes that every window takes whole; NumPy copies these at once."""
    count = 0
    while count < len(found.shape) - found.valid.ndim:
        places, size = found.indices[-1 - count], operand.shape[-1 - count]
        if size == 1 or not places.size == places.shape[-1 - count] == size:
            break
        count += 1
    return count


def _shift(axes: Dims) -> Dims:
    return tuple([axis + 1 for axis in axes])


def batched_numbers(numbers: Any, x_batched: bool, indices_batched: bool) -> Any:
    """Dimension numbers with one more axis in front of operand, indices, or both."""
    offset, collapsed, index_map, own, theirs = numbers
    if not x_batched:
        return type(numbers)(_shift(offset), collapsed, index_map, own, _shift(theirs))
    moved = _shift(collapsed), _shift(index_map)
    if not indices_batched:
        return type(numbers)((0, *_shift(offset)), *moved, _shift(own), theirs)
    return type(numbers)(_shift(offset), *moved, (0, *_shift(own)), (0, *_shift(theirs)))


def scatter(
    operand: NumPyArray, found: Windows, updates: NumPyArray, combine: np.ufunc | None
) -> NumPyArray:
    """Write windows, or combine them with what is there; those that are not valid are dropped."""
    out = operand.copy()
    if updates.size == 0 or operand.size == 0 or not found.valid.any():
        return out
    inverse = tuple(sorted(range(len(found.order)), key=found.order.__getitem__))
    updates = updates.transpose(inverse)
    if found.valid.size == 1:
        return _write_box(out, found, updates, combine)
    # One flat axis: NumPy then writes in order, so that the last of equal places is the one kept.
    flat: Any = np.int64(0)
    for size, places in zip(operand.shape, found.indices, strict=True):
        flat = flat * size + places
    flat = np.broadcast_to(flat, found.shape)
    if not found.valid.all():
        flat, updates = flat[found.valid], updates[found.valid]
    elements = out.reshape(-1)
    if combine is None:
        elements[flat.ravel()] = updates.ravel()
    else:
        combine.at(elements, flat.ravel(), updates.ravel())
    return out


def _write_box(
    out: NumPyArray, found: Windows, updates: NumPyArray, combine: np.ufunc | None
) -> NumPyArray:
    """Write a single window, which is a box of the array."""
    starts = [int(places.flat[0]) for places in found.indices]
    sizes = [places.size for places in found.indices]
    box = tuple([slice(start, start + n) for start, n in zip(starts, sizes, strict=True)])
    updates = updates.reshape(sizes)
    out[box] = updates if combine is None else combine(out[box], updates)
    return out
