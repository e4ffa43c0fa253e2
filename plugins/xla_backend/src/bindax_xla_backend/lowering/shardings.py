"""Shardings in the terms of XLA.

From a ``Sharding`` there are two ways into XLA, and one back:

- ``hlo_sharding`` describes the parts of a buffer (what ``RawSharding`` takes);
- ``Meshes.sharding`` is the attribute by which a program names them;
- ``named_sharding`` reads what XLA decided for an operand or a result of a compiled program.

All count devices by their position in ``Sharding.device_assignment``, which is the device
assignment of the program too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.sharding import (
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    with_devices,
)
from bindax_xla_backend import _jaxlib


def hlo_sharding(sharding: Sharding, ndim: int) -> Any:
    """The parts of an array of ``ndim`` axes, as XLA describes them; opaque."""
    kind, types = _jaxlib._hlo.HloSharding, _jaxlib._hlo.OpSharding_Type
    counts = sharding.partitions(ndim)
    if not isinstance(sharding, NamedSharding) or sharding.is_fully_replicated:
        return kind.replicate()
    mesh, spec = sharding.mesh, sharding.spec
    dividing = list(map(mesh.axis_names.index, spec.names))
    adding = [i for i, name in enumerate(mesh.axis_names) if name in spec.unreduced]
    copying = [i for i in range(len(mesh.axis_names)) if i not in (*dividing, *adding)]
    groups = [(copying, types.REPLICATED), (adding, types.UNREDUCED)]
    sizes = [(math.prod([mesh.axis_sizes[i] for i in axes]), own) for axes, own in groups]
    several = [(size, own) for size, own in sizes if size > 1]
    return kind.iota_tile(
        (*counts, *[size for size, _ in several]),
        mesh.axis_sizes,
        (*dividing, *copying, *adding),
        tuple([own for _, own in several]),
    )


def named_sharding(proto: Any, mesh: Mesh, ndim: int) -> NamedSharding:
    """The sharding that XLA chose, with the axes of a mesh.

    Where XLA divides by a part of an axis, the mesh of the result has other axes.
    """
    parts = _jaxlib._hlo.HloSharding.from_proto(proto)
    if parts.is_replicated():
        return NamedSharding(mesh, PartitionSpec())
    if parts.is_unreduced():
        return NamedSharding(mesh, PartitionSpec(unreduced=mesh.axis_names))
    sizes = tuple(parts.tile_assignment_dimensions())
    order = np.array(parts.tile_assignment_devices(), np.int64).reshape(sizes)
    place = np.empty((order.size, order.ndim), np.int64)
    place[order.ravel()] = np.indices(sizes).reshape(order.ndim, -1).T
    entries = []
    for i in range(ndim):
        grid = place[:, i].reshape(mesh.axis_sizes)
        origin = (0,) * grid.ndim
        steps = {
            name: int(grid[(*origin[:k], 1, *origin[k + 1 :])])
            for k, (name, size) in enumerate(mesh.shape_tuple)
            if size > 1
        }
        entries.append(tuple(sorted((n for n in steps if steps[n]), key=lambda n: -steps[n])))
    while entries and not entries[-1]:
        entries.pop()
    names = [name for entry in entries for name in entry]
    if len(set(names)) == len(names):
        found = NamedSharding(mesh, PartitionSpec(*entries))
        fits = found.partitions(ndim) == sizes[:ndim]
        if fits and (found._coordinates(ndim) == place[:, :ndim]).all():
            return found
    devices = np.array(mesh.device_assignment, dtype=object)[order]
    axes = tuple(f"axis_{i}" for i in range(order.ndim))
    return NamedSharding(Mesh(devices, axes), PartitionSpec(*axes[:ndim]))


def chosen(
    protos: Sequence[Any] | None, mesh: Mesh, arrays: Sequence[Any], said: Sequence[Any] = ()
) -> list[Any]:
    """The shardings that XLA chose for parameters or results; None where it copies all of them.

    Those that are ``said`` are not asked for.
    """
    if not arrays:
        return []  # the compiler tells the sharding of the empty tuple
    everywhere = NamedSharding(mesh, PartitionSpec())
    found = []
    for i, (x, own) in enumerate(zip(arrays, said or [None] * len(arrays), strict=True)):
        if own is not None and not own.mesh.auto_axes:
            found.append(own.update(mesh=with_devices(own.mesh, mesh)))
        else:
            found.append(everywhere if protos is None else named_sharding(protos[i], mesh, x.ndim))
    return found


def as_typed(chosen: NamedSharding, typed: NamedSharding | None, aval: Any) -> NamedSharding:
    """The sharding of a result that XLA chose, in the words of its type.

    What the type of a result does not say, but XLA did, is along automatic axes.
    """
    mesh: Any = chosen.mesh
    if typed is None:
        if chosen.explicit is None:
            is_said = mesh.are_all_axes_explicit and chosen.is_fully_replicated
            return chosen.update(spec=chosen.spec.padded(aval.ndim)) if is_said else chosen
        types = tuple(AxisType.Auto for _ in mesh.axis_types)
        return chosen.update(mesh=mesh.update(axis_types=types))
    if not typed.mesh.auto_axes:
        return chosen
    mesh = with_devices(typed.mesh, mesh)
    entries = []
    for said, found in zip(typed.spec.axes, chosen.spec.padded(aval.ndim).axes, strict=True):
        entries.append((*said, *[name for name in found if name in mesh.auto_axes]))
    if tuple(entries) == typed.spec.axes:
        return NamedSharding(mesh, typed.spec)
    while not entries[-1]:
        entries.pop()  # as in those of automatic axes alone
    return NamedSharding(mesh, typed.spec.update(entries))


def inspector(callback: Callable[[Any], None], mesh: Mesh, ndim: int) -> tuple[bytes, Any]:
    """The key by which XLA's partitioner calls a function with the sharding of a value.

    With it comes what must live until the program is compiled.
    """

    def called(parts: Any) -> None:
        callback(named_sharding(parts.to_proto(), mesh, ndim))

    return bytes(_jaxlib.xla_client.encode_inspect_sharding_callback(called)), called
