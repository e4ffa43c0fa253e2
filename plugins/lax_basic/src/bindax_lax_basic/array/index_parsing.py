"""Entries of an index ``x[...]``: new axes, slices, and positions."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bindax_core.errors import NonConcreteBooleanIndexError
from bindax_core.extend import (
    Array,
    Dimension,
    Tracer,
    is_masked,
    is_value,
    typeof,
    unknown_type_error,
    unwrapped,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.array.dynamic_slices import Slice
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.errors import IndexTypeError
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.types import larger, smaller, static_int
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_lax_basic.shape.concatenate import concatenate_p

Shape = tuple[int, ...]


class NewAxis(NamedTuple):
    """An axis of size one that the result has and the array does not."""

    place: int


class Run(NamedTuple):
    """A slice of an axis: ``length`` positions from ``start``, ``step`` apart."""

    place: int
    axis: int
    start: Any  # an integer; an array of one that is traced or out of bounds
    length: int
    step: int

    @property
    def moves(self) -> bool:
        """Tell whether the start decides while the program runs, or is brought within bounds."""
        return isinstance(self.start, (Tracer, np.ndarray))


class Positions(NamedTuple):
    """Positions along an axis: an integer, an array of integers, or a traced one."""

    place: int  # the place of the entry in the index
    axis: int | None  # None for a mask without axes, whose positions have none
    value: Any
    sole: bool  # whether no position occurs twice, together with those of the same place

    @property
    def shape(self) -> Shape:
        """The shape of the positions."""
        return () if type(self.value) is int else tuple(self.value.shape)


Item = NewAxis | Run | Positions


def parse_index(index: Any, shape: Shape) -> list[Item]:
    """The items of an index, one for each axis of an array beside the new axes."""
    if isinstance(index, list):
        raise IndexTypeError(
            f"an array is indexed by integers, slices, None, Ellipsis and arrays of integers or "
            f"booleans, but got the list {index!r:.60}; index with numpy.array(...) instead."
        )
    entries = [_concrete(entry) for entry in (index if isinstance(index, tuple) else (index,))]
    used = sum([_axes_used(entry) for entry in entries])
    ellipses = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can have one Ellipsis ('...') only.")
    if used > len(shape):
        raise IndexError(
            f"too many indices: {used} for an array with {len(shape)} axes, of shape {shape}."
        )
    if not ellipses:
        entries.append(Ellipsis)
    items: list[Item] = []
    axis = 0
    for place, entry in enumerate(entries):
        if entry is Ellipsis:
            rest = range(axis, axis + len(shape) - used)
            items.extend([Run(place, i, 0, shape[i], 1) for i in rest])
            axis = rest.stop
        else:
            items.extend(_items(entry, place, axis, shape))
            axis += _axes_used(entry)
    return items


def _concrete(entry: Any) -> Any:
    """An entry as it is understood: None, Ellipsis, slices, an int, an array or a tracer."""
    if entry is None or entry is Ellipsis or isinstance(entry, (slice, Slice)):
        return entry
    if isinstance(entry, (bool, np.bool_)):
        return np.asarray(entry)
    if isinstance(entry, (int, np.integer)):
        return operator.index(entry)
    if isinstance(entry, Tracer):
        return _concrete_mask(entry) if entry.dtype == dtypes.bool_ else _integers(entry)
    if isinstance(entry, Array):
        return _integers(entry.numpy())
    if isinstance(entry, (list, tuple)):
        if any(isinstance(x, Tracer) for x in entry):
            return _joined_integers(entry)
        return _integers(np.asarray(entry) if entry else np.zeros(0, np.int32))
    if is_masked(entry):
        raise unknown_type_error(entry, "an index: ")
    inner = unwrapped(entry)
    return _integers(entry) if inner is entry else _concrete(inner)


def _joined_integers(entries: Sequence[Any]) -> Any:
    """A vector of integers of which some are traced."""
    parts = []
    for x in entries:
        aval = typeof(x) if is_value(x) else None
        if aval is None or aval.shape or not dtypes.is_integer(aval.dtype):
            raise IndexTypeError(
                f"a list that is an index holds integers, but {x!r:.60} is none; make an array of "
                f"all of it with numpy.stack first."
            )
        parts.append(broadcast_to(convert(x, dtypes.default_dtype("int"), False), (1,)))
    return concatenate_p.bind(*parts, dimension=0)


def _concrete_mask(mask: Tracer) -> NumPyArray:
    value = mask.concrete()
    if value is None:
        raise NonConcreteBooleanIndexError(
            f"indexing with booleans gives a shape that depends on values, but this mask is "
            f"traced: {typeof(mask).str_short()}. Use bindax.numpy.where(mask, x, otherwise), or "
            f"index with integers of a fixed number."
        )
    return np.asarray(value)


def _integers(entry: Any) -> Any:
    dtype = getattr(entry, "dtype", None)
    accepted = dtypes.is_integer(dtype) or dtype == dtypes.bool_ if dtype is not None else False
    if not accepted or not isinstance(entry, (Tracer, np.ndarray)):
        raise IndexTypeError(
            f"an array is indexed by integers, slices, None, Ellipsis and arrays of integers or "
            f"booleans, but got {entry!r:.60} of type {type(entry).__name__}"
            f"{'' if dtype is None else f' and dtype {dtype}'}."
        )
    return entry


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype == dtypes.bool_


def _axes_used(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if _is_mask(entry) else 1


def _items(entry: Any, place: int, axis: int, shape: Shape) -> Iterator[Item]:
    if entry is None:
        yield NewAxis(place)
    elif isinstance(entry, slice):
        yield _run(entry, place, axis, shape[axis])
    elif isinstance(entry, Slice):
        yield Run(place, axis, *entry.within(axis, shape[axis]))
    elif _is_mask(entry):
        yield from _mask_items(entry, place, axis, shape)
    else:
        yield Positions(place, axis, entry, type(entry) is int or not entry.shape)


def _run(entry: slice, place: int, axis: int, size: int) -> Run:
    bounds = (size, entry.start, entry.stop, entry.step)
    if any(isinstance(x, Dimension) for x in bounds):
        return Run(place, axis, *_symbolic_range(entry, size))
    try:
        positions = range(size)[entry]
    except TypeError:
        raise IndexTypeError(
            f"the bounds of a slice must be integers known while tracing, but got {entry}; "
            f"for a traced start use lax.dynamic_slice_in_dim."
        ) from None
    return Run(place, axis, positions.start, len(positions), positions.step)


def _symbolic_range(entry: slice, size: Any) -> tuple[Any, Any, int]:
    """The start, the length and the step of a slice, where sizes can be symbolic."""
    step = 1 if entry.step is None else static_int("a slice", "step", entry.step)

    def position(bound: Any, default: Any, low: int) -> Any:
        """A bound that counts from the start, within the axis."""
        if bound is None:
            return default
        bound = static_int("a slice", "bound", bound)
        bound = bound + size if bound < 0 else bound
        return smaller(larger(bound, low), size + low)

    if step > 0:
        start, stop = position(entry.start, 0, 0), position(entry.stop, size, 0)
        return start, larger((stop - start + step - 1) // step, 0), step
    start, stop = position(entry.start, size - 1, -1), position(entry.stop, -1, -1)
    return start, larger((start - stop - step - 1) // -step, 0), step


def _mask_items(mask: NumPyArray, place: int, axis: int, shape: Shape) -> Iterator[Item]:
    """A mask as the positions where it holds; one without axes as an axis of size one or none."""
    if not mask.ndim:
        yield Positions(place, None, np.zeros(int(mask), np.int32), True)
        return
    own = shape[axis : axis + mask.ndim]
    # One without elements chooses none, as in NumPy.
    if mask.shape != own and mask.size:
        raise IndexError(
            f"a boolean index of shape {mask.shape} does not fit: from axis {axis} on, the array "
            f"of shape {shape} has the sizes {own}."
        )
    for i, positions in enumerate(np.nonzero(mask)):
        yield Positions(place, axis + i, positions, True)
