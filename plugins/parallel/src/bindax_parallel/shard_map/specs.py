"""Specs: for each axis of an array the axes of the mesh that divide it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_core.sharding import PartitionSpec

Spec = tuple[tuple[Any, ...], ...]
"""For each axis of an array, the names of the mesh axes that divide it, the outermost first."""
Sizes = dict[Any, int]
Params = dict[str, Any]
INDEX = ShapedArray((), np.int32)
"""The type of a device's index along an axis."""


def as_spec(given: Any, ndim: int, axes: Sizes, where: str) -> Spec:
    """A ``PartitionSpec`` with an entry for each axis of an array; None divides nothing."""
    spec = PartitionSpec() if given is None else given
    if not isinstance(spec, PartitionSpec):
        raise TypeError(f"{where} must be a PartitionSpec such as P('x', None), but is {given!r}.")
    if len(spec) > ndim:
        raise ValueError(f"{where}={spec!r} has {len(spec)} entries for an array of {ndim} axes.")
    for name in (name for entry in spec.axes for name in entry):
        if name not in axes:
            raise ValueError(
                f"{where}={spec!r} names {name!r}, but the axes that shard_map divides are "
                f"{list(axes)}."
            )
    return spec.padded(ndim).axes


def shard_shape(spec: Spec, shape: Sequence[int], axes: Sizes, where: str) -> tuple[int, ...]:
    """The shape of one device's part of an array, whose axes must be multiples of their parts."""
    for i, (size, names) in enumerate(zip(shape, spec, strict=True)):
        parts = prod(axes[name] for name in names)
        if size % parts:
            raise ValueError(
                f"{where} of shape {tuple(shape)}: axis {i}, of size {size}, is to be divided into "
                f"{parts} parts along {', '.join(map(repr, names))}, which are not equal; pad it "
                f"to a multiple of {parts}."
            )
    return tuple(
        size // prod(axes[name] for name in names) for size, names in zip(shape, spec, strict=True)
    )


def whole_aval(spec: Spec, aval: ShapedArray, axes: Sizes) -> ShapedArray:
    """The type of the whole array, from that of one part."""
    sizes = [prod(axes[name] for name in names) for names in spec]
    return aval.update(shape=tuple(n * k for n, k in zip(aval.shape, sizes, strict=True)))


def named_in(spec: Spec) -> set[Any]:
    """The mesh axes that divide an array."""
    return {name for names in spec for name in names}


def not_named_in(spec: Spec, axes: Sizes) -> list[Any]:
    """The mesh axes along which all devices have the same part."""
    named = named_in(spec)
    return [name for name in axes if name not in named]


def with_axis(spec: Spec, place: int | None, names: tuple[Any, ...] = ()) -> Spec:
    """The spec of an array with one more axis."""
    return spec if place is None else (*spec[:place], names, *spec[place:])


def differing_axes(axes: Sizes, specs: Sequence[Spec]) -> list[frozenset[Any]]:
    """For each argument of the program, the axes of the mesh along which it may differ."""
    return [frozenset({name}) for name in axes] + [frozenset(named_in(spec)) for spec in specs]


def manual_axes(params: Params) -> Sizes:
    """The axes that the program divides by hand, with their sizes, in the order of the mesh."""
    chosen = params["axis_names"]
    return {name: size for name, size in params["mesh"].shape_tuple if name in chosen}


def chosen(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values whose flags are true."""
    return [value for value, flag in zip(values, flags, strict=True) if flag]
