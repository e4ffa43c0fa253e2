"""``jax.sharding`` where bindax has one device: the classes that say where arrays are."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import attrs
import numpy as np

import bindax

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "get_mesh",
    "reshard",
    "set_mesh",
    "use_abstract_mesh",
]


class AxisType(Enum):
    """The ways in which an axis of a mesh takes part in sharding."""

    Auto = 0
    Explicit = 1
    Manual = 2


class PartitionSpec(tuple[Any, ...]):
    """For each axis of an array, the axes of the mesh that it is divided over."""

    UNCONSTRAINED = "unconstrained"

    def __new__(cls, *partitions: Any) -> PartitionSpec:
        return tuple.__new__(cls, partitions)

    def __repr__(self) -> str:
        return f"PartitionSpec{tuple(self)!r}"

    def __reduce__(self) -> Any:
        return PartitionSpec, tuple(self)


class AbstractMesh:
    """The names and sizes of the axes of a mesh."""

    def __init__(
        self, axis_sizes: Sequence[int], axis_names: Sequence[str], axis_types: Any = None
    ) -> None:
        self.axis_sizes = tuple(axis_sizes)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        self.axis_types = axis_types or (AxisType.Auto,) * len(self.axis_names)

    @property
    def shape(self) -> OrderedDict[str, int]:
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        return math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        return not self.axis_names

    @property
    def abstract_mesh(self) -> AbstractMesh:
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    @property
    def are_all_axes_explicit(self) -> bool:
        return bool(self.axis_types) and all(t is AxisType.Explicit for t in self.axis_types)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractMesh) and self.shape == other.shape

    def __hash__(self) -> int:
        return hash(tuple(self.shape.items()))


_current: list[Any] = []


class Mesh(AbstractMesh):
    """Devices in a grid with named axes."""

    def __init__(self, devices: Any, axis_names: Sequence[str], axis_types: Any = None) -> None:
        self.devices = np.asarray(devices, dtype=object)
        super().__init__(self.devices.shape, axis_names, axis_types)

    def __enter__(self) -> Mesh:
        _current.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _current.pop()


class Sharding:
    """The places of an array's parts: here, one device has all of it."""

    memory_kind = None
    is_fully_addressable = True
    is_fully_replicated = True

    @property
    def device_set(self) -> set[Any]:
        return set(bindax.devices()[:1])

    @property
    def num_devices(self) -> int:
        return len(self.device_set)

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        return self.device_set == other.device_set

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(global_shape)


@attrs.frozen
class SingleDeviceSharding(Sharding):
    """All of an array on one device."""

    device: Any
    memory_kind: Any = None


@attrs.frozen
class NamedSharding(Sharding):
    """The axes of an array over those of a mesh."""

    mesh: Any
    spec: PartitionSpec
    memory_kind: Any = None


def make_mesh(axis_shapes: Sequence[int], axis_names: Sequence[str], **options: Any) -> Mesh:
    """A mesh of the devices there are."""
    devices = options.get("devices") or bindax.devices()
    size = math.prod(axis_shapes)
    if size > len(devices):
        raise ValueError(
            f"make_mesh: axis_shapes is {tuple(axis_shapes)}, which needs {size} devices, but "
            f"there are {len(devices)}."
        )
    grid = np.asarray(devices[:size], dtype=object).reshape(tuple(axis_shapes))
    return Mesh(grid, axis_names, options.get("axis_types"))


def get_abstract_mesh() -> AbstractMesh:
    """The mesh of the enclosing block; an empty one outside."""
    return _current[-1].abstract_mesh if _current else AbstractMesh((), ())


def get_mesh() -> Any:
    """The mesh of the enclosing block; an empty one outside."""
    return _current[-1] if _current else Mesh(np.empty((), object), ())


@contextmanager
def set_mesh(mesh: Any) -> Iterator[Any]:
    """Use a mesh inside the block."""
    _current.append(mesh)
    try:
        yield mesh
    finally:
        _current.pop()


use_abstract_mesh = set_mesh


def reshard(x: Any, out_shardings: Any = None) -> Any:
    """The array: there is one device for it to be on."""
    return x
