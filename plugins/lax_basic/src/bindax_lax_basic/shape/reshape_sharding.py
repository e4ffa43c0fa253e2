"""The sharding rule of reshaping: where axes are joined or split in whole parts of the division."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Primitive, ShapedArray
from bindax_core.sharding import ambiguous
from bindax_lax_basic.rules.sharding import Entries, count, entries

PROBLEM = "This reshape is not supported, for it does not split or join divided axes in whole parts"


def reshape_sharding(
    primitive: Primitive, x: ShapedArray, *, new_sizes: tuple[int, ...], dimensions: None
) -> Entries:
    """The ``sharding`` rule of ``reshape``."""
    found: list[Any] = [None] * len(new_sizes)
    for before, after in _groups(x.shape, new_sizes):
        names = _joined(x, before)
        if names is None or not _split(x, names, after, new_sizes, found):
            raise ambiguous(primitive, f"to {new_sizes}: {PROBLEM}", [x])
    places = _places_of_ones(new_sizes)
    for place, axis in _places_of_ones(x.shape).items():
        if place in places:
            found[places[place]] = entries(x)[axis]
    return tuple(found)


def _places_of_ones(shape: Sequence[Any]) -> dict[tuple[Any, int], int]:
    """The axes of size 1, by the number of elements before them, then counted."""
    found: dict[tuple[Any, int], int] = {}
    before, seen = 1, 0
    for axis, size in enumerate(shape):
        if size == 1:
            found[before, seen] = axis
            seen += 1
        else:
            before, seen = before * size, 0
    return found


def _groups(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[list[int], list[int]]]:
    """The axes of two shapes in groups of the same number of elements, without those of size 1."""
    groups, ours, theirs, size, other = [], [], [], 1, 1  # type: ignore[var-annotated]
    left = [i for i, n in enumerate(old) if n != 1]
    right = [i for i, n in enumerate(new) if n != 1]
    while left or right:
        if not ours or not theirs:
            take_left, take_right = bool(left) and not ours, bool(right) and not theirs
        else:
            take_left, take_right = size < other and bool(left), size > other and bool(right)
        if not take_left and not take_right:
            take_left, take_right = bool(left), bool(right)
        if take_left:
            ours.append(left.pop(0))
            size *= old[ours[-1]]
        if take_right:
            theirs.append(right.pop(0))
            other *= new[theirs[-1]]
        if size == other:
            groups.append((ours, theirs))
            ours, theirs, size, other = [], [], 1, 1
    return [*groups, (ours, theirs)] if ours or theirs else groups


def _joined(x: ShapedArray, axes: Sequence[int]) -> list[Any] | None:
    """The mesh axes that divide some axes as if they were one; None where they do not."""
    names: list[Any] = []
    is_full = True  # whether the axes so far are divided to single elements
    for axis in axes:
        entry = entries(x)[axis]
        if entry is not None and not is_full:
            return None
        names += entry if isinstance(entry, tuple) else () if entry is None else (entry,)
        is_full = is_full and count(x, entry) == x.shape[axis]
    return names


def _split(
    x: ShapedArray,
    names: list[Any],
    axes: Sequence[int],
    sizes: Sequence[Any],
    found: list[Any],
) -> bool:
    """Hand mesh axes out to the axes that one becomes, from the outermost; tell whether it fits."""
    left = list(names)
    for axis in axes:
        taken: list[Any] = []
        while left and sizes[axis] % count(x, (*taken, left[0])) == 0:
            taken.append(left.pop(0))
        if taken:
            found[axis] = taken[0] if len(taken) == 1 else tuple(taken)
        if left and count(x, tuple(taken)) != sizes[axis]:
            return False
    return not left
