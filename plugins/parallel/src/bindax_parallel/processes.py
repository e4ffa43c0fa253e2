"""The devices of each of several processes, and the number of this one."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core import devices

__all__ = ["local_device_count", "local_devices", "process_count", "process_index"]


def local_devices(process_index: int | None = None, backend: str | None = None) -> list[Any]:
    """The devices that belong to a process.

    Args:
        process_index: the number of the process; this one when omitted.
        backend: as for ``devices``.

    Raises:
        TypeError: when ``process_index`` is no integer.
        ValueError: when there is no such process.

    >>> from bindax_core import devices
    >>> local_devices(backend="numpy") == devices("numpy")
    True
    """
    every = devices(backend)
    if process_index is None:
        return [device for device in every if getattr(device, "is_local", True)]
    if not isinstance(process_index, int | np.integer):
        raise TypeError(
            f"local_devices: process_index must be an integer, but it is {process_index!r:.60}."
        )
    count = _process_count(every)
    if not 0 <= process_index < count:
        raise ValueError(
            f"local_devices: process_index={process_index} is not one of the {count} processes."
        )
    return [device for device in every if _process_of(device) == process_index]


def local_device_count(backend: str | None = None) -> int:
    """The number of devices that belong to this process.

    >>> local_device_count("numpy")
    1
    """
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """The number of this process, among those that share devices.

    >>> process_index()
    0
    """
    return min([_process_of(device) for device in local_devices(backend=backend)], default=0)


def process_count(backend: str | None = None) -> int:
    """The number of processes that share devices.

    >>> process_count()
    1
    """
    return _process_count(devices(backend))


def _process_of(device: Any) -> int:
    return int(getattr(device, "process_index", 0))


def _process_count(every: list[Any]) -> int:
    return 1 + max([_process_of(device) for device in every], default=0)
