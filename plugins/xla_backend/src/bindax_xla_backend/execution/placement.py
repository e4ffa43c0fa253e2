"""Placements: where buffers are that are not simply on the first device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core import device_put
from bindax_core.extend import Array, BackendError, ShapedArray, float0
from bindax_core.sharding import Format, Layout, NamedSharding, Sharding
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._element_types import element_type, storage_dtype
from bindax_xla_backend.execution import sharded_buffers
from bindax_xla_backend.lowering import shardings

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend


@dataclass(frozen=True)
class ProgramPlacements:
    """Where a compiled program takes operands and constants, and leaves results.

    The placement of an operand that may be anywhere is what XLA chose, and not committed.
    """

    operands: Sequence[Any]
    results: Sequence[Any]
    constants: Any


class DevicePlacement:
    """The devices that buffers are on, and their parts there; as ``Placement`` says."""

    layout: Layout | None = None

    def __init__(self, backend: XlaBackend, sharding: Sharding, committed: bool) -> None:
        self.backend = backend
        self.sharding = sharding
        self.committed = committed
        self.name: str = backend.name
        self.block_until_ready: Callable[[Any], None] = backend.block_until_ready
        self.delete: Callable[[Any], None] = backend.delete
        self.is_deleted: Callable[[Any], bool] = backend.is_deleted
        # The memory of the first device is the host's: nothing is lost by looking at it there.
        on_host = sharding.device_assignment == (backend.device(),) and not is_explicit(sharding)
        self.host_accessible: bool = on_host and backend.host_accessible
        self._raw: dict[int, _jaxlib.RawSharding] = {}

    def __repr__(self) -> str:
        return f"DevicePlacement({self.sharding!r}, committed={self.committed})"

    def raw(self, ndim: int) -> _jaxlib.RawSharding:
        """The sharding of buffers with ``ndim`` axes, as jaxlib takes it."""
        found = self._raw.get(ndim)
        if found is None:
            parts = shardings.hlo_sharding(self.sharding, ndim)
            devices, memory = self.sharding.device_assignment, self.sharding.other_memory
            found = _jaxlib.RawSharding(devices, parts, memory)
            self._raw[ndim] = found
        return found

    def put(self, array: np.ndarray[Any, Any], aval: ShapedArray, *, copy: bool = True) -> Any:
        """A buffer with the values of an array, each part on its devices."""
        self.sharding.check(aval.shape, "the array")
        element_type(aval.dtype)  # XLA's own error for a dtype that it lacks names no dtype
        if aval.dtype == float0:
            array = np.zeros(aval.shape, storage_dtype(aval.dtype))
        indices = self.sharding.addressable_devices_indices_map(aval.shape)
        # One copy of each part, however many devices get it, which XLA may keep for itself.
        own = {str(index): array[index] for index in indices.values()}
        own = {key: np.array(part, order="C") for key, part in own.items()}
        parts = [own[str(index)] for index in indices.values()]
        if terms := terms_of(self.sharding):  # the first device has all of a sum, others nothing
            pairs = zip(indices, parts, strict=True)
            parts = [np.zeros_like(part) if terms[device][1] else part for device, part in pairs]
        return sharded_buffers.put_parts(parts, aval, self.raw(aval.ndim))

    def assemble(self, aval: ShapedArray, buffers: Sequence[Any]) -> Any:
        """One buffer of those of the devices of this process, in the order of the devices."""
        made = sharded_buffers.put_parts(buffers, aval, self.raw(aval.ndim))
        sharded_buffers.note_parts(made, [x for x in buffers if not isinstance(x, np.ndarray)])
        return made

    def shards(self, buffer: Any) -> list[tuple[Any, Any]]:
        """The devices of this process, each with the buffer of its part."""
        local = [device for device in self.sharding.device_assignment if device.is_local]
        if self.sharding.num_devices == 1:
            return [(local[0], buffer)]
        parts = sharded_buffers.single_buffers(buffer)
        sharded_buffers.note_parts(buffer, parts)
        return list(zip(local, parts, strict=True))

    def copy(self, buffer: Any, aval: ShapedArray) -> Any:
        """A buffer in the same place with memory of its own."""
        self.backend.check_alive(buffer, aval)
        return sharded_buffers.copied(buffer, self.raw(aval.ndim))

    def receive(self, buffer: Any, aval: ShapedArray, sharding: Sharding) -> Any:
        """A copy here of a buffer of the same parts on other devices; None if it has others."""
        own = self.sharding
        if own.num_devices != sharding.num_devices or (
            own.num_devices > 1
            and not (own._coordinates(aval.ndim) == sharding._coordinates(aval.ndim)).all()
        ):
            return None
        return self.copy(buffer, aval)

    def to_host(self, buffer: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer, put together, as a read-only NumPy array."""
        backend, sharding = self.backend, self.sharding
        if sharding.num_devices == 1:
            return self._read(buffer, aval)
        backend.check_alive(buffer, aval)
        shards = self.shards(buffer)
        if sharding.is_fully_replicated:
            return self._read(shards[0][1], aval)
        if not sharding.is_fully_addressable:
            raise BackendError(
                f"an array of type {aval.str_short()} has parts on devices of other processes, so "
                f"this process cannot read all of it: {sharding!r}. Look at addressable_shards, or "
                f"gather it with multihost_utils.process_allgather."
            )
        part = aval.update(shape=sharding.shard_shape(aval.shape))
        indices = sharding.addressable_devices_indices_map(aval.shape)
        terms = terms_of(sharding)
        whole = (np.zeros if terms else np.empty)(aval.shape, aval.dtype)
        for device, shard in shards if aval.size else ():  # XLA may leave empty parts undivided
            if not terms:
                whole[indices[device]] = self._read(shard, part)
            elif not terms[device][0]:
                whole[indices[device]] += self._read(shard, part)
        whole.flags.writeable = False
        return whole

    def _read(self, buffer: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
        """The values of a buffer on one device."""
        return self.backend.to_host(buffer, aval)


class LaidOutPlacement(DevicePlacement):
    """The same for buffers whose axes are in another order in memory than the default."""

    def __init__(
        self, backend: XlaBackend, sharding: Sharding, committed: bool, layout: Layout
    ) -> None:
        super().__init__(backend, sharding, committed)
        self.layout = layout

    def __repr__(self) -> str:
        return f"LaidOutPlacement({self.sharding!r}, {self.layout!r}, committed={self.committed})"

    def put(self, array: np.ndarray[Any, Any], aval: ShapedArray, *, copy: bool = True) -> Any:
        """A buffer with the values of an array, which comes from the host in the default order."""
        own = self.backend.place(self.sharding)
        plain = Array.from_buffer(aval, own.put(array, aval, copy=copy), own)
        return device_put(plain, Format(self.layout, self.sharding)).physical()._buffer

    def copy(self, buffer: Any, aval: ShapedArray) -> Any:
        """A buffer in the same place with memory of its own."""
        return self.put(self.to_host(buffer, aval), aval)

    def receive(self, buffer: Any, aval: ShapedArray, sharding: Sharding) -> Any:
        """Nothing: a copy of a buffer is in the default order."""
        return None

    def _read(self, buffer: Any, aval: ShapedArray) -> np.ndarray[Any, Any]:
        self.backend.check_alive(buffer, aval)
        self.backend.block_until_ready(buffer)
        return _jaxlib.copy_to_host(buffer)


def is_explicit(sharding: Sharding) -> bool:
    """Tell whether types of arrays may say something of a sharding: those are on devices alone."""
    return isinstance(sharding, NamedSharding) and bool(sharding.mesh.explicit_axes)


def terms_of(sharding: Sharding) -> dict[Any, tuple[int, int]]:
    """Of arrays that are sums still to be added up, what each device has; empty of others.

    For each device: which copy of a term it has, and of which term.
    """
    if not isinstance(sharding, NamedSharding) or not sharding.spec.unreduced:
        return {}
    mesh, spec = sharding.mesh, sharding.spec
    dividing = set(spec.names)
    found = {}
    for device, place in zip(sharding.device_assignment, np.ndindex(*mesh.axis_sizes), strict=True):
        at = dict(zip(mesh.axis_names, place, strict=True))
        copies = [n for name, n in at.items() if name not in dividing | spec.unreduced]
        found[device] = sum(copies), sum(at[name] for name in spec.unreduced)
    return found


def place_of(x: Any) -> Any:
    """The place that an operand is bound to, or None."""
    if isinstance(x, Array) and x.committed:
        return x.placement
    return None


def is_same(own: Any, other: Any) -> bool:
    """Tell whether buffers of two placements lie alike, whether they are bound to it or not."""
    return own is other or (
        own.backend is other.backend
        and own.layout == other.layout
        and _lie_alike(own.sharding, other.sharding)
    )


def _lie_alike(own: Sharding, other: Sharding) -> bool:
    ndim = max(len(getattr(sharding, "spec", ())) for sharding in (own, other))
    return own == other or own.is_equivalent_to(other, ndim)


def in_own_memory(operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, with copies of those that are in another memory of their devices."""
    memories = [place and place.sharding.other_memory for place in map(place_of, operands)]
    if not any(memories):
        return operands
    return [
        x if memory is None else device_put(x, x.sharding.with_memory_kind(None))
        for x, memory in zip(operands, memories, strict=True)
    ]
