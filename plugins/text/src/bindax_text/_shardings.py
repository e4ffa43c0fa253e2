"""The text forms of meshes, specs and shardings, which primitives have as parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core import devices
from bindax_core.sharding import (
    AbstractDevice,
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
)


def _mesh_fields(mesh: AbstractMesh) -> dict[str, Any]:
    fields: dict[str, Any] = {"sizes": mesh.axis_sizes, "names": mesh.axis_names}
    if not mesh.are_all_axes_auto:
        fields["types"] = tuple([kind.name for kind in mesh.axis_types])
    if mesh.abstract_device is not None:
        fields["device"] = tuple(mesh.abstract_device)
    if isinstance(mesh, Mesh):
        fields["device_ids"] = tuple(mesh.device_ids.ravel().tolist())
    return fields


def _abstract_mesh(sizes: Any, names: Any, types: Any = None, device: Any = None) -> AbstractMesh:
    kind = None if device is None else AbstractDevice(*device)
    return AbstractMesh(sizes, names, _types(types), abstract_device=kind)


def _mesh(sizes: Any, names: Any, device_ids: Any, types: Any = None) -> Mesh:
    """The mesh of the devices of this process that have the numbers.

    Raises:
        ValueError: when there is no such device here.
    """
    present = {device.id: device for device in devices()}
    lacking = [number for number in device_ids if number not in present]
    if lacking:
        raise ValueError(
            f"the mesh has the device {lacking[0]}, and devices here are {sorted(present)}; write "
            f"the program for an AbstractMesh, or read it where there are as many"
        )
    found = np.empty(len(device_ids), object)
    found[:] = [present[number] for number in device_ids]
    return Mesh(found.reshape(sizes), names, _types(types))


def _types(names: Any) -> tuple[AxisType, ...] | None:
    return None if names is None else tuple([AxisType[name] for name in names])


def _spec_fields(spec: PartitionSpec) -> dict[str, Any]:
    entries = [... if entry is PartitionSpec.UNCONSTRAINED else entry for entry in spec]
    sums = {name: getattr(spec, name) for name in ("unreduced", "reduced")}
    return {"axes": tuple(entries)} | {name: names for name, names in sums.items() if names}


def _spec(axes: Any, **sums: Any) -> PartitionSpec:
    entries = [PartitionSpec.UNCONSTRAINED if entry is ... else entry for entry in axes]
    return PartitionSpec(*entries, **sums)


def _sharding_fields(sharding: NamedSharding) -> dict[str, Any]:
    memory = sharding.other_memory
    fields = {"mesh": sharding.mesh, "spec": sharding.spec}
    return fields if memory is None else {**fields, "memory_kind": memory}


FORMS: dict[type, tuple[Callable[[Any], dict[str, Any]], Callable[..., Any]]] = {
    AbstractMesh: (_mesh_fields, _abstract_mesh),
    Mesh: (_mesh_fields, _mesh),
    PartitionSpec: (_spec_fields, _spec),
    NamedSharding: (_sharding_fields, NamedSharding),
}
"""Functions that write and read the instances of a class."""
