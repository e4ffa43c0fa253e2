"""Specs: for each axis of an array the axes of the mesh that divide it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_core.sharding import (
    AbstractMesh,
    AxisType,
    ManualAxisType,
    NamedSharding,
    PartitionSpec,
)
from bindax_transforms import device_axes

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


def part_aval(spec: Spec, aval: ShapedArray, shape: Sequence[int], params: Params) -> ShapedArray:
    """The type of one device's part of an array, of the given shape."""
    axes, mesh = manual_axes(params), mesh_inside(params)
    entries = aval.sharding.spec.padded(aval.ndim).axes if aval.is_divided else ()
    kept = [tuple(name for name in names if name in mesh.explicit_axes) for names in entries]
    varying = aval.mat.varying.union(n for n in named_in(spec) if n in axes)
    return aval.update(
        shape=tuple(shape),
        sharding=NamedSharding(mesh, PartitionSpec(*kept)) if any(kept) else None,
        mat=ManualAxisType(varying if params["check_vma"] else ()),
    )


def whole_aval(
    spec: Spec, aval: ShapedArray, params: Params, around: frozenset[Any] = frozenset()
) -> ShapedArray:
    """The type of the whole array, from that of one part.

    Where types do not say what varies, the whole one is taken to along the axes ``around``.
    """
    axes = manual_axes(params)
    sizes = [prod(axes[name] for name in names) for names in spec]
    within = aval.sharding.spec.padded(aval.ndim).axes if aval.is_divided else [()] * aval.ndim
    entries = [(*names, *more) for names, more in zip(spec, within, strict=True)]
    varying = aval.mat.varying.difference(axes) if params["check_vma"] else around
    return aval.update(
        shape=tuple(n * k for n, k in zip(aval.shape, sizes, strict=True)),
        sharding=NamedSharding(mesh_around(params), PartitionSpec(*entries)).explicit,
        mat=ManualAxisType(varying),
    )


def index_avals(params: Params) -> list[ShapedArray]:
    """The types of a device's index along each axis."""
    axes = manual_axes(params)
    return [part_aval((), INDEX.update(mat=ManualAxisType({name})), (), params) for name in axes]


def mesh_around(params: Params) -> AbstractMesh:
    """The mesh outside of the program, on which axes of a ``shard_map`` around are manual."""
    return _with_manual(params["mesh"].abstract_mesh, set(device_axes()) - set(manual_axes(params)))


def mesh_inside(params: Params) -> AbstractMesh:
    """The mesh at work inside of the program, on which the axes that it divides are manual."""
    return _with_manual(params["mesh"].abstract_mesh, {*device_axes(), *manual_axes(params)})


def _with_manual(mesh: AbstractMesh, names: set[Any]) -> AbstractMesh:
    types = [
        AxisType.Manual if name in names else kind
        for name, kind in zip(mesh.axis_names, mesh.axis_types, strict=True)
    ]
    return mesh.update(axis_types=tuple(types))


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
