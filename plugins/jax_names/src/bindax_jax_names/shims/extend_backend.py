"""``jax.extend.backend``, and the older ``jax.lib.xla_bridge``."""

from __future__ import annotations

from typing import Any

from bindax_core import config as settings
from bindax_jax_names.shims.top import devices, platform_of

__all__ = ["backends", "get_backend", "get_default_device"]


class _Backend:
    """The client of a platform, as far as programs ask it questions."""

    def __init__(self, name: str | None) -> None:
        self._devices = devices(name)
        self.platform: str = platform_of(self._devices[0])
        self.platform_version = "bindax"
        self.runtime_type = "bindax"

    def devices(self) -> list[Any]:
        return self._devices

    local_devices = devices

    def device_count(self) -> int:
        return len(self._devices)

    local_device_count = device_count

    def process_index(self) -> int:
        return 0


def get_backend(platform: str | None = None) -> _Backend:
    """The client of a platform."""
    return _Backend(platform)


def client_of(device: Any) -> _Backend:
    """The client of a device."""
    return _Backend(platform_of(device))


def backends() -> dict[str, _Backend]:
    """The clients by platform."""
    return {platform: _Backend(platform) for platform in {platform_of(d) for d in devices()}}


def get_default_device() -> Any:
    """The device of programs whose operands are on none in particular."""
    return devices()[0] if settings.default_device is None else settings.default_device
