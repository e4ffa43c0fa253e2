"""Stacks of names: what transformations and scopes write around the names of equations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bindax_core.extend import SourceInfo, Transformation, current_source

JVP = Transformation("jvp")
TRANSPOSE = Transformation("transpose")
VMAP = Transformation("vmap")


class names_inside:
    """Give what is staged in a ``with`` block a name further in."""

    __slots__ = ("name", "outer")

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.outer: SourceInfo = current_source.info
        current_source.info = self.outer.inside(self.name)

    def __exit__(self, *error: object) -> None:
        current_source.info = self.outer


@contextmanager
def own_names(*, own_lines: bool) -> Iterator[None]:
    """Stage a jaxpr: the names of its equations begin inside of it.

    With ``own_lines`` it is one of a function that the user gave. What is staged has lines of that
    function, even where it is called by the rule of an equation that has a line.
    """
    outer, caller = current_source.info, current_source.caller
    if own_lines:
        current_source.info, current_source.caller = SourceInfo(None, 0), None
    else:
        current_source.info = SourceInfo(outer.code, outer.instruction)
    try:
        yield
    finally:
        current_source.info, current_source.caller = outer, caller
