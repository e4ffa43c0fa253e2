"""The least time of a program on devices of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bindax_inspect.divided.exchanges import Exchange
from bindax_inspect.divided.hardware import DeviceKind
from bindax_inspect.divided.work import Work


class Bound(NamedTuple):
    """The least time of one call of a program, in seconds, if nothing else took any.

    Attributes:
        operations: the time of the arithmetic operations, at the rates of their types.
        memory: the time to read each argument and to write each result once.
        exchanges: the time of what devices send each other, on links or on the network, whichever
            takes longer.

    >>> Bound(operations=2.0, memory=1.0, exchanges=3.0).limit
    'exchanges'
    """

    operations: float
    memory: float
    exchanges: float

    @property
    def least(self) -> float:
        """The longest of the parts, which all happen at the same time at best."""
        return max(self)

    @property
    def together(self) -> float:
        """The sum of the parts: the time of a device that does one of them after the other."""
        return sum(self)

    @property
    def limit(self) -> str:
        """The name of the longest part."""
        return max(zip(self, self._fields, strict=True))[1]


def bound_of(
    device: DeviceKind, work: Sequence[Work], moved: float, exchanges: Sequence[Exchange]
) -> Bound:
    """Return the bound of a program.

    Args:
        device: the kind of the devices.
        work: the work of each equation.
        moved: the bytes of the arguments and the results of one device.
        exchanges: the exchanges.
    """
    parts = [one.parts(device) for one in exchanges]
    return Bound(
        sum(one.each / device.rate(one.dtype) for one in work),
        moved / device.bandwidth,
        max(sum(linked for linked, _ in parts), sum(across for _, across in parts)),
    )
