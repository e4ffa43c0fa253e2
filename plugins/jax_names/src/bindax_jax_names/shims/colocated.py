"""``jax.experimental.colocated_python.serialization``: the type that packages annotate with."""

from __future__ import annotations

__all__ = ["DeviceList"]


class DeviceList(tuple):  # type: ignore[type-arg]
    """Devices in an order."""

    __slots__ = ()
