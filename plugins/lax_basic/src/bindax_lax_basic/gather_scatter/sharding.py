"""Sharding rules of gathered and scattered arrays."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Primitive, ShapedArray, config
from bindax_core.sharding import ambiguous
from bindax_lax_basic.gather_scatter import dimension_numbers as _numbers
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from bindax_lax_basic.rules.sharding import Entries, entries, left_open, names_of

INDEXED = "indexes along a divided axis"
INDICES = "has divided indices"


def gather_sharding(
    primitive: Primitive,
    x: ShapedArray,
    indices: ShapedArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: tuple[int, ...],
    **params: Any,
) -> Entries:
    """The ``sharding`` rule of ``gather``: windows lie as the operand, if they are whole."""
    numbers, avals = dimension_numbers, [x, indices]
    _check_indexed(primitive, x, numbers, slice_sizes, avals)
    batch = _batch_entries(primitive, x, indices, numbers, avals)
    window = [entries(x)[axis] for axis in _numbers.window_dims(x.ndim, numbers)]
    unordered = (*batch, *window)
    return tuple([unordered[i] for i in _numbers.result_order(len(unordered), numbers)])


def _check_indexed(
    primitive: Primitive,
    x: ShapedArray,
    numbers: GatherDimensionNumbers,
    sizes: tuple[int, ...],
    avals: list[ShapedArray],
) -> None:
    for axis, entry in enumerate(entries(x)):
        partial = sizes[axis] != x.shape[axis] or axis in numbers.collapsed_slice_dims
        if entry is not None and partial and axis not in numbers.operand_batching_dims:
            raise ambiguous(primitive, INDEXED, avals)


def _batch_entries(
    primitive: Primitive,
    x: ShapedArray,
    indices: ShapedArray,
    numbers: GatherDimensionNumbers,
    avals: list[ShapedArray],
) -> list[Any]:
    """The divisions of the axes of the indices, without the vectors; batch axes alone may be."""
    *found, vectors = entries(indices) or (None,)
    pairs = dict(
        zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True)
    )
    for axis, entry in enumerate(found):
        if axis in pairs:
            other = entries(x)[pairs[axis]]
            if None not in (entry, other) and entry != other:
                raise ambiguous(primitive, "got incompatible shardings of a batch axis", avals)
            found[axis] = entry or other
        elif entry is not None:
            raise ambiguous(primitive, INDICES, avals)
    if vectors is not None:
        raise ambiguous(primitive, INDICES, avals)
    return found


def scatter_sharding(
    primitive: Primitive,
    x: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    **params: Any,
) -> Any:
    """The ``sharding`` rule of scatters: the result lies as the operand."""
    avals = [x, indices, updates]
    if config.open_sums:
        indices, updates = (_without_terms(primitive, aval, avals) for aval in avals[1:])
    numbers = dimension_numbers.as_gather()
    sizes = _numbers.update_sizes(x.ndim, updates.shape, dimension_numbers)
    _check_indexed(primitive, x, numbers, sizes, avals)
    batch = iter(_batch_entries(primitive, x, indices, numbers, avals))
    found, window = list(entries(x)), iter(_numbers.window_dims(x.ndim, numbers))
    for axis, entry in enumerate(entries(updates)):
        if axis not in dimension_numbers.update_window_dims:
            wanted, place = next(batch), None
        else:
            place = next(window)
            wanted = found[place] = found[place] or _whole_window(entry, place, x, sizes)
        if entry is not None and entry != wanted:
            raise ambiguous(primitive, "has updates that lie unlike the operand", avals)
    batched = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    for own, other in zip(*batched, strict=True):
        found[own] = found[own] or entries(indices)[other]
    sums = x.sharding.spec
    return sums.update(found) if config.open_sums and sums.unreduced else tuple(found)


def _without_terms(
    primitive: Primitive, aval: ShapedArray, avals: list[ShapedArray]
) -> ShapedArray:
    """The type of indices or updates but for the axes along which the operand is a sum."""
    spec = aval.sharding.spec
    terms = {name for entry in spec if left_open(entry) for name in names_of(entry)}
    if not terms <= avals[0].sharding.spec.unreduced:
        raise ambiguous(primitive, "adds terms to what is no sum along their axes", avals)
    kept = [tuple(name for name in axes if name not in terms) for axes in spec.axes]
    return aval.update(sharding=aval.sharding.update(spec=spec.update(kept)))


def _whole_window(entry: Any, axis: int, x: ShapedArray, sizes: tuple[int, ...]) -> Any:
    """The division of an axis of updates, if windows have the whole of it."""
    return entry if sizes[axis] == x.shape[axis] else None
