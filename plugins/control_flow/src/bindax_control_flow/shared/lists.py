"""Small helpers on lists of operands and of flags that rules share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from bindax_core.extend import Zero

T = TypeVar("T")


def split(values: Sequence[T], *sizes: int) -> list[list[T]]:
    """Cut a list into pieces of the given sizes, and the rest.

    >>> split([1, 2, 3, 4], 1, 2)
    [[1], [2, 3], [4]]
    """
    cuts = [0, *itertools.accumulate(sizes), len(values)]
    return [list(values[a:b]) for a, b in itertools.pairwise(cuts)]


def partition(which: Sequence[bool], values: Iterable[T]) -> tuple[list[T], list[T]]:
    """The values where ``which`` is false, and those where it is true."""
    no: list[T] = []
    yes: list[T] = []
    for flag, value in zip(which, values, strict=True):
        (yes if flag else no).append(value)
    return no, yes


def merge(which: Sequence[bool], no: Iterable[Any], yes: Iterable[Any]) -> list[Any]:
    """The inverse of ``partition``."""
    no, yes = iter(no), iter(yes)
    return [next(yes) if flag else next(no) for flag in which]


def either(left: Sequence[bool], right: Sequence[bool]) -> list[bool]:
    """For each place, whether one of two flags is set."""
    return [a or b for a, b in zip(left, right, strict=True)]


def kept(values: Iterable[T], flags: Sequence[bool]) -> list[T]:
    """The values whose flag is set."""
    return [x for x, flag in zip(values, flags, strict=True) if flag]


def with_zeros(flags: Sequence[bool], values: Iterable[Any], avals: Sequence[Any]) -> list[Any]:
    """One tangent or cotangent for each flag: the next value, or a ``Zero`` of the type."""
    zeros = [Zero(a.tangent_aval()) for a, flag in zip(avals, flags, strict=True) if not flag]
    return merge(flags, zeros, values)


def fixpoint(grow: Callable[[list[bool]], Sequence[bool]], flags: Sequence[bool]) -> list[bool]:
    """The least flags, those given included, to which ``grow`` adds nothing.

    A component of a carry has a tangent, a batch axis or an unknown value if it starts with one or
    a step gives it one; so the step is transformed until nothing is added.
    """
    found = list(flags)
    while True:
        grown = either(found, grow(found))
        if grown == found:
            return found
        found = grown
