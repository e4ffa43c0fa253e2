"""Prefix sums of any associative operation, in about twice as many applications as elements.

The elements are combined in pairs, the half as many results are scanned, and each element between
them is one more application; every level works on whole arrays (Blelloch, Prefix Sums and Their
Applications, 1990).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Dimension, typeof
from bindax_lax_basic.elementwise.comparison import ge_p
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.rules.operands import constant, scalar_array
from bindax_lax_basic.rules.types import smaller
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_axis
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.creation import broadcasted_iota
from bindax_lax_basic.shape.reshape import reshape_p
from bindax_lax_basic.shape.rev import rev_p
from bindax_lax_basic.shape.slice_and_pad import every, pad_p

Values = list[Any]
Combine = Callable[[Values, Values], Values]


def prefix_scan(combine: Combine, values: Values, axis: int, reverse: bool = False) -> Values:
    """Combine the elements up to and including each, by an associative elementwise function."""
    if not reverse:
        return _scan(combine, values, axis)
    flipped = [rev_p.bind(x, dimensions=(axis,)) for x in values]
    outs = _scan(combine, flipped, axis)
    return [rev_p.bind(x, dimensions=(axis,)) for x in outs]


def _scan(combine: Combine, values: Values, axis: int) -> Values:
    size = typeof(values[0]).shape[axis]
    if isinstance(size, Dimension):
        return _scan_any_size(combine, values, axis, size)
    if size < 2:
        return values

    def part(xs: Values, start: int, stop: int, step: int = 1) -> Values:
        return [every(x, axis, start, stop, step) for x in xs]

    pairs = combine(part(values, 0, size - 1, 2), part(values, 1, size, 2))
    odds = _scan(combine, pairs, axis)
    firsts = part(values, 0, 1)
    evens = firsts
    if size > 2:
        rest = combine(part(odds, 0, (size - 1) // 2), part(values, 2, size, 2))
        evens = [
            concatenate_p.bind(first, x, dimension=axis)
            for first, x in zip(firsts, rest, strict=True)
        ]
    return [_alternate(x, y, axis) for x, y in zip(evens, odds, strict=True)]


_MOST_STEPS = 31
"""The doublings that reach over every axis that positions of 32 bits can count."""


def _scan_any_size(combine: Combine, values: Values, axis: int, size: Any) -> Values:
    """Combine each element with what is 1, 2, 4, ... before it, for a size that is not known."""
    shape = typeof(values[0]).shape
    index = broadcasted_iota(np.int32, shape, axis)
    for k in range(_MOST_STEPS):
        reach = 2**k
        if smaller(size, reach) == size:
            break
        config = tuple((reach, -reach, 0) if i == axis else (0, 0, 0) for i in range(len(shape)))
        before = [pad_p.bind(x, constant(0, x), padding_config=config) for x in values]
        reached = ge_p.bind(index, scalar_array(reach, np.dtype(np.int32)))
        combined = combine(before, values)
        values = [select_scalars(reached, x, y) for x, y in zip(values, combined, strict=True)]
    return values


def _alternate(evens: Any, odds: Any, axis: int) -> Any:
    """The elements of two arrays in turn; the first may have one more."""
    shape = typeof(odds).shape
    count = shape[axis]
    last = typeof(evens).shape[axis]
    head = evens if last == count else every(evens, axis, 0, count)
    columns = [broadcast_axis(x, 1, axis + 1) for x in (head, odds)]
    paired = concatenate_p.bind(*columns, dimension=axis + 1)
    sizes = (*shape[:axis], 2 * count, *shape[axis + 1 :])
    out = reshape_p.bind(paired, new_sizes=sizes, dimensions=None)
    if last == count:
        return out
    return concatenate_p.bind(out, every(evens, axis, count, last), dimension=axis)
