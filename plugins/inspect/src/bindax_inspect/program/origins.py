"""Origins of equations: a line of the user's program, and the stack of names around it."""

from __future__ import annotations

from types import CodeType
from typing import Any, NamedTuple

from bindax_core.extend import JaxprEqn, SourceInfo


class Line(NamedTuple):
    """A line of the user's program.

    Attributes:
        file: the path of the file, or the name of a notebook's cell.
        number: the number of the line in it, from 1; 0 where no line is known.
        function: the name of the function that the line is in.
    """

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}" if self.number else "(no line)"


NOWHERE = Line("", 0, "")


class Origin(NamedTuple):
    """The origin of an equation.

    Attributes:
        line: the user's line.
        names: the transformations, scopes, functions and modules around the equation, from the
            outside in, separated by slashes.
        backward: whether a transpose made the equation.
        code: the code object of the function that has the line, or None.
    """

    line: Line
    names: str
    backward: bool
    code: CodeType | None


_lines: dict[tuple[int, int], tuple[CodeType, Line]] = {}
_MOST_LINES = 100_000


def origin_of(eqn: JaxprEqn) -> Origin:
    """Return the origin of an equation.

    >>> import bindax_lax_basic as lax
    >>> from bindax_transforms import make_jaxpr
    >>> origin_of(make_jaxpr(lax.sin)(1.0).eqns[0]).backward
    False
    """
    info: Any = eqn.source_info
    if info is None:
        return Origin(NOWHERE, "", False, None)
    names = _names(info)
    return Origin(_line(info), names, "transpose(" in names, info.code)


def _names(info: SourceInfo) -> str:
    """The stack of names as text."""
    return str(getattr(info, "names", "") or info.scope)


def _line(info: SourceInfo) -> Line:
    key = (id(info.code), info.instruction)  # a code object takes long to hash
    known = _lines.get(key)
    if known is None or known[0] is not info.code:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        line = Line(info.code.co_filename, info.line, info.code.co_name)
        known = _lines[key] = (info.code, line)
    return known[1]
