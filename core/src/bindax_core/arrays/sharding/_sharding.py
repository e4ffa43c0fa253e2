"""Shardings: which part of an array lies on which device."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

import numpy as np

from bindax_core.arrays._memories import memory_kinds, own_or_other
from bindax_core.arrays.sharding._current_mesh import get_mesh, mesh_at_work, with_devices
from bindax_core.arrays.sharding._mesh import AbstractMesh, Mesh
from bindax_core.arrays.sharding._spec import PartitionSpec, is_open
from bindax_core.errors import IndivisibleError, MissingMeshError

Shape = tuple[int, ...]
Index = tuple[slice, ...]


class Sharding:
    """Base of the shardings: which part of an array lies on which device.

    Attributes:
        device_assignment: the devices, in the order in which programs count them.
        memory_kind: the kind of the memory of the devices in which arrays are.

    >>> from bindax_core import devices
    >>> from bindax_core.sharding import SingleDeviceSharding
    >>> isinstance(SingleDeviceSharding(devices()[0]), Sharding)
    True
    """

    _memory: str | None = None
    _unreduced: frozenset[Any] = frozenset()

    @property
    def other_memory(self) -> str | None:
        """The kind of the memory, None for the devices' own."""
        return self._memory

    @property
    def memory_kind(self) -> str | None:
        """The kind of the memory in which arrays are; None without devices."""
        if self.other_memory is not None:
            return self.other_memory
        return memory_kinds(self.device_assignment[0])[0]

    def with_memory_kind(self, kind: str | None) -> Sharding:
        """The same parts on the same devices, in a memory of another kind.

        Args:
            kind: a kind that ``device.addressable_memories()`` has; None for the devices' own.

        Raises:
            ValueError: when the devices have no such memory.
        """
        raise TypeError(f"{type(self).__name__} does not say in which memory arrays lie.")

    def of_first_axes(self, ndim: int) -> Sharding:
        """The sharding of arrays of ``ndim`` axes, of one that speaks of axes behind them, too."""
        return self

    @property
    def device_assignment(self) -> tuple[Any, ...]:
        """The devices, in the order in which programs count them."""
        raise TypeError(f"{type(self).__name__} does not say on which devices arrays lie.")

    def partitions(self, ndim: int) -> tuple[int, ...]:
        """For each axis of an array, the number of parts that it is divided into."""
        return (1,) * ndim

    def _coordinates(self, ndim: int) -> np.ndarray[Any, Any]:
        """For each device and each axis of an array, the number of the device's part."""
        return np.zeros((self.num_devices, ndim), np.int64)

    @property
    def device_set(self) -> set[Any]:
        """The devices."""
        return set(self.device_assignment)

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self.device_assignment)

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices that belong to this process."""
        return {device for device in self.device_assignment if getattr(device, "is_local", True)}

    @property
    def is_fully_addressable(self) -> bool:
        """True if all devices belong to this process."""
        return len(self.addressable_devices) == self.num_devices

    @property
    def is_fully_replicated(self) -> bool:
        """True if each device holds the whole array."""
        return True

    def check(self, shape: Shape, what: str) -> None:
        """Raise unless an array of a shape can be divided so.

        Args:
            shape: the shape of the whole array.
            what: the array, for the message: ``"device_put: x"``.

        Raises:
            ValueError: when the sharding has more axes than the array, or an axis of the array is
                not a multiple of the number of its parts.
        """

    def shard_shape(self, global_shape: Shape) -> Shape:
        """The shape of one device's part of an array.

        Raises:
            ValueError: when an array of this shape cannot be divided so.
        """
        self.check(tuple(global_shape), "shard_shape: the array")
        parts = self.partitions(len(global_shape))
        return tuple(size // count for size, count in zip(global_shape, parts, strict=True))

    def devices_indices_map(self, global_shape: Shape) -> dict[Any, Index]:
        """For each device the index of its part in an array of a shape."""
        ndim, sizes = len(global_shape), self.shard_shape(global_shape)
        parts = self.partitions(ndim)
        found: dict[Any, Index] = {}
        for device, own in zip(self.device_assignment, self._coordinates(ndim), strict=True):
            found[device] = tuple(
                slice(int(i) * size, (int(i) + 1) * size) if count > 1 else slice(None)
                for i, size, count in zip(own, sizes, parts, strict=True)
            )
        return found

    def addressable_devices_indices_map(self, global_shape: Shape) -> dict[Any, Index]:
        """``devices_indices_map`` of the devices that belong to this process."""
        every = self.devices_indices_map(global_shape)
        return {device: every[device] for device in every if getattr(device, "is_local", True)}

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Tell whether two shardings lay arrays of ``ndim`` axes on devices in the same way."""
        return (
            self.device_assignment == other.device_assignment
            and self.other_memory == other.other_memory
            and self._unreduced == other._unreduced
            and self.partitions(ndim) == other.partitions(ndim)
            and bool((self._coordinates(ndim) == other._coordinates(ndim)).all())
        )


class SingleDeviceSharding(Sharding):
    """The whole array on one device.

    Args:
        device: the device.
        memory_kind: the kind of its memory; its own when omitted.

    Raises:
        ValueError: when the device has no such memory.

    >>> from bindax_core import devices
    >>> SingleDeviceSharding(devices()[0]).is_fully_replicated
    True
    """

    def __init__(self, device: Any, *, memory_kind: str | None = None) -> None:
        self._devices = (device,)
        self._memory = own_or_other((device,), memory_kind, "SingleDeviceSharding: memory_kind")

    def with_memory_kind(self, kind: str | None) -> SingleDeviceSharding:
        """The same device with a memory of another kind; see ``Sharding.with_memory_kind``."""
        return SingleDeviceSharding(self._devices[0], memory_kind=kind)

    @property
    def device_assignment(self) -> tuple[Any, ...]:
        """The device, alone in a tuple."""
        return self._devices

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is SingleDeviceSharding
            and other._devices == self._devices
            and other._memory == self._memory
        )

    def __hash__(self) -> int:
        return hash((SingleDeviceSharding, self._devices, self._memory))

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._devices[0]!r}{_shown(self._memory)})"


def make_single_device_sharding(device: Any, *, memory_kind: str | None = None) -> Sharding:
    """The sharding of arrays on one device, as ``SingleDeviceSharding`` makes it.

    Args:
        device: the device.
        memory_kind: the kind of its memory; its own when omitted.

    Raises:
        ValueError: when the device has no such memory.

    >>> from bindax_core import devices
    >>> make_single_device_sharding(devices()[0]).num_devices
    1
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


class NamedSharding(Sharding):
    """The parts of an array on the devices of a mesh.

    Args:
        mesh: the devices.
        spec: for each axis of the array, the mesh axes that divide it. Along the mesh axes that
            it does not name, devices hold copies.
        memory_kind: the kind of the devices' memory; their own when omitted.

    Raises:
        ValueError: when the spec names an axis that the mesh has not, or the devices have no
            memory of the kind.

    >>> from bindax_core.arrays.sharding._mesh import make_mesh
    >>> NamedSharding(make_mesh((1,), ("x",)), PartitionSpec(None, "x"))
    NamedSharding(mesh=Mesh('x': 1, axis_types=(Auto,)), spec=P(None, 'x'))
    """

    mesh: AbstractMesh
    spec: PartitionSpec

    def __init__(self, mesh: AbstractMesh, spec: Any, *, memory_kind: str | None = None) -> None:
        if not isinstance(mesh, AbstractMesh):
            raise TypeError(f"NamedSharding: mesh must be a Mesh, but it is {mesh!r:.80}.")
        if not isinstance(spec, PartitionSpec):
            if not isinstance(spec, (tuple, list)):
                raise TypeError(
                    f"NamedSharding: Unexpected {spec!r:.80}: spec must be a PartitionSpec; P() is "
                    f"that of arrays which every device holds."
                )
            spec = PartitionSpec(*spec)
        for name in (*spec.names, *spec.unreduced, *spec.reduced):
            if name not in mesh.axis_names:
                raise ValueError(
                    f"NamedSharding: Resource axis: {name} of spec={spec!r} is not found in mesh: "
                    f"({', '.join(map(repr, mesh.axis_names))}). Name axes of the mesh alone."
                )
        for name in (*spec.unreduced, *spec.reduced):
            if name not in mesh.explicit_axes:
                raise ValueError(
                    f"NamedSharding: spec={spec!r} has {name!r} as unreduced or reduced, which "
                    f"types of arrays say of explicit axes alone; those of the mesh are "
                    f"{', '.join(map(repr, mesh.explicit_axes)) or 'none'}."
                )
        if mesh.axis_names and not mesh.auto_axes and any(map(is_open, spec)):
            raise ValueError(
                f"NamedSharding: spec={spec!r} cannot contain `P.UNCONSTRAINED` when no mesh "
                f"axis_types are `Auto`, for then the compiler decides along no axis of {mesh!r}. "
                f"Write None, or the axes."
            )
        self.mesh, self.spec, self._memory = mesh, spec, memory_kind
        self._unreduced = spec.unreduced
        if isinstance(mesh, Mesh):
            devices = mesh.device_assignment
            self._memory = own_or_other(devices, memory_kind, "NamedSharding: memory_kind")
        self._hash = hash((NamedSharding, mesh, spec, self._memory))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(NamedSharding, memory_kind=self._memory), (self.mesh, self.spec)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is NamedSharding
            and other.spec == self.spec
            and other._memory == self._memory
            and other.mesh == self.mesh
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r}{_shown(self._memory)})"

    @property
    def memory_kind(self) -> str | None:
        """The kind of the memory in which arrays are; None where the mesh has no devices."""
        return super().memory_kind if isinstance(self.mesh, Mesh) else self._memory

    def with_memory_kind(self, kind: str | None) -> NamedSharding:
        """The same parts in a memory of another kind; see ``Sharding.with_memory_kind``."""
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    @property
    def device_assignment(self) -> tuple[Any, ...]:
        """The devices of the mesh."""
        if not isinstance(self.mesh, Mesh):
            raise ValueError(
                f"{self!r} has an abstract mesh, so it has no devices; give a Mesh where arrays "
                f"are placed."
            )
        return self.mesh.device_assignment

    @property
    def is_fully_replicated(self) -> bool:
        """True if each device holds the whole array."""
        sums = any(self.mesh.shape[name] > 1 for name in self.spec.unreduced)
        return not sums and all(count == 1 for count in self.partitions(len(self.spec)))

    def partitions(self, ndim: int) -> tuple[int, ...]:
        """For each axis of an array, the number of parts that it is divided into."""
        sizes = self.mesh.shape
        given = [math.prod([sizes[name] for name in axes]) for axes in self.spec.axes[:ndim]]
        return (*given, *[1] * (ndim - len(given)))

    def _coordinates(self, ndim: int) -> np.ndarray[Any, Any]:
        sizes = self.mesh.axis_sizes
        indices = np.indices(sizes).reshape(len(sizes), -1)
        grid = dict(zip(self.mesh.axis_names, indices, strict=True))
        found = np.zeros((self.num_devices, ndim), np.int64)
        for i, axes in enumerate(self.spec.axes[:ndim]):
            for name in axes:
                found[:, i] = found[:, i] * self.mesh.shape[name] + grid[name]
        return found

    def check(self, shape: Shape, what: str) -> None:
        """Raise unless an array of a shape can be divided so; see ``Sharding.check``."""
        if len(self.spec) > len(shape):
            raise ValueError(
                f"{what} cannot lie so: Sharding {self!r} is only valid for values of rank at "
                f"least {len(self.spec)}, but was applied to a value of rank {len(shape)} (shape "
                f"{shape}); leave entries out."
            )
        for i, (size, count) in enumerate(zip(shape, self.partitions(len(shape)), strict=True)):
            if size % count:
                raise IndivisibleError(
                    f"{what} has shape {shape}: its axis {i} of size {size} cannot be divided into "
                    f"{count} equal parts, but {self.spec!r} on {self.mesh!r} should evenly divide "
                    f"the shape; pad the array, or divide another axis."
                )

    @cached_property
    def explicit(self) -> NamedSharding | None:
        """The part that types of arrays have: the mesh without devices, explicit axes alone.

        None where they divide nothing.

        >>> from bindax_core.arrays.sharding._mesh import AbstractMesh, AxisType
        >>> mesh = AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
        >>> NamedSharding(mesh, PartitionSpec("y", "x")).explicit.spec
        P(None, 'x')
        """
        spoken = self.mesh.explicit_axes
        if not spoken:
            return None
        spec = self.spec
        kept = spec.update([tuple(n for n in axes if n in spoken) for axes in spec.axes])
        if not (any(kept.axes) or spec.unreduced or spec.reduced):
            return None
        same = type(self.mesh) is AbstractMesh and kept == spec and self._memory is None
        return self if same else NamedSharding(self.mesh.abstract_mesh, kept)

    def of_first_axes(self, ndim: int) -> NamedSharding:
        """The sharding of arrays of ``ndim`` axes, of one that speaks of axes behind them, too."""
        spec = self.spec
        return self if len(spec) <= ndim else self.update(spec=spec.update(spec[:ndim]))

    def update(self, *, mesh: AbstractMesh | None = None, spec: Any = None) -> NamedSharding:
        """The sharding with another mesh, another spec, or both.

        >>> from bindax_core.arrays.sharding._mesh import make_mesh
        >>> NamedSharding(make_mesh((1,), ("x",)), PartitionSpec("x")).update(spec=(None, "x")).spec
        P(None, 'x')
        """
        mesh, spec = self.mesh if mesh is None else mesh, self.spec if spec is None else spec
        return NamedSharding(mesh, spec, memory_kind=self._memory)


def _shown(memory: str | None) -> str:
    return "" if memory is None else f", memory_kind={memory!r}"


def named(given: Any, what: str, error: type[Exception] = TypeError) -> Any:
    """A sharding from what users give for one: a sharding, a spec on the current mesh, a device.

    Args:
        given: a ``Sharding``, a ``PartitionSpec``, or a device. A sharding on an abstract mesh is
            taken on the current mesh, if that has the same axes.
        what: the argument, for the message.
        error: the class of the error for anything else.

    Raises:
        MissingMeshError: for a spec, when no mesh is set.
    """
    if isinstance(given, NamedSharding) and type(given.mesh) is AbstractMesh:
        present = get_mesh()
        if present is None or present.shape_tuple != given.mesh.shape_tuple:
            return given
        return given.update(mesh=with_devices(given.mesh, present))
    if isinstance(given, Sharding):
        return given
    if isinstance(given, PartitionSpec):
        mesh = mesh_at_work()
        if mesh is None:
            function, _, option = what.rpartition(": ")
            raise MissingMeshError(
                f"{function} requires a non-empty mesh in context: {option}={given!r} names axes "
                f"of a mesh, but no mesh is set; write `with set_mesh(mesh):` around, or give "
                f"NamedSharding(mesh, {given!r})."
            )
        return NamedSharding(mesh, given)
    if hasattr(given, "platform") and hasattr(given, "id"):
        return SingleDeviceSharding(given)
    raise error(
        f"{what} must be one of bindax.devices(), a sharding or a PartitionSpec, but it is "
        f"{given!r:.80}."
    )


def open_axes(sharding: Sharding, ndim: int) -> tuple[bool, ...]:
    """For each axis of an array, whether the compiler decides on it."""
    if not isinstance(sharding, NamedSharding):
        return (False,) * ndim
    return tuple(is_open(entry) for entry in sharding.spec.padded(ndim))
