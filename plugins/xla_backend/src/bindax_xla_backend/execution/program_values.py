"""The largest values of a compiled program, with the lines that they come from, read from HLO."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

_FILE = re.compile(r'^(\d+) "(.*)"$')
_LOCATION = re.compile(r"^(\d+) \{file_name_id=(\d+) .*?line=(\d+)")
_FRAME = re.compile(r"^(\d+) \{file_location_id=(\d+)")
_COMPUTATION = re.compile(r"^(ENTRY )?%?([^\s(]+) .*\{$")
_INSTRUCTION = re.compile(r"^  (?:ROOT )?%?\S+ = (\(.*?\)|\S+) ([\w-]+)\(")
_FUSED = re.compile(r"(?:calls|to_apply|fused_computation)=%?([\w.-]+)")
_SHAPE = re.compile(r"\b([a-z]+)(\d*)(\w*)\[([\d,]*)\]")
_METADATA = re.compile(r'op_name="([^"]*)"')
_FRAME_OF = re.compile(r"stack_frame_id=(\d+)")
_SOURCE_OF = re.compile(r'source_file="([^"]*)" source_line=(\d+)')

_NO_MEMORY = frozenset(
    ("parameter", "tuple", "get-tuple-element", "bitcast", "while", "conditional", "call")
)
"""Instructions whose results are values of others."""

_KINDS = {"s": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}


class ProgramValue(NamedTuple):
    """A value that a compiled program computes.

    Attributes:
        size: its bytes.
        type: its types, as jaxprs write them.
        name: the scopes and the primitive that it comes from.
        line: the user's file and line, or an empty text.
    """

    size: int
    type: str
    name: str
    line: str


def largest_values(text: str, count: int = 10) -> list[ProgramValue]:
    """The largest values of a program, in HLO as ``as_text`` gives it, except its arguments.

    What a fusion computes without storing it is left out.
    """
    lines_of = _lines_of_frames(text)
    found = []
    for types, line in _instructions(text):
        size, names = _size(types), _METADATA.search(line)
        frame, source = _FRAME_OF.search(line), _SOURCE_OF.search(line)
        where = lines_of.get(frame[1], "") if frame else ""
        if source:
            where = f"{source[1]}:{source[2]}"
        shown = ", ".join(_type_name(*shape) for shape in _SHAPE.findall(types))
        found.append(ProgramValue(size, shown, names[1] if names else "", where))
    return sorted(found, key=lambda value: -value.size)[:count]


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """The types and the line of each instruction whose result is stored."""
    fused = set()
    for line in text.splitlines():
        found = _INSTRUCTION.match(line)
        if found and found[2] not in ("call", "while", "conditional"):
            fused.update(_FUSED.findall(line))
    inside = ""
    for line in text.splitlines():
        head = _COMPUTATION.match(line)
        if head:
            inside = head[2]
        found = _INSTRUCTION.match(line)
        if found and inside not in fused and found[2] not in _NO_MEMORY:
            yield found[1], line


def _lines_of_frames(text: str) -> dict[str, str]:
    """The user's lines by the number of the stack frame, from the tables at the beginning."""
    files: dict[str, str] = {}
    locations: dict[str, str] = {}
    frames: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            section = line
        elif section == "FileNames" and (found := _FILE.match(line)):
            files[found[1]] = found[2]
        elif section == "FileLocations" and (found := _LOCATION.match(line)):
            locations[found[1]] = f"{files.get(found[2], '?')}:{found[3]}"
        elif section == "StackFrames" and (found := _FRAME.match(line)):
            frames[found[1]] = locations.get(found[2], "")
        elif line.startswith(("%", "ENTRY")):
            break
    return frames


def _size(types: str) -> int:
    """The bytes of the arrays in a type of HLO.

    >>> _size("f32[2,3]{1,0}"), _size("(s4[4], pred[])"), _size("token[]")
    (24, 3, 0)
    """
    return sum(
        math.ceil(math.prod(map(int, filter(None, shape.split(",")))) * _bits(kind, digits) / 8)
        for kind, digits, _, shape in _SHAPE.findall(types)
    )


def _bits(kind: str, digits: str) -> int:
    return 8 if kind == "pred" else int(digits or 0)


def _type_name(kind: str, digits: str, rest: str, shape: str) -> str:
    """An array's type, as a jaxpr writes it.

    >>> _type_name("s", "32", "", "2,3"), _type_name("pred", "", "", "")
    ('int32[2,3]', 'bool[]')
    """
    name = "bool" if kind == "pred" else f"{_KINDS.get(kind, kind)}{digits}"
    return f"{name}{'_' if rest else ''}{rest}[{shape}]"
