"""The devices that a program runs on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PlacementError
from bindax_core.extend import ClosedJaxpr, HostDevice, Jaxpr, config
from bindax_core.sharding import (
    AbstractMesh,
    Mesh,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
)

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend


@dataclass(frozen=True, eq=False)
class Layout:
    """The devices of a program in its order, and for each operand its sharding or None.

    The mesh names the axes of results, which are bound to the devices if the layout is committed.
    """

    devices: tuple[Any, ...]
    mesh: Any
    operands: tuple[Sharding | None, ...]
    committed: bool = field(kw_only=True)

    @property
    def single(self) -> SingleDeviceSharding | None:
        """The sharding of all that there is on one device without a mesh."""
        one = len(self.devices) == 1 and self.mesh is None
        return SingleDeviceSharding(self.devices[0]) if one else None


def layout_of(
    backend: XlaBackend, jaxpr: ClosedJaxpr, name: str, bound: Sequence[Sharding | None]
) -> Layout | None:
    """Where a program with operands of some shardings runs; None for the first device by default.

    The first of these that says something decides, and the others must agree with it.

    1. The shardings of operands that are bound to devices.
    2. The meshes and shardings among the parameters of the program's equations, at any depth: a
       primitive that brings one places its program. (``jit``'s own shardings are such equations.)
    3. ``config.default_device``, or the first device.

    Operands that are bound to nothing are moved there; of several devices XLA decides which part
    goes where. Shardings of results are read from the compiled program.
    """
    said: list[tuple[Any, Any]] = [(i, given) for i, given in enumerate(bound) if given is not None]
    said += _placing(jaxpr.jaxpr)
    devices: Sequence[Any] = ()
    first, mesh = None, None
    for what, given in said:
        on_mesh = given.mesh if isinstance(given, NamedSharding) else given
        if isinstance(on_mesh, AbstractMesh) and not isinstance(on_mesh, Mesh):
            continue  # it says nothing of devices
        own = on_mesh.device_assignment
        if all(isinstance(device, HostDevice) for device in own):
            continue  # made where nothing compiles: a program for one device, whichever
        if devices and own != devices:
            places = [(first, devices), (what, own)]
            raise PlacementError(_disagreement(name, jaxpr, places))
        if not devices:
            devices, first = own, what
        mesh = mesh or (on_mesh if isinstance(on_mesh, Mesh) else None)
    if devices:
        backend.check_devices(devices, name)
        return Layout(tuple(devices), mesh, tuple(bound), committed=True)
    device = config.default_device
    if device is None or device is backend.device():
        return None
    return Layout((device,), None, tuple(bound), committed=False)


def abstract_layout(jaxpr: ClosedJaxpr, bound: Sequence[Sharding | None]) -> Layout | None:
    """The number of devices that a program is written for, by the meshes without devices in it."""
    named = [*bound, *(given for _, given in _placing(jaxpr.jaxpr))]
    for given in named:
        mesh = given.mesh if isinstance(given, NamedSharding) else given
        if isinstance(mesh, AbstractMesh) and not isinstance(mesh, Mesh) and mesh.size > 1:
            nowhere: tuple[Any, ...] = (None,) * mesh.size
            return Layout(nowhere, mesh, tuple(bound), committed=False)
    return None


def _placing(jaxpr: Jaxpr) -> Iterator[tuple[str, Any]]:
    """The meshes and shardings that equations name, with the name of the primitive."""
    for eqn in jaxpr.eqns:
        for value in eqn.params.values():
            if isinstance(value, (Sharding, AbstractMesh)):
                yield eqn.primitive.name, value
    for program in jaxpr.programs:
        yield from _placing(program.jaxpr)


def _disagreement(
    name: str, jaxpr: ClosedJaxpr, places: Sequence[tuple[Any, Sequence[Any]]]
) -> str:
    """The message for two operands, by position, or operations, by name, on other devices."""
    names = jaxpr.cache.get("operand_names", list)()
    names = [*range(len(jaxpr.in_avals) - len(names)), *names]  # values closed over come first
    shown = []
    for what, devices in places:
        given = f"{what} inside jit with"
        if isinstance(what, int):
            shape = jaxpr.in_avals[what].str_short()
            given = f"argument {names[what]} of {name} with shape {shape} and"
        ids = ", ".join([str(device.id) for device in devices[:8]])
        dots = ", …" if len(devices) > 8 else ""
        shown.append(f"{given} device ids [{ids}{dots}] on platform {devices[0].platform.upper()}")
    (_, devices), (_, own) = places
    advice = "Put both on the same devices with device_put."
    if set(devices) == set(own):
        advice = "They are the same in another order: make meshes of the devices in one order."
    return (
        f"{name}: Received incompatible devices for jitted computation. Got {shown[0]}, and "
        f"{shown[1]}. {advice}"
    )
