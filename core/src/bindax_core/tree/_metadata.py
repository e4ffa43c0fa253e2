"""Metadata and keys that are interchangeable, which is more than to be equal, as 1 and True are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

EXACT_KEYS = frozenset({str, int})
"""Types of which equal values are interchangeable, among all the values of these types."""

_EXACT = frozenset({str, int, bool, bytes, type(None)})


def is_exact(data: Any) -> bool:
    """Tell whether metadata is made of values that are equal only if they are interchangeable."""
    return type(data) in _EXACT or (type(data) is tuple and all(map(is_exact, data)))


def same_exactly(ours: Any, theirs: Any) -> bool:
    """Tell whether metadata is known to be interchangeable."""
    if ours is theirs:
        return True
    if type(ours) is not type(theirs):
        return False
    if type(ours) is tuple:
        return len(ours) == len(theirs) and all(map(same_exactly, ours, theirs))
    return type(ours) in _EXACT and bool(ours == theirs)


def same_as(data: Any) -> Callable[[Any], bool]:
    """Make a function that tells whether metadata is known to be interchangeable with this.

    Raises:
        Exception: when the metadata has no hash. Where it has, a change in place shows by that.
    """
    known, exact = hash(data), is_exact(data)
    return lambda given: same_exactly(given, data) and (exact or hash(given) == known)
