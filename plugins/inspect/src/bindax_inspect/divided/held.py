"""The arrays that each device holds: arguments and results of a divided program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bindax_core.sharding import AbstractMesh, NamedSharding, PartitionSpec
from bindax_inspect.cost.kind import size_in_bytes


@dataclass(frozen=True)
class Held:
    """An argument or a result of a divided program.

    Attributes:
        name: its path among the arguments or the results, such as ``"args[0]['w']"``.
        type: its type, as it is printed.
        whole: the bytes of the whole array.
        bytes: the bytes of the part of one device.
        spec: the axes of the mesh that divide each of its axes; None where it is divided otherwise.
        devices: the number of devices.
    """

    name: str
    type: str
    whole: int
    bytes: float
    spec: PartitionSpec | None
    devices: int

    @property
    def copies(self) -> float:
        """The number of devices that hold the same part."""
        return self.devices * self.bytes / self.whole if self.whole else float(self.devices)


def held(
    names: Sequence[str],
    avals: Sequence[Any],
    shardings: Sequence[NamedSharding | None],
    mesh: AbstractMesh,
) -> tuple[Held, ...]:
    """Return what devices hold of arrays that are divided as shardings say; None for equally."""
    found = []
    for name, aval, sharding in zip(names, avals, shardings, strict=True):
        whole = size_in_bytes(aval)
        parts, spec = mesh.size, None
        if sharding is not None:
            parts = math.prod(sharding.partitions(aval.ndim))
            same = sharding.mesh.shape_tuple == mesh.shape_tuple
            spec = sharding.spec if same else None
        found.append(Held(name, aval.str_short(), whole, whole / parts, spec, mesh.size))
    return tuple(found)


@dataclass(frozen=True)
class DeviceMemory:
    """The bytes that one device holds while a program runs.

    Attributes:
        arguments: those of the arguments.
        results: those of the results.
        reused: those of donated arguments that results take over.
        temporaries: those of all in between, as XLA plans it for the CPU, where numbers of 16 bits
            are computed with as ones of 32; None where nothing was compiled.
    """

    arguments: float
    results: float
    reused: float
    temporaries: float | None

    @property
    def total(self) -> float:
        """The sum."""
        return self.arguments + self.results - self.reused + (self.temporaries or 0.0)
