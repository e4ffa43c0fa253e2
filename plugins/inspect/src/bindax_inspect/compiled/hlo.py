"""The instructions of an optimized HLO program, and the equations that each computes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from bindax_inspect.compiled.marks import marks_in
from bindax_inspect.compiled.stablehlo import TextLine
from bindax_inspect.compiled.values import hidden_constant

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\) -> .* \{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (.*?) ([a-z][\w\-]*)\((.*)$")
_CALLED = re.compile(r"(?:calls|body|condition|to_apply|\w+_computations?)=(\{[^{}]*\}|%?[\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_SHAPE = re.compile(r"\w+\[([\d,]*)\]")
_OPERAND = re.compile(r"%([\w.\-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_NOISE = re.compile(r", (?:metadata=\{[^{}]*\}|backend_config=\{.*\})")


@dataclass(slots=True)
class Instruction:
    """One instruction of a compiled program.

    Attributes:
        name: its name, which is that of events in profiles.
        computation: the name of the computation that it is part of.
        opcode: the operation, such as ``fusion``.
        equation: the number of the equation that its name has, or None.
        equations: the numbers of all equations that it computes, those of a fusion included.
        calls: the names of the computations that it calls.
        text: the instruction as it is printed, without what is not for readers.
        trips: of a loop, how often it runs, where the compiler knows; else None.
    """

    name: str
    computation: str
    opcode: str
    equation: int | None
    equations: list[int]
    calls: list[str]
    text: str
    trips: int | None = None

    @property
    def operands(self) -> list[str]:
        """The names of its operands, and of what else it mentions."""
        return _OPERAND.findall(self.text.partition(" = ")[2])

    @property
    def elements(self) -> int:
        """The number of elements of its result; 0 where that is a tuple."""
        shape = _SHAPE.match(self.text.partition(" = ")[2])
        return math.prod(map(int, filter(None, shape[1].split(",")))) if shape else 0


@dataclass(slots=True)
class Module:
    """An optimized program.

    Attributes:
        header: the first line.
        entry: the name of the computation that is run.
        computations: the instructions of each computation, by its name.
        heads: the first line of each computation.
    """

    header: str
    entry: str = ""
    computations: dict[str, list[Instruction]] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the program, which is that in profiles."""
        return self.header.removeprefix("HloModule ").partition(",")[0]

    def instructions(self) -> list[Instruction]:
        """Return all instructions."""
        return [one for found in self.computations.values() for one in found]

    def lines(self, *, values: bool = False) -> list[TextLine]:
        """Return the program as lines, the computation that is run first.

        Args:
            values: whether constants are shown.
        """
        shown = [TextLine(self.header)]
        order = sorted(self.computations, key=lambda name: name != self.entry)
        for name in order:
            shown.append(TextLine(self.heads[name]))
            for one in self.computations[name]:
                if one.opcode == "parameter" and name != self.entry:
                    continue  # the first line has it
                text = one.text if values else hidden_constant(one.text)
                shown.append(TextLine(text, tuple(one.equations), f"%{one.name}"))
            shown.append(TextLine("}"))
        return shown


def parse_hlo(text: str) -> Module:
    """Read the text of an optimized program whose operations are marked."""
    lines = text.splitlines()
    module = Module(lines[0] if lines else "")
    current = ""
    for line in lines[1:]:
        head = _COMPUTATION.match(line)
        if head is not None:
            current = head[2]
            module.computations[current], module.heads[current] = [], line
            module.entry = current if head[1] else module.entry
        elif line.startswith("}"):
            current = ""
        elif current:
            found = _instruction(line, current)
            if found is not None:
                module.computations[current].append(found)
    _spread(module)
    return module


def _instruction(line: str, computation: str) -> Instruction | None:
    match = _INSTRUCTION.match(line)
    if match is None:
        return None
    name = _OP_NAME.search(line)
    marks = marks_in(name[1]) if name else []
    called = [one for group in _CALLED.findall(line) for one in re.findall(r"[\w.\-]+", group)]
    text = _NOISE.sub("", line)
    equation = marks[-1] if marks else None
    trips = _TRIPS.search(line) if match[3] == "while" else None
    return Instruction(
        *(match[1], computation, match[3], equation, marks[-1:], called, text),
        int(trips[1]) if trips else None,
    )


def _spread(module: Module) -> None:
    """Give instructions what the computations that they call compute."""
    inside = {
        name: list(dict.fromkeys(n for one in found for n in one.equations))
        for name, found in module.computations.items()
    }
    for one in module.instructions():
        if one.opcode in ("fusion", "call", "reduce", "map", "custom-call"):
            found = [number for name in one.calls for number in inside.get(name, ())]
            one.equations = list(dict.fromkeys([*one.equations, *found]))
