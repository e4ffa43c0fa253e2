"""Values that are shown with counts of the numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_text import Displayed

_counting: list[Callable[[Any], str]] = []


def count_with(function: Callable[[Any], str]) -> None:
    """Have a function say what is in a value; it knows the classes that are based on this one."""
    _counting[:] = [function]


class Counted(Displayed):
    """Base of variables and of objects that have variables."""

    __slots__ = ()

    def __bindax_note__(self) -> str:
        return _counting[0](self)
