"""The report of a program that is divided among the devices of a mesh."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bindax_core.sharding import AbstractMesh
from bindax_inspect.divided.bound import Bound, bound_of
from bindax_inspect.divided.exchanges import Exchange
from bindax_inspect.divided.hardware import DeviceKind
from bindax_inspect.divided.held import DeviceMemory, Held
from bindax_inspect.divided.remarks import remarks_on
from bindax_inspect.divided.work import Work
from bindax_inspect.program.origins import NOWHERE, Line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(slots=True)
class LineShare:
    """The cost of one of the user's lines on each device.

    Attributes:
        line: the line.
        whole: the operations of the undivided program.
        each: the operations of one device.
        sent: the bytes that one device sends.
        exchanges: the kinds of its exchanges, with their axes, those that send most first.
    """

    line: Line
    whole: float = 0.0
    each: float = 0.0
    sent: float = 0.0
    exchanges: list[str] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class MeshReport:
    """The report of a program on a mesh of devices that need not exist.

    Attributes:
        name: the name of the function.
        mesh: the mesh.
        device: the kind of the devices.
        arguments: what each device holds of the arguments.
        results: what each device holds of the results.
        memory: the bytes that a device holds, by purpose.
        exchanges: what devices exchange, in the order of the program.
        work: the operations of each equation.
        missing: what the report lacks, and why.
        text: the compiled program of one device; None where nothing was compiled.

    >>> import numpy as np
    >>> import bindax_lax_basic as lax
    >>> from bindax_core.sharding import AbstractMesh, PartitionSpec as P
    >>> from bindax_inspect import inspect_mesh
    >>> mesh = AbstractMesh((4,), ("data",))
    >>> report = inspect_mesh(lax.sin, mesh, P("data"))(np.ones((8, 2), np.float32))
    >>> report.arguments[0].bytes, report.exchanges
    (16.0, ())
    """

    name: str
    mesh: AbstractMesh
    device: DeviceKind
    arguments: tuple[Held, ...]
    results: tuple[Held, ...]
    memory: DeviceMemory
    exchanges: tuple[Exchange, ...]
    work: Sequence[Work]
    missing: tuple[str, ...]
    text: str | None

    def __repr__(self) -> str:
        return f"MeshReport({self.name}: {self.mesh.size:,} devices)"

    @property
    def operations(self) -> float:
        """The arithmetic operations of one device, in one call."""
        return sum(one.each for one in self.work)

    @property
    def repeated(self) -> float:
        """The operations of all devices, divided by those of the undivided program."""
        whole = sum(one.whole for one in self.work)
        return self.operations * self.mesh.size / whole if whole else 1.0

    @property
    def sent(self) -> float:
        """The bytes that a device sends at least, in one call."""
        return sum(one.sent for one in self.exchanges)

    @cached_property
    def bound(self) -> Bound:
        """The least time of one call."""
        moved = self.memory.arguments + self.memory.results
        return bound_of(self.device, self.work, moved, self.exchanges)

    @property
    def fits(self) -> bool:
        """True if a device has memory for all that it holds."""
        return self.memory.total <= self.device.memory

    @cached_property
    def lines(self) -> list[LineShare]:
        """The cost of each of the user's lines, the one with the longest time first."""
        found: dict[tuple[str, int], LineShare] = {}
        seconds: dict[tuple[str, int], float] = {}

        def add(line: Line, time: float) -> LineShare:
            key = line[:2]
            seconds[key] = seconds.get(key, 0.0) + time
            return found.setdefault(key, LineShare(line))

        for one in self.work:
            rate = self.device.rate(one.dtype)
            share = add(one.equation.origin.line, one.each / rate)
            share.whole, share.each = share.whole + one.whole, share.each + one.each
        for other in sorted(self.exchanges, key=lambda one: -one.sent):
            share = add(other.line, other.seconds(self.device))
            share.sent += other.sent
            shown = other.shown
            share.exchanges += [] if shown in share.exchanges else [shown]
        return sorted(found.values(), key=lambda one: (one.line == NOWHERE, -seconds[one.line[:2]]))

    @cached_property
    def remarks(self) -> list[str]:
        """Remarks on what to look at: repeated work, arrays that all hold, too little memory."""
        return remarks_on(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON can hold it.

        >>> import numpy as np
        >>> import bindax_lax_basic as lax
        >>> from bindax_core.sharding import AbstractMesh
        >>> from bindax_inspect import inspect_mesh
        >>> inspect_mesh(lax.sin, AbstractMesh((2,), "x"))(np.ones(4)).as_dict()["mesh"]
        {'x': 2}
        """
        bound, memory = self.bound, self.memory
        return {
            "name": self.name,
            "mesh": {str(name): size for name, size in self.mesh.shape_tuple},
            "device": self.device.name,
            "operations": self.operations,
            "repeated": self.repeated,
            "bytes": {
                "arguments": memory.arguments,
                "results": memory.results,
                "reused": memory.reused,
                "temporaries": memory.temporaries,
                "total": memory.total,
                "fits": self.fits,
            },
            "sent": self.sent,
            "seconds": {**bound._asdict(), "least": bound.least, "limit": bound.limit},
            "exchanges": [one.as_dict() for one in self.exchanges],
            "arguments": [_held(one) for one in self.arguments],
            "results": [_held(one) for one in self.results],
            "remarks": self.remarks,
            "missing": list(self.missing),
        }

    def __str__(self) -> str:
        from rich.console import Console

        width = shutil.get_terminal_size((120, 24)).columns
        console = Console(width=width, highlight=False, color_system=None)
        with console.capture() as captured:
            console.print(self)
        return captured.get().rstrip()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from bindax_inspect.divided.mesh_table import table

        yield table(self, options.max_width)


def _held(one: Held) -> dict[str, Any]:
    spec = None if one.spec is None else repr(one.spec)
    return {"name": one.name, "type": one.type, "spec": spec, "bytes": one.bytes}
