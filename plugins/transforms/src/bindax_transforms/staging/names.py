"""Stacks of names: what transformations and scopes write around the names of equations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bindax_core.extend import SourceInfo, Transformation, current_source

JVP = Transformation("jvp")
TRANSPOSE = Transformation("transpose")
VMAP = Transformation("vmap")

_NOWHERE = SourceInfo(None, 0)


def enter_name(name: str) -> SourceInfo:
    """Give what is staged from here on a name further in.

    Returns:
        What ``current_source.info`` is to be again in the end, in ``finally``.
    """
    outer = current_source.info
    current_source.info = outer.inside(name)
    return outer


@contextmanager
def own_names(*, own_lines: bool) -> Iterator[None]:
    """Stage a jaxpr: the names of its equations begin inside of it.

    With ``own_lines`` it is one of a function that the user gave. What is staged has lines of that
    function, even where it is called by the rule of an equation that has a line.
    """
    outer = current_source.info
    if own_lines or outer.code is None:
        current_source.info = _NOWHERE
    else:
        current_source.info = SourceInfo(outer.code, outer.instruction)
    try:
        yield
    finally:
        current_source.info = outer
