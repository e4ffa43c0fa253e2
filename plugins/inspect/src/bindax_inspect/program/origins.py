"""Origins of equations: a line of the user's program, and the stack of names around it."""

from __future__ import annotations

from types import CodeType
from typing import NamedTuple

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
TOP = Origin(NOWHERE, "", False, None)
"""The origin of a whole program."""


def origin_of(eqn: JaxprEqn, around: Origin = TOP) -> Origin:
    """Return the origin of an equation.

    Args:
        eqn: the equation.
        around: the origin of the equation whose jaxpr has it.

    >>> import bindax_lax_basic as lax
    >>> from bindax_transforms import grad, make_jaxpr
    >>> [origin_of(eqn).backward for eqn in make_jaxpr(grad(lax.sin))(1.0).eqns]
    [False, False, True]
    """
    info = eqn.source_info
    if info is None:
        return Origin(NOWHERE, around.names, around.backward, None)
    names = "/".join(filter(None, (around.names, info.names)))
    backward = around.backward or "transpose(" in info.names
    return Origin(_line(info), names, backward, info.code)


def _line(info: SourceInfo) -> Line:
    if info.code is None:
        return NOWHERE
    key = (id(info.code), info.instruction)  # a code object takes long to hash
    known = _lines.get(key)
    if known is None or known[0] is not info.code:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        line = Line(info.file, info.line, info.function)
        known = _lines[key] = (info.code, line)
    return known[1]
