"""``map``: a function applied to each slice, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bindax_control_flow.scan.arguments import common_length
from bindax_control_flow.scan.scan import scan
from bindax_control_flow.shared.arguments import as_integer
from bindax_core.extend import api_boundary, tree_map, typeof
from bindax_lax_basic import concatenate, reshape, slice_in_dim
from bindax_transforms import check_function, vmap

__all__ = ["map"]

R = TypeVar("R")


@api_boundary
def map(f: Callable[[Any], R], xs: Any, *, batch_size: int | None = None) -> R:
    """Apply a function to each slice of arrays along their first axes, and stack the results.

    Where ``vmap`` computes all slices at once, ``map`` computes one after the other, which needs
    the memory of one; a batch size lies between the two.

    Args:
        f: takes a slice of ``xs``, a tree of arrays; returns a tree of arrays.
        xs: a tree of arrays with first axes of one length.
        batch_size: how many slices are computed at once; one where it is 0 or None.

    Returns:
        What ``f`` returned for the slices, stacked along new first axes.

    Raises:
        TypeError: when ``f`` is no function, or ``batch_size`` no integer.
        ValueError: when ``xs`` holds no arrays or lengths differ, or ``batch_size`` is negative.

    >>> import numpy as np
    >>> from bindax_control_flow import map
    >>> map(lambda x: x * x, np.arange(4.0), batch_size=3)
    Array([0., 1., 4., 9.], dtype=float64)
    """
    check_function("map", "f", f)
    length = common_length("map", xs)
    if length is None:
        raise ValueError("map needs an array to run along, but xs holds none.")
    given = 0 if batch_size is None else batch_size
    size = as_integer("map", "batch_size", given, "an integer or None")
    if size < 0:
        raise ValueError(f"batch_size of map must not be negative, but it is {size}.")
    if not size:
        return _one_by_one(f, xs)  # type: ignore[no-any-return]
    whole = length // size * size
    parts = []
    if whole:
        batches = tree_map(lambda x: _batches(slice_in_dim(x, 0, whole), size), xs)
        parts.append(tree_map(_joined, _one_by_one(vmap(f), batches)))
    if whole < length or not parts:
        parts.append(vmap(f)(tree_map(lambda x: slice_in_dim(x, whole, length), xs)))
    return parts[0] if len(parts) == 1 else tree_map(lambda *ys: concatenate(ys, 0), *parts)  # type: ignore[no-any-return]


def _one_by_one(f: Callable[[Any], Any], xs: Any) -> Any:
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


def _batches(x: Any, size: int) -> Any:
    shape = typeof(x).shape
    return reshape(x, (shape[0] // size, size, *shape[1:]))


def _joined(x: Any) -> Any:
    shape = typeof(x).shape
    return reshape(x, (shape[0] * shape[1], *shape[2:]))
