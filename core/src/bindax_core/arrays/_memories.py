"""The memories of a device: where the bytes of an array can be kept."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime


class Space(enum.Enum):
    """A memory for arrays wherever they lie: a target of ``device_put``, also inside of programs.

    The value is the kind of the memory, None for the devices' own.

    >>> Space.Host.name
    'Host'
    """

    Device = None
    Host = "pinned_host"


class Memory(NamedTuple):
    """A memory of a device.

    Attributes:
        device: the device.
        kind: its kind, such as ``"device"`` or ``"pinned_host"``.
    """

    device: Any
    kind: str

    def __repr__(self) -> str:
        return f"Memory({self.kind!r} of {self.device!r})"

    def addressable_by_devices(self) -> list[Any]:
        """The devices that reach it."""
        return [self.device]


class DeviceMemories:
    """Base of devices: their memories by kind. A device without others has its own alone."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        device: Any = self
        return _device_of_id, (device.platform, device.id)  # a copy is the device itself

    def _memory_kinds(self) -> tuple[str, ...]:
        """The kinds of the memories, the device's own in front."""
        return ("device",)

    def default_memory(self) -> Memory:
        """The memory in which arrays are unless another is asked for."""
        return Memory(self, self._memory_kinds()[0])

    def addressable_memories(self) -> list[Memory]:
        """The memories that the device reaches, its own in front."""
        return [Memory(self, kind) for kind in self._memory_kinds()]

    def memory(self, kind: str) -> Memory:
        """The memory of a kind.

        Raises:
            ValueError: when the device has none of the kind.
        """
        check_kind(self, kind, "memory")
        return Memory(self, kind)


def _device_of_id(platform: str, number: int) -> Any:
    for device in runtime.devices():
        if (device.platform, device.id) == (platform, number):
            return device
    raise ValueError(f"this process has no device {platform}:{number}.")


def memory_kinds(device: Any) -> tuple[str, ...]:
    """The kinds of a device's memories, its own in front; backends may have devices of any type."""
    return device._memory_kinds() if isinstance(device, DeviceMemories) else ("device",)


def check_kind(device: Any, kind: Any, what: str) -> None:
    """Raise unless a device has a memory of a kind; ``what`` names the argument."""
    kinds = memory_kinds(device)
    if kind not in kinds:
        raise ValueError(
            f"{what}: {device!r} has no memory of the kind {kind!r}; it has "
            f"{', '.join(map(repr, kinds))}."
        )


def own_or_other(devices: tuple[Any, ...], kind: str | None, what: str) -> str | None:
    """A kind of memory of devices of one kind, checked, or None where it is their own."""
    if kind is None:
        return None
    check_kind(devices[0], kind, what)
    return None if kind == memory_kinds(devices[0])[0] else kind
