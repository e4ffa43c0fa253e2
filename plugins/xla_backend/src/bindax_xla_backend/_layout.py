"""Where a program runs, and where it takes and leaves arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from bindax_core import device_put
from bindax_core.extend import Array
from bindax_core.sharding import Sharding, SingleDeviceSharding


@attrs.frozen(eq=False)
class Layout:
    """The devices of a program in its order, and for each operand its sharding or None.

    The mesh names the axes of results, which are bound to the devices if the layout is committed.
    """

    devices: tuple[Any, ...] = attrs.field(converter=tuple)
    mesh: Any
    operands: tuple[Sharding | None, ...]
    committed: bool = attrs.field(kw_only=True)

    @property
    def single(self) -> SingleDeviceSharding | None:
        """The sharding of all that there is on one device without a mesh."""
        one = len(self.devices) == 1 and self.mesh is None
        return SingleDeviceSharding(self.devices[0]) if one else None


@attrs.frozen
class ProgramPlaces:
    """Where a compiled program takes operands and constants, and leaves results.

    The place of an operand that may be anywhere is what XLA chose, and not committed.
    """

    operands: Sequence[Any]
    results: Sequence[Any]
    constants: Any


def place_of(x: Any) -> Any:
    """The place that an operand is bound to, or None."""
    if isinstance(x, Array) and x.committed:
        return x.place
    return None


def in_own_memory(operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, with copies of those that are in another memory of their devices."""
    memories = [place and place.sharding.other_memory for place in map(place_of, operands)]
    if not any(memories):
        return operands
    return [
        x if memory is None else device_put(x, x.sharding.with_memory_kind(None))
        for x, memory in zip(operands, memories, strict=True)
    ]
