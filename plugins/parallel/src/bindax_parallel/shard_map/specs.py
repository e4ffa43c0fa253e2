"""Specs: how arrays are divided along the axes of a mesh, or summed or copied."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from bindax_core.errors import ManualAxisError
from bindax_core.extend import ShapedArray
from bindax_core.sharding import (
    AbstractMesh,
    AxisType,
    ManualAxisType,
    NamedSharding,
    PartitionSpec,
)
from bindax_transforms import device_axes

Spec = PartitionSpec
"""For each axis of an array the mesh axes that divide it, and those of sums and copies."""
Sizes = dict[Any, int]
Params = dict[str, Any]
INDEX = ShapedArray((), np.int32)
"""The type of a device's index along an axis."""


def as_spec(given: Any, ndim: int, params: Params, what: str, path: str) -> Spec:
    """A ``PartitionSpec`` that fits an array; None divides nothing."""
    spec, axes = PartitionSpec() if given is None else given, manual_axes(params)
    where = f"shard_map: {what} for {path}"
    if not isinstance(spec, PartitionSpec):
        raise TypeError(f"{where} must be a PartitionSpec such as P('x', None), but is {given!r}.")
    if len(spec) > ndim:
        raise ValueError(
            f"{where}={spec!r}, which has length {len(spec)}, is for an array which has rank "
            f"{ndim}; leave entries out: for a scalar, consider using an {what} entry of `P()`."
        )
    if spec.unreduced or spec.reduced:
        _check_sums(spec, params, where)
    for name in (*spec.names, *spec.unreduced, *spec.reduced):
        if name not in axes:
            raise ValueError(
                f"{where}={spec!r}: {what} refers to {name!r}, but the axes that shard_map divides "
                f"are {list(axes)}."
            )
    return spec


def _check_sums(spec: Spec, params: Params, where: str) -> None:
    """Raise unless all axes are explicit, as sums that are still to be added up need."""
    mesh, axes = params["mesh"], manual_axes(params)
    if len(axes) < len(mesh.axis_names):
        raise ManualAxisError(
            f"{where}={spec!r}: unreduced and reduced can only be passed to in_specs when "
            f"shard_map is in full manual mode, but it leaves axes of {mesh!r} to the compiler. "
            f"Leave axis_names out."
        )
    if set(mesh.axis_types) - {AxisType.Explicit, AxisType.Manual}:
        raise ValueError(
            f"{where}={spec!r}: unreduced and reduced can only be used when the mesh passed to "
            f"shard_map contains axis names all of type `Explicit`, but it is {mesh!r}."
        )


def shard_shape(spec: Spec, shape: Sequence[int], axes: Sizes, where: str) -> tuple[int, ...]:
    """The shape of one device's part of an array, whose axes must be multiples of their parts."""
    entries = spec.padded(len(shape)).axes
    counts = [prod(axes[name] for name in names) for names in entries]
    for i, (size, parts, names) in enumerate(zip(shape, counts, entries, strict=True)):
        if size % parts:
            raise ValueError(
                f"{where} of shape {tuple(shape)}: axis {i}, of size {size}, is not evenly "
                f"divisible into {parts} parts along {', '.join(map(repr, names))}; pad it to a "
                f"multiple of {parts}."
            )
    return tuple(size // parts for size, parts in zip(shape, counts, strict=True))


def part_aval(spec: Spec, aval: ShapedArray, shape: Sequence[int], params: Params) -> ShapedArray:
    """The type of one device's part of an array, of the given shape."""
    axes, mesh, mat = manual_axes(params), mesh_inside(params), aval.mat
    entries = aval.sharding.spec.padded(aval.ndim).axes if aval.is_divided else ()
    kept = [tuple(name for name in names if name in mesh.explicit_axes) for names in entries]
    made = mat.update(
        varying=mat.varying.union(n for n in spec.names if n in axes),
        unreduced=mat.unreduced | spec.unreduced,
        reduced=mat.reduced | spec.reduced,
    )
    return aval.update(
        shape=tuple(shape),
        sharding=NamedSharding(mesh, PartitionSpec(*kept)) if any(kept) else None,
        mat=made if params["check_vma"] else ManualAxisType(),
    )


def whole_aval(
    spec: Spec, aval: ShapedArray, params: Params, around: frozenset[Any] = frozenset()
) -> ShapedArray:
    """The type of the whole array, from that of one part.

    Where types do not say what varies, the whole one is taken to along the axes ``around``.
    """
    axes, mat = manual_axes(params), aval.mat
    spec = spec.padded(aval.ndim)
    sizes = [prod(axes[name] for name in names) for names in spec.axes]
    within = aval.sharding.spec.padded(aval.ndim).axes if aval.is_divided else [()] * aval.ndim
    entries = [(*names, *more) for names, more in zip(spec.axes, within, strict=True)]
    outside = ManualAxisType(*(names.difference(axes) for names in mat.sets))
    return aval.update(
        shape=tuple(n * k for n, k in zip(aval.shape, sizes, strict=True)),
        sharding=NamedSharding(mesh_around(params), spec.update(entries)).explicit,
        mat=outside if params["check_vma"] else ManualAxisType(around),
    )


def index_avals(params: Params) -> list[ShapedArray]:
    """The types of a device's index along each axis."""
    axes = manual_axes(params)
    along = [INDEX.update(mat=ManualAxisType({name})) for name in axes]
    return [part_aval(PartitionSpec(), aval, (), params) for aval in along]


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


def not_named_in(spec: Spec, axes: Sizes) -> list[Any]:
    """The mesh axes along which all devices have the same part, and no terms of a sum."""
    named = {*spec.names, *spec.unreduced, *spec.reduced}
    return [name for name in axes if name not in named]


def with_axis(spec: Spec, place: int | None, names: tuple[Any, ...] = ()) -> Spec:
    """The spec of an array with one more axis."""
    return spec if place is None else spec.inserted(place, names)


def differing_axes(axes: Sizes, specs: Sequence[Spec]) -> list[frozenset[Any]]:
    """For each argument of the program, the axes of the mesh along which it may differ."""
    along = [spec.unreduced.union(spec.names) for spec in specs]
    return [frozenset({name}) for name in axes] + along


def manual_axes(params: Params) -> Sizes:
    """The axes that the program divides by hand, with their sizes, in the order of the mesh."""
    chosen = params["axis_names"]
    return {name: size for name, size in params["mesh"].shape_tuple if name in chosen}


def chosen(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values whose flags are true."""
    return [value for value, flag in zip(values, flags, strict=True) if flag]
