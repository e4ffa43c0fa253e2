"""Marks: numbers of equations in the names of operations, which compilers keep.

A copy of the program is compiled whose equations have their numbers as scopes. Compilers keep the
name of an operation when they move, fuse or inline it, so each part of a compiled program says
which equations it computes.
"""

from __future__ import annotations

import re
from typing import Any

from bindax_core.extend import ClosedJaxpr, SourceInfo
from bindax_inspect.program.equations import Program

_MARK = re.compile(r"bindax\.eqn\.(\d+)")  # XLA cuts names at other signs, such as @


def marks_in(text: str) -> list[int]:
    """Return the numbers of equations in the name of an operation, from the outside in.

    >>> marks_in("bindax.eqn.3/loss/jit/bindax.eqn.12/f/dot_general")
    [3, 12]
    """
    return [int(number) for number in _MARK.findall(text)]


def marked(program: Program) -> ClosedJaxpr:
    """Return a copy of a program's jaxpr whose equations have their numbers as scopes."""
    return _Marking(program).closed(program.jaxpr)


class _Marking:
    """A copy in the making; a jaxpr that several equations call is copied once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._copies: dict[int, ClosedJaxpr] = {}

    def closed(self, program: ClosedJaxpr) -> ClosedJaxpr:
        """The copy of a jaxpr."""
        known = self._copies.get(id(program))
        if known is None:
            numbers = self._program.numbers[id(program.jaxpr)]
            eqns = [
                eqn.replace(
                    params={name: self._param(value) for name, value in eqn.params.items()},
                    source_info=_with_mark(eqn.source_info, number),
                )
                for eqn, number in zip(program.eqns, numbers, strict=True)
            ]
            known = ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)
            self._copies[id(program)] = known
        return known

    def _param(self, value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return self.closed(value)
        if isinstance(value, (tuple, list)) and any(isinstance(x, ClosedJaxpr) for x in value):
            return type(value)(self._param(x) for x in value)
        return value


def _with_mark(info: SourceInfo | None, number: int) -> SourceInfo:
    mark = f"bindax.eqn.{number}"
    return SourceInfo(None, 0, (mark,)) if info is None else info._replace(stack=(mark,))
