"""Small helpers on lists of flags that rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def either(left: Sequence[bool], right: Sequence[bool]) -> list[bool]:
    """For each place, whether one of two flags is set."""
    return [a or b for a, b in zip(left, right, strict=True)]


def kept(values: Iterable[T], flags: Sequence[bool]) -> list[T]:
    """The values whose flag is set."""
    return [x for x, flag in zip(values, flags, strict=True) if flag]


def fixpoint(grow: Callable[[list[bool]], Sequence[bool]], flags: Sequence[bool]) -> list[bool]:
    """The least flags, those given included, to which ``grow`` adds nothing."""
    found = list(flags)
    while True:
        grown = either(found, grow(found))
        if grown == found:
            return found
        found = grown
