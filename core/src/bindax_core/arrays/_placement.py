"""Placements: the devices that the buffers of arrays are on, as their backend describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core.arrays._memories import DeviceMemories
from bindax_core.arrays._settings import config
from bindax_core.arrays.sharding._sharding import Sharding, SingleDeviceSharding
from bindax_core.errors import BackendError


class Placement(Protocol):
    """The devices that buffers of a backend are on; equal ones are one object.

    A backend with several devices makes them, by its method ``place``. Its ``default_placement`` is
    that of arrays on its first device which are bound to none.

    Attributes:
        backend: the backend that the buffers belong to.
        sharding: which part of an array lies on which device.
        committed: whether programs that use the array must run on these devices. What nobody asked
            to be on a device is moved to those of the others.
        host_accessible: whether NumPy reads the buffers without a transfer, and operations on them
            may be evaluated on the host.

    Where the axes of arrays are in another order than the default, ``layout`` says in which.
    """

    backend: Any
    sharding: Sharding
    committed: bool
    host_accessible: bool

    def put(self, array: np.ndarray[Any, Any], aval: Any) -> Any:
        """A buffer of an array's bytes, each part on its devices."""

    def assemble(self, aval: Any, buffers: Sequence[Any]) -> Any:
        """One buffer of those of the devices of this process, in the order of the devices."""

    def receive(self, buffer: Any, aval: Any, sharding: Sharding) -> Any:
        """A copy here of a buffer of the backend with a sharding; None if it must pass the host."""

    def copy(self, buffer: Any, aval: Any) -> Any:
        """A buffer on the same devices with memory of its own."""

    def shards(self, buffer: Any) -> list[tuple[Any, Any]]:
        """The devices of this process, each with the buffer of its part, on that device alone."""

    def to_host(self, buffer: Any, aval: Any) -> np.ndarray[Any, Any]:
        """The bytes of a buffer, put together, as a NumPy array."""

    def block_until_ready(self, buffer: Any) -> None:
        """Wait until a buffer's computation has ended."""

    def delete(self, buffer: Any) -> None:
        """Free a buffer."""

    def is_deleted(self, buffer: Any) -> bool:
        """Tell whether a buffer was freed or donated."""


class DefaultPlacement:
    """The placement of buffers on the first device of a backend, which are bound to no device.

    Attributes:
        backend: the backend.
    """

    committed = False
    layout = None

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def __repr__(self) -> str:
        return f"DefaultPlacement({self.backend.name!r})"

    def __getattr__(self, name: str) -> Any:
        if name not in _FOR_BUFFERS:
            raise AttributeError(f"{self!r} has no attribute {name!r}.")
        found = getattr(self.backend, name)  # which need not have all of them
        setattr(self, name, found)  # and is found at once from then on
        return found

    @property
    def sharding(self) -> Sharding:
        """The sharding that has the whole array on the first device."""
        own: Sharding | None = getattr(self.backend, "sharding", None)
        return SingleDeviceSharding(self.backend.devices()[0]) if own is None else own


_FOR_BUFFERS = frozenset(
    (
        *("host_accessible", "put", "to_host", "block_until_ready", "delete", "is_deleted"),
        *("copy", "copy_to_host_async", "raw"),
    )
)
"""Methods and attributes of backends about buffers on their first device."""

_made: dict[Any, DefaultPlacement] = {}


def default_placement(backend: Any) -> Any:
    """The uncommitted placement of a backend: its own, or one that is made for it."""
    try:
        return backend.default_placement
    except AttributeError:
        return _made.setdefault(backend, DefaultPlacement(backend))


def as_placement(owner: Any) -> Any:
    """A placement from what backends may name as the owner of a buffer: one, or themselves."""
    return owner if owner is None or hasattr(owner, "committed") else default_placement(owner)


class PlacedElsewhereError(BackendError):
    """A buffer is on other devices of the backend than the one that is asked for."""


class HostDevice(DeviceMemories):
    """The host as a device: what the backend that interprets programs has in place of devices.

    Attributes:
        id: 0.
        platform: ``"host"``.
        device_kind: ``"numpy"``.
        process_index: 0.
        is_local: True: it belongs to this process.
    """

    id: int = 0
    platform: str = "host"
    device_kind: str = "numpy"
    process_index: int = 0
    is_local: bool = True

    def __repr__(self) -> str:
        return "HostDevice()"

    def __reduce__(self) -> str:
        return "HOST"  # there is one

    def memory_stats(self) -> None:
        """Give None: nobody counts."""


HOST = HostDevice()


def place_on(
    backend: Any, sharding: Sharding, *, committed: bool = True, layout: Any = None
) -> Any:
    """The placement of a sharding on a backend.

    Args:
        backend: the backend.
        sharding: which part of an array goes to which device.
        committed: whether programs that use the arrays must run there.
        layout: the ``Layout`` of the buffers; None for the default.

    Raises:
        BackendError: when the backend has one device alone, or not all of these.
    """
    make = getattr(backend, "place", None)
    if make is not None:
        options = {} if layout is None else {"layout": layout}
        return make(sharding, committed=committed, **options)
    own = tuple(backend.devices())
    if sharding.device_assignment == own[:1]:
        return default_placement(backend)
    asked = ", ".join(map(repr, sharding.device_assignment[:8]))
    raise BackendError(
        f"the backend {backend.name!r} runs on {own[0]!r} alone, but an array was to be on "
        f"{asked}. Several devices need a compiler: install one, as with bindax[xla], and leave "
        f"config.backend unset."
    )


def default_sharding() -> Sharding:
    """Where programs take arrays whose bytes are on the host alone."""
    return SingleDeviceSharding(config.default_device or runtime.devices()[0])


def memory_layout_of(placement: Any) -> Any:
    """The ``Layout`` of the buffers of a placement; None for the default order of axes."""
    return getattr(placement, "layout", None)


def sharding_of(placement: Any) -> Sharding:
    """The sharding of the buffers of a placement; a backend stands for its default one."""
    found: Sharding = as_placement(placement).sharding
    return found
