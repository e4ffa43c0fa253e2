"""Meshes of devices that do not exist, which stand for an abstract mesh while it is compiled."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bindax_core.extend import ClosedJaxpr, DeviceMemories
from bindax_core.sharding import AbstractMesh, Mesh, NamedSharding


class VirtualDevice(DeviceMemories):
    """A device that has a number, and nothing else."""

    __slots__ = ("id",)
    platform = "virtual"
    device_kind = "virtual"
    process_index = 0
    is_local = True

    def __init__(self, number: int) -> None:
        self.id = number

    def __repr__(self) -> str:
        return f"Device(virtual:{self.id})"


@lru_cache(maxsize=16)
def virtual_mesh(mesh: AbstractMesh) -> Mesh:
    """Return a mesh of the same axes whose devices do not exist."""
    devices = np.empty(mesh.size, dtype=object)
    devices[:] = [VirtualDevice(number) for number in range(mesh.size)]
    return Mesh(devices.reshape(mesh.axis_sizes), mesh.axis_names, mesh.axis_types)


def on_mesh(jaxpr: ClosedJaxpr, mesh: Mesh) -> ClosedJaxpr:
    """Return a program that names a mesh, or one with its own axes, where it named abstract ones.

    What is for another number of devices is refused when it is lowered.
    """
    known: dict[int, tuple[ClosedJaxpr, ClosedJaxpr]] = {}

    def changed(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            if id(value) not in known:
                known[id(value)] = value, copied(value)
            return known[id(value)][1]
        if isinstance(value, (tuple, list)) and any(isinstance(x, ClosedJaxpr) for x in value):
            return type(value)(changed(x) for x in value)
        if isinstance(value, AbstractMesh):
            return mesh if value.shape_tuple == mesh.shape_tuple else virtual_mesh(value)
        if isinstance(value, NamedSharding):
            return value.update(mesh=changed(value.mesh))
        return value

    def copied(closed: ClosedJaxpr) -> ClosedJaxpr:
        eqns = [
            eqn.replace(params={name: changed(value) for name, value in eqn.params.items()})
            for eqn in closed.eqns
        ]
        return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)

    return copied(jaxpr)
