"""Choosing an element of each window, and acting at its place, in terms of other operations.

A place is the number of an element within its window. All windows are looked at together, one
place after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray, typeof
from bindax_lax_basic.elementwise.comparison import and_p, eq_p, not_p, or_p
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_lax_basic.shape.creation import filled
from bindax_lax_basic.shape.slice_and_pad import pad_array, pad_p, unpadded
from bindax_lax_basic.window.geometry import Geometry, Sizes

PLACE = np.dtype(np.int32)
Keeps = Callable[[Any, Any], Any]


def chosen_places(operand: Any, keeps: Keeps, window: Geometry) -> Any:
    """For each window the place that ``keeps`` its element beside later ones; -1 of padding."""
    aval = typeof(operand)
    shape = window.out_shape(aval.shape)
    places = filled(ShapedArray(shape, PLACE), -1)
    if 0 in shape:
        return places
    config = window.padding_config()
    padded = pad_p.bind(operand, constant(0, operand), padding_config=config)
    inside = pad_array(np.ones(aval.shape, bool), False, padding_config=config)
    found = np.zeros(shape, bool)
    chosen = filled(aval.update(shape=shape), 0)
    for number, offset in enumerate(window.offsets()):
        candidate = window.at(padded, offset, shape)
        there = inside[window.slices(offset, shape)]
        better = or_p.bind(not_p.bind(keeps(chosen, candidate)), ~found)
        taken = and_p.bind(better, there)
        found = found | there
        chosen = select_scalars(taken, chosen, candidate)
        places = select_scalars(taken, places, np.asarray(number, PLACE))
    return places


def _is_at(places: Any, number: int) -> Any:
    shape = typeof(places).shape
    return eq_p.bind(places, broadcast_to(np.asarray(number, PLACE), shape))


def read_at(values: Any, places: Any, window: Geometry) -> Any:
    """The elements of an array at the places that windows chose; zero where they chose none."""
    shape = typeof(places).shape
    out = filled(typeof(values).update(shape=shape), 0)
    if 0 in shape:
        return out
    zero = constant(0, values)
    padded = pad_p.bind(values, zero, padding_config=window.padding_config())
    for number, offset in enumerate(window.offsets()):
        here = window.at(padded, offset, shape)
        out = select_scalars(_is_at(places, number), out, here)
    return out


def scatter_at(
    source: Any,
    start: Any,
    places: Any,
    combine: Callable[[Any, Any], Any],
    window: Geometry,
    shape: Sizes,
) -> Any:
    """An initial value in a shape, combined with a value at the place that each window chose."""
    full = window.padded_shape(shape)
    total = broadcast_to(start, full)
    zero = constant(0, source)
    counts = typeof(source).shape
    if 0 not in counts:
        for number, offset in enumerate(window.offsets()):
            changed = combine(window.at(total, offset, counts), source)
            here = _is_at(places, number)
            spread = window.spread(changed, zero, offset, full)
            where = window.spread(here, constant(False, here), offset, full)
            total = select_scalars(where, total, spread)
    return unpadded(total, start, window.padding_config())
