"""The work, memory and time of each of the user's lines."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bindax_inspect.memory.liveness import Memory
from bindax_inspect.program.equations import Equation, Program
from bindax_inspect.program.origins import NOWHERE, Line
from bindax_inspect.timing.measurement import Time


def code_of(line: Line) -> str:
    """Return the text of a line, without indentation."""
    return linecache.getline(line.file, line.number).strip()


QUANTITIES = ("operations", "bytes", "alive", "seconds")
"""The quantities that a record has, each with a forward and a backward part."""


@dataclass(slots=True)
class Split:
    """A quantity of a line, in the forward and in the backward pass."""

    forward: float = 0.0
    backward: float = 0.0

    @property
    def total(self) -> float:
        """The sum of both."""
        return self.forward + self.backward

    @property
    def parts(self) -> tuple[float, float]:
        """The forward and the backward part."""
        return self.forward, self.backward

    def add(self, equation: Equation, amount: float) -> None:
        """Add what an equation contributes."""
        if equation.origin.backward:
            self.backward += amount
        else:
            self.forward += amount


@dataclass(slots=True)
class LineRecord:
    """The sums over the equations of a line.

    Attributes:
        line: the line.
        equations: the numbers of its equations.
        operations: the arithmetic operations of one call.
        bytes: the bytes that are read and written in one call, before fusion.
        alive: the bytes that it made and that are alive at the peak.
        seconds: the measured time of one call.
    """

    line: Line
    equations: list[int] = field(default_factory=list)
    operations: Split = field(default_factory=Split)
    bytes: Split = field(default_factory=Split)
    alive: Split = field(default_factory=Split)
    seconds: Split = field(default_factory=Split)

    @property
    def code(self) -> str:
        """The text of the line, without indentation."""
        return code_of(self.line)

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON can hold it; quantities are forward and backward parts."""
        quantities = {name: getattr(self, name).parts for name in QUANTITIES}
        return {**self.line._asdict(), "equations": len(self.equations), **quantities}


def lines_of(program: Program, memory: Memory, time: Time | None) -> list[LineRecord]:
    """Return the record of each line that equations come from, the most expensive first."""
    found: dict[tuple[str, int], LineRecord] = {}
    for equation in program.equations:
        line = equation.origin.line  # which several functions can share
        record = found.setdefault(line[:2], LineRecord(line))
        record.equations.append(equation.number)
        record.operations.add(equation, equation.operations)
        record.bytes.add(equation, equation.bytes)
        if time is not None:
            record.seconds.add(equation, time.by_equation.get(equation.number, 0.0))
    for value in memory.alive:
        if value.equation is not None:
            equation = program.equations[value.equation]
            found[equation.origin.line[:2]].alive.add(equation, value.bytes)
    key: Callable[[LineRecord], tuple[float, ...]] = lambda one: (  # noqa: E731
        one.line == NOWHERE,
        -one.seconds.total,
        -one.operations.total,
        -one.bytes.total,
    )
    return sorted(found.values(), key=key)
