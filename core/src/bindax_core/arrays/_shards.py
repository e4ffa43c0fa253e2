"""The devices of an array, its sharding and its shards."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from bindax_core.arrays._placement import default_sharding, memory_layout_of, place_on
from bindax_core.arrays.sharding._sharding import Sharding, SingleDeviceSharding

if TYPE_CHECKING:
    from bindax_core.arrays._array import Array
    from bindax_core.arrays.sharding._layout import Format


class ShardedArray:
    """Base of ``Array``: its devices, its sharding and its shards."""

    __slots__ = ()

    if TYPE_CHECKING:
        _buffer: Any
        _placement: Any
        aval: Any

    @property
    def sharding(self) -> Sharding:
        """The parts of the array on its devices.

        Of an array whose bytes are on the host alone, where programs would take them to.
        """
        if self._placement is None:
            return default_sharding()
        found: Sharding = self._placement.sharding
        return found if self.aval.dtype.names is None else found.of_first_axes(self.aval.ndim)

    @property
    def format(self) -> Format:
        """The order of the axes in memory, and the sharding."""
        from bindax_core.arrays.sharding._layout import Format, Layout

        own = memory_layout_of(self._placement)
        return Format(own or Layout.default(len(self.aval.shape)), self.sharding)

    @property
    def device(self) -> Any:
        """The device of the array; of one on several devices its sharding."""
        sharding = self.sharding
        assignment = sharding.device_assignment
        return assignment[0] if len(assignment) == 1 else sharding

    def devices(self) -> set[Any]:
        """The devices that hold the array, or would take it if its bytes are on the host alone."""
        return self.sharding.device_set

    @property
    def committed(self) -> bool:
        """True if programs that use the array must run on its devices, because it was put there."""
        return self._placement is not None and bool(self._placement.committed)

    @property
    def is_fully_addressable(self) -> bool:
        """True if all of the array belongs to this process."""
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """True if each of its devices holds the whole array."""
        return self.sharding.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts of the array on the devices of this process."""
        return [shard for shard in self.global_shards if shard._is_local]

    @property
    def global_shards(self) -> list[Shard]:
        """The parts of the array on all devices; those of other processes have no ``data``."""
        sharding, found, copies = self.sharding, [], {}  # type: ignore[var-annotated]
        for device, index in sharding.devices_indices_map(self.aval.shape).items():
            key = tuple([(part.start, part.stop) for part in index])
            copies[key] = copies.get(key, -1) + 1
            found.append(Shard(device, index, copies[key], self))
        return found

    def addressable_data(self, index: int) -> Array:
        """The part of the array on one device of this process, by its position among those."""
        shards = self.addressable_shards
        try:
            return shards[operator.index(index)].data  # type: ignore[return-value]
        except (TypeError, IndexError):
            raise IndexError(
                f"addressable_data takes a position among the {len(shards)} parts of the array on "
                f"devices of this process, but got {index!r:.60}."
            ) from None

    def copy_to_host_async(self) -> None:
        """Start to bring the bytes to the host, where that takes time; a later look at them waits.

        On the CPU the host reads them where they are.
        """
        start = getattr(self._placement, "copy_to_host_async", None)
        if self._buffer is not None and start is not None:
            start(self._buffer)


class Shard:
    """The part of an array on one device.

    Attributes:
        device: the device.
        index: where the part stands in the array: a slice for each axis.
        replica_id: 0 for the first device that holds this part, then 1, and so on.
    """

    def __init__(self, device: Any, index: tuple[slice, ...], replica_id: int, array: Any) -> None:
        self.device = device
        self.index = index
        self.replica_id = replica_id
        self._array = array

    def __repr__(self) -> str:
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id})"

    @property
    def _is_local(self) -> bool:
        return getattr(self.device, "is_local", True)

    @property
    def data(self) -> Array | None:
        """The part as an array on its device; None on a device of another process."""
        if not self._is_local:
            return None
        x = self._array
        shards = getattr(x.placement, "shards", None)
        if shards is None:
            return x  # type: ignore[no-any-return]
        if x.is_deleted():
            x.numpy()  # raises
        own, layout = SingleDeviceSharding(self.device), memory_layout_of(x.placement)
        placement = place_on(x.placement.backend, own, layout=layout)
        aval = x.aval.update(shape=x.sharding.shard_shape(x.aval.shape))
        return type(x).from_buffer(aval, dict(shards(x._buffer))[self.device], placement)  # type: ignore[no-any-return]
