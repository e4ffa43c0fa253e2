"""Images of any number of dimensions: values between the elements of an array."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array

__all__ = ["map_coordinates"]


def _mirror(i: Any, size: int) -> Any:
    period = 2 * (size - 1)
    return jnp.abs((i + size - 1) % period - (size - 1)) if period else jnp.zeros_like(i)


_MODES: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda i, size: jnp.clip(i, 0, size - 1),
    "nearest": lambda i, size: jnp.clip(i, 0, size - 1),
    "wrap": lambda i, size: i % size,
    "mirror": _mirror,
    "reflect": lambda i, size: (_mirror(2 * i + 1, 2 * size + 1) - 1) // 2,
}


def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """The values of an array at places between its elements.

    Args:
        input: an array.
        coordinates: an array of places for each axis, all of one shape.
        order: 0 for the nearest element, 1 for linear interpolation.
        mode: what is outside: ``"constant"`` (``cval``), ``"nearest"``, ``"wrap"``, ``"mirror"``
            (about the middle of the last element) or ``"reflect"`` (about its edge).
        cval: the value outside.

    Returns:
        Values of the dtype of ``input``, rounded if that is an integer.

    Raises:
        ValueError: for another order or mode, or when there is not an array for each axis.

    >>> ndimage.map_coordinates(jnp.array([0.0, 2.0]), [jnp.array([0.5])], order=1)
    Array([1.], dtype=float32)
    """
    x = jnp.asarray(input)
    places = [jnp.asarray(c) for c in coordinates]
    if len(places) != x.ndim:
        raise ValueError(
            f"map_coordinates: coordinates must be an array for each of the {x.ndim} axes of "
            f"input, but there are {len(places)}."
        )
    if mode not in _MODES:
        raise ValueError(
            f"map_coordinates: mode must be one of {tuple(_MODES)}, but it is {mode!r:.60}."
        )
    if order not in (0, 1):
        raise ValueError(f"map_coordinates: order must be 0 or 1, but it is {order!r:.60}.")
    outside = jnp.asarray(cval).astype(x.dtype)
    nodes = [_nodes(place, order) for place in places]
    total: Any = None
    for corner in itertools.product(*nodes):
        index = tuple(_MODES[mode](i, n) for (i, _), n in zip(corner, x.shape, strict=True))
        value = x[index]
        if mode == "constant":
            for (i, _), n in zip(corner, x.shape, strict=True):
                value = jnp.where((i >= 0) & (i < n), value, outside)
        for _, weight in corner:
            value = value * weight
        total = value if total is None else total + value
    if jnp.issubdtype(x.dtype, np.integer):
        total = _rounded(total)
    return total.astype(x.dtype)


def _rounded(x: Any) -> Any:
    return x if jnp.issubdtype(x.dtype, np.integer) else lax.round(x)


def _nodes(place: Any, order: int) -> list[tuple[Any, Any]]:
    """The elements around a place along one axis, and their weights."""
    if order == 0 or jnp.issubdtype(place.dtype, np.integer):
        return [(_rounded(place).astype(np.int32), np.ones((), place.dtype))]
    lower = jnp.floor(place)
    upper_weight = place - lower
    i = lower.astype(np.int32)
    return [(i, 1 - upper_weight), (i + 1, upper_weight)]
