"""Names of ``jax`` for devices that bindax has not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import bindax
from bindax import memory as memory
from bindax_jax_names.shims.sharding import reshard as reshard

__all__ = [
    "Device",
    "host_count",
    "host_id",
    "memory",
    "process_indices",
    "reshard",
]


class _DeviceType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance) in {type(device) for device in bindax.devices()}


class Device(metaclass=_DeviceType):
    """The type of devices, to ask for with ``isinstance``."""


def process_indices(backend: str | None = None) -> list[int]:
    """The indices of the processes."""
    return list(range(bindax.process_count()))


host_count: Final = bindax.process_count
host_id: Final = bindax.process_index


@contextmanager
def transfer_guard_device_to_device(*levels: str) -> Iterator[None]:
    """Do nothing inside the block: there is one device."""
    yield
