"""Moving elements along axes: flips, rolls, rotations, padding."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, Tracer, typeof
from bindax_lax_basic.extend import axes_argument, axis_argument, convert, static_int, static_ints
from bindax_numpy._operands import array_operand
from bindax_numpy.reshaping import ravel, reshape, swapaxes


def flip(m: Any, axis: Any = None) -> Array:
    """The elements in reverse order along axes.

    Args:
        m: an array.
        axis: an axis, several, or None for all.

    >>> jnp.flip(jnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    x = array_operand("flip", m)
    return lax.rev(x, axes_argument("flip", axis, typeof(x).ndim, "axis"))


def flipud(m: Any) -> Array:
    """The elements in reverse order along the first axis.

    >>> jnp.flipud(jnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: Any) -> Array:
    """The elements in reverse order along the second axis.

    >>> jnp.fliplr(jnp.array([[1, 2]]))
    Array([[2, 1]], dtype=int32)
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """An array turned by right angles in the plane of two axes.

    Args:
        m: an array.
        k: how many right angles, from the first axis towards the second.
        axes: the two axes.

    >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    x = array_operand("rot90", m)
    ndim = typeof(x).ndim
    given = static_ints("rot90", "axes", axes)
    places = [axis_argument("rot90", axis, ndim, "axes") for axis in given]
    if len(places) != 2 or places[0] == places[1]:
        raise ValueError(f"rot90: axes must name two different axes, but they are {axes}.")
    first, second = places
    turns = static_int("rot90", "k", k) % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, (first, second))
    turned = swapaxes(x, first, second)
    return flip(turned, first if turns == 1 else second)


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """The elements moved along axes; what leaves at the end enters at the start.

    Args:
        a: an array.
        shift: by how many places: an integer, which may be traced, or one for each axis.
        axis: an axis, several, or None for all elements, in order.

    >>> jnp.roll(jnp.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    x = array_operand("roll", a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), typeof(x).shape)
    axes = [axis_argument("roll", i, typeof(x).ndim) for i in static_ints("roll", "axis", axis)]
    if isinstance(shift, Tracer):
        shifts: list[Any] = [shift] * len(axes) if not typeof(shift).shape else list(shift)
    else:
        shifts = list(static_ints("roll", "shift", shift))
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts cannot be paired with {len(axes)} axes.")
    for place, by in zip(axes, shifts, strict=True):
        x = _roll_axis(x, by, place)
    return x


def _roll_axis(x: Any, by: Any, axis: int) -> Any:
    size = typeof(x).shape[axis]
    if size == 0:
        return x
    if isinstance(by, Tracer):
        # The part that starts at `size - by` of the array and its copy behind it.
        start = convert((-by) % size, np.dtype(np.int32), False)
        return lax.dynamic_slice_in_dim(lax.concatenate([x, x], axis), start, size, axis)
    start = -by % size
    if start == 0:
        return x
    tail = lax.slice_in_dim(x, start, size, axis=axis)
    return lax.concatenate([tail, lax.slice_in_dim(x, 0, start, axis=axis)], axis)
