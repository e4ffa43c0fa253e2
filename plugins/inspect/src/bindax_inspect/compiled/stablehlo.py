"""The lines of a StableHLO program, and the equation that each comes from."""

from __future__ import annotations

import re
from typing import NamedTuple

from bindax_inspect.compiled.marks import marks_in
from bindax_inspect.compiled.values import hidden_dense

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_REFERENCE = re.compile(r"#loc\d*")
_LOCATION = re.compile(r" ?loc\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)")


class TextLine(NamedTuple):
    """One line of a program as text.

    Attributes:
        text: the line.
        equations: the numbers of the equations that it comes from.
        result: the name of what it computes, where it does.
    """

    text: str
    equations: tuple[int, ...] = ()
    result: str = ""


def stablehlo_lines(text: str, *, values: bool = False) -> list[TextLine]:
    """Return the lines of a module that was printed with locations, without them.

    Args:
        text: the module.
        values: whether constants are shown.
    """
    lines = text.splitlines()
    names = _names(lines)
    shown: list[TextLine] = []
    for line in lines:
        if not line.strip() or _ALIAS.match(line):
            continue
        plain = _LOCATION.sub("", line)
        found = [number for name in _locations(line, names) for number in marks_in(name)[-1:]]
        plain = plain if values else hidden_dense(plain)
        shown.append(TextLine(plain, tuple(found[-1:]), _result(plain)))
    return _openings(shown)


def _names(lines: list[str]) -> dict[str, str]:
    """The texts of the locations that have names of their own, those inside of them spelled out."""
    aliases = {m[1]: m[2] for line in lines if line.startswith("#") and (m := _ALIAS.match(line))}

    def spelled(name: str, depth: int = 0) -> str:
        text = aliases.get(name, "")
        inner = [spelled(one, depth + 1) for one in _REFERENCE.findall(text)] if depth < 8 else []
        return "/".join([text, *inner])

    return {name: spelled(name) for name in aliases}


def _locations(line: str, names: dict[str, str]) -> list[str]:
    found = _LOCATION.findall(line)
    return [
        " ".join([text, *(names.get(one, "") for one in _REFERENCE.findall(text))])
        for text in found
    ]


def _result(line: str) -> str:
    left, equals, _ = line.partition(" = ")
    return left.strip() if equals and left.lstrip().startswith("%") else ""


def _openings(lines: list[TextLine]) -> list[TextLine]:
    """Give an operation with regions, at its first line, what is known at its last."""
    waiting: dict[int, list[int]] = {}
    found = list(lines)
    for i, line in enumerate(lines):
        depth = len(line.text) - len(line.text.lstrip())
        if line.text.lstrip().startswith("}") and line.equations:
            for start in waiting.pop(depth, ()):
                found[start] = found[start]._replace(equations=line.equations)
        elif not line.equations and line.result:
            waiting.setdefault(depth, []).append(i)
    return found
