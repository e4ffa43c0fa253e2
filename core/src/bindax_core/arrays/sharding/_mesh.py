"""Meshes: devices in a grid whose axes have names."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from contextlib import ContextDecorator
from enum import Enum
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core.arrays._settings import config


class AxisType(Enum):
    """The kind of a mesh axis: who decides how arrays are divided along it.

    Attributes:
        Auto: the compiler does, led by the shardings that are given.
        Explicit: the types of arrays do, such as ``float32[8@x,4]``, by the ``sharding`` rules of
            what is applied to them.
        Manual: the program does, inside of ``shard_map``.

    >>> AxisType.Auto.name
    'Auto'
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self) -> str:
        return self.name


class AbstractDevice(NamedTuple):
    """A kind of device, of a mesh whose devices are not known.

    Args:
        device_kind: the kind, as ``device.device_kind`` has it.
        num_cores: the number of cores of a device, or None.

    >>> AbstractDevice("TPU v5", 2).num_cores
    2
    """

    device_kind: str
    num_cores: int | None = None


class AbstractMesh:
    """A mesh of which only the sizes and the names of its axes are known.

    Args:
        axis_sizes: the number of devices along each axis.
        axis_names: a name for each axis.
        axis_types: an ``AxisType`` for each axis; ``Auto`` when omitted.
        abstract_device: the kind of its devices, or None.

    Raises:
        ValueError: when a name occurs twice, or the numbers of sizes, names and types differ.

    >>> AbstractMesh((4, 2), ("x", "y")).shape["y"]
    2
    """

    axis_sizes: tuple[int, ...]
    axis_names: tuple[Hashable, ...]
    axis_types: tuple[AxisType, ...]
    abstract_device: AbstractDevice | None

    def __init__(
        self,
        axis_sizes: Sequence[int],
        axis_names: Any,
        axis_types: Any = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> None:
        sizes = tuple(map(int, axis_sizes))
        given = isinstance(axis_names, str) or not isinstance(axis_names, Sequence)
        names = (axis_names,) if given else tuple(axis_names)
        kind = type(self).__name__
        if len(names) != len(sizes):
            raise ValueError(
                f"{kind}: axis_names={names!r} names {len(names)} axes, but the devices are in a "
                f"grid of {len(sizes)}, with the sizes {sizes}; give one name for each axis."
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"{kind}: axis_names={names!r} has {twice!r} twice; give each axis its own name."
            )
        types = (AxisType.Auto,) * len(sizes) if axis_types is None else axis_types
        types = (types,) if isinstance(types, AxisType) else tuple(types)
        if len(types) != len(sizes):
            raise ValueError(
                f"{kind}: axis_types={types!r} must have one type for each of the {len(sizes)} "
                f"axes."
            )
        self.axis_sizes, self.axis_names, self.axis_types = sizes, names, types
        self.abstract_device = abstract_device
        self._hash = hash((kind, *self._key()))

    def _key(self) -> tuple[Any, ...]:
        return self.axis_sizes, self.axis_names, self.axis_types, self.abstract_device

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and other._key() == self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(AbstractMesh, abstract_device=self.abstract_device), self._key()[:3]

    def __repr__(self) -> str:
        axes = ", ".join([f"{name!r}: {size}" for name, size in self.shape_tuple])
        return f"{type(self).__name__}({axes}, axis_types={self.axis_types!r})"

    @property
    def shape(self) -> OrderedDict[Hashable, int]:
        """The size of each axis, by its name."""
        return OrderedDict(self.shape_tuple)

    @property
    def shape_tuple(self) -> tuple[tuple[Hashable, int], ...]:
        """The name and the size of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        """True of a mesh without axes."""
        return not self.axis_sizes

    @property
    def are_all_axes_auto(self) -> bool:
        """True of a mesh with axes, all of which the compiler divides."""
        return set(self.axis_types) == {AxisType.Auto}

    @property
    def are_all_axes_manual(self) -> bool:
        """True of a mesh with axes, all of which the program divides by hand."""
        return set(self.axis_types) == {AxisType.Manual}

    @property
    def are_all_axes_explicit(self) -> bool:
        """True of a mesh with axes, all of which types speak of."""
        return set(self.axis_types) == {AxisType.Explicit}

    @cached_property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    @property
    def manual_axes(self) -> tuple[Hashable, ...]:
        """The names of the axes that the program divides by hand."""
        return self._of_type(AxisType.Manual)

    @property
    def auto_axes(self) -> tuple[Hashable, ...]:
        """The names of the axes of the type ``Auto``."""
        return self._of_type(AxisType.Auto)

    @cached_property
    def explicit_axes(self) -> tuple[Hashable, ...]:
        """The names of the axes of the type ``Explicit``."""
        return self._of_type(AxisType.Explicit)

    def _of_type(self, wanted: AxisType) -> tuple[Hashable, ...]:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple(name for name, kind in pairs if kind is wanted)

    def update(self, **changes: Any) -> AbstractMesh:
        """The mesh with other arguments, by their names."""
        own: dict[str, Any] = {"axis_sizes": self.axis_sizes, "axis_names": self.axis_names}
        own |= {"axis_types": self.axis_types, "abstract_device": self.abstract_device}
        return AbstractMesh(**{**own, **changes})

    def update_axis_types(self, axis_types: Mapping[Hashable, AxisType]) -> AbstractMesh:
        """The mesh with other types of some axes.

        Args:
            axis_types: an ``AxisType`` for each name of an axis that gets another.

        Raises:
            ValueError: when the mesh has no axis of a name.

        >>> AbstractMesh((4, 2), ("x", "y")).update_axis_types({"x": AxisType.Explicit}).axis_types
        (Explicit, Auto)
        """
        for name in axis_types:
            if name not in self.axis_names:
                known = ", ".join(map(repr, self.axis_names))
                raise ValueError(
                    f"update_axis_types: {name!r} is no axis of the mesh, whose axes are {known}."
                )
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return self.update(axis_types=tuple(axis_types.get(name, own) for name, own in pairs))


class Mesh(AbstractMesh, ContextDecorator):
    """Devices in a grid whose axes have names.

    As a context manager or a decorator it is the mesh that names in a ``PartitionSpec`` alone refer
    to.

    Args:
        devices: an array of devices, with an axis for each name.
        axis_names: a name for each axis; one name can be given without a tuple.
        axis_types: an ``AxisType`` for each axis; ``Auto`` when omitted.

    Attributes:
        devices: the NumPy array of devices, read-only.

    Raises:
        ValueError: when a device or a name occurs twice, or there are not as many names as axes.

    >>> from bindax_core import devices
    >>> mesh = Mesh(np.array(devices()[:1]), "x")
    >>> mesh
    Mesh('x': 1, axis_types=(Auto,))
    """

    devices: np.ndarray[Any, Any]

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None) -> None:
        given = np.asarray(devices, dtype=object)
        self.devices = given.copy()
        self.devices.flags.writeable = False
        self._devices: tuple[Any, ...] = tuple(self.devices.flat)
        self._blocks: list[Any] = []  # those that are entered, of all threads
        for device in self._devices:
            if not hasattr(device, "id"):
                raise TypeError(
                    f"Mesh: devices has {device!r:.60}, which is no device; take them from "
                    f"bindax.devices()."
                )
        if len(set(self._devices)) != len(self._devices):
            twice = next(d for d in self._devices if self._devices.count(d) > 1)
            raise ValueError(f"Mesh: devices has {twice!r} twice; a device has one place in it.")
        super().__init__(given.shape, axis_names, axis_types)

    def _key(self) -> tuple[Any, ...]:
        return self._devices, *super()._key()

    def update(self, **changes: Any) -> Mesh:
        """The mesh with other arguments, by their names."""
        own = {"devices": self.devices, "axis_names": self.axis_names}
        return Mesh(**{**own, "axis_types": self.axis_types, **changes})

    @property
    def device_assignment(self) -> tuple[Any, ...]:
        """The devices in the order in which programs count them: the last axis goes fastest."""
        return self._devices

    @property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The ``id`` of each device, in the grid."""
        ids = [device.id for device in self._devices]
        return np.array(ids, np.int64).reshape(self.axis_sizes)

    @property
    def local_devices(self) -> list[Any]:
        """The devices that belong to this process."""
        return [device for device in self._devices if getattr(device, "is_local", True)]

    @property
    def is_multi_process(self) -> bool:
        """True if some of the devices belong to other processes."""
        return len(self.local_devices) != len(self._devices)

    def __enter__(self) -> Mesh:
        self._blocks.append(config.enter(mesh=self))
        return self

    def __exit__(self, *error: object) -> None:
        block = next(block for block in reversed(self._blocks) if config.is_inside(block))
        self._blocks.remove(block)
        config.leave(block)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_mesh_of_ids, (self.device_ids, self.axis_names, self.axis_types))


def _mesh_of_ids(ids: np.ndarray[Any, Any], names: Any, types: Any) -> Mesh:
    by_id = {device.id: device for device in runtime.devices()}
    found = np.array([by_id[i] for i in ids.flat], dtype=object)
    return Mesh(found.reshape(ids.shape), names, types)


def make_mesh(
    axis_shapes: Sequence[int] | None = None,
    axis_names: Sequence[Hashable] | None = None,
    axis_types: Any = None,
    *,
    devices: Sequence[Any] | None = None,
    axis_sizes: Sequence[int] | None = None,
) -> Mesh:
    """Arrange the first devices in a grid whose axes have names.

    Args:
        axis_shapes: the number of devices along each axis.
        axis_names: a name for each axis.
        axis_types: an ``AxisType`` for each axis; ``Auto`` when omitted.
        devices: the devices to take from; ``devices()`` when omitted.
        axis_sizes: the same as ``axis_shapes``, as JAX 0.12 calls it.

    Raises:
        TypeError: when sizes or names are missing, or sizes are given twice.
        ValueError: when there are too few devices, or a name occurs twice.

    >>> make_mesh((1, 1), ("data", "model")).shape_tuple
    (('data', 1), ('model', 1))
    """
    given = axis_sizes if axis_shapes is None else axis_shapes
    if given is None or axis_names is None or (axis_shapes is not None and axis_sizes is not None):
        raise TypeError("make_mesh takes the sizes and the names of its axes, each once.")
    if devices is None:
        devices = runtime.devices()
    sizes = tuple(map(int, given))
    needed = math.prod(sizes)
    if any(size < 1 for size in sizes):
        raise ValueError(f"make_mesh: axis_shapes={sizes} must be whole numbers from 1 on.")
    if len(devices) < needed:
        raise ValueError(
            f"make_mesh: a mesh with axis_shapes={sizes} takes {needed} devices, but there are "
            f"{len(devices)}. For more devices on the CPU, set config.num_cpu_devices, or "
            f"BINDAX_NUM_CPU_DEVICES in the environment, before the first use of a device."
        )
    if axis_types is None and config.conventions == "jax":
        axis_types = (AxisType.Explicit,) * len(sizes)
    return Mesh(np.array(devices[:needed], dtype=object).reshape(sizes), axis_names, axis_types)
