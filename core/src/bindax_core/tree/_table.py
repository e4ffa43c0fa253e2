"""The table that dispatches on the type of a value: how to walk it, or that it is a leaf.

One dictionary look-up by exact type decides what a value is. A type that is not in the table is
classified once. Types enter and leave the table under a lock; reading needs none, because a look-up
in a dictionary is atomic.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

Walk: TypeAlias = Callable[[Any, list[Any]], Any]
"""From a node and the list that collects leaves to the node's tree definition."""

lock = threading.RLock()
"""Held while the table changes, and never while foreign code runs."""

LEAF_TYPES: set[type] = set()
"""The types that are known to be leaves."""

_MAX_LEAF_TYPES = 4096
"""Classes made on the fly must not be kept alive for ever, so that leaf types are forgotten."""


class _Table(dict[type, "Walk | None"]):
    """From a type to the function that walks its instances, or None for a leaf."""

    classify: Callable[[type], Walk | None]

    def __missing__(self, kind: type) -> Walk | None:
        return self.classify(kind)


TABLE = _Table()
kind_of = TABLE.__getitem__

version = [0]
"""Counts changes of the set of node types; what was generated for an older one is not used."""


class Remembered(dict[Any, Any]):
    """A dictionary that is emptied when it is full, and when the set of node types changes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        _remembered.append(self)

    def keep(self, key: Any, value: Any, size: int = 1) -> None:
        """Add an item of some size, unless that is a good part of the limit."""
        if self.size + size > self.limit:
            self.forget()
        if size <= self.limit // 4:
            self.size += size
            self[key] = value

    def forget(self) -> None:
        """Forget all items."""
        self.clear()
        self.size = 0


_remembered: list[Remembered] = []


def _changed() -> None:
    version[0] += 1
    for table in _remembered:
        table.forget()


def forget(kind: type) -> None:
    """Forget what a type is; the lock is held."""
    LEAF_TYPES.discard(kind)
    TABLE.pop(kind, None)
    _changed()


def set_leaf(kind: type) -> None:
    """Make a type a leaf type; the lock is held."""
    if len(LEAF_TYPES) >= _MAX_LEAF_TYPES:
        forget_leaves()
    TABLE[kind] = None
    LEAF_TYPES.add(kind)


def forget_leaves() -> None:
    """Classify every leaf type anew at its next use; the lock is held."""
    for kind in list(LEAF_TYPES):
        TABLE.pop(kind, None)
    LEAF_TYPES.clear()
    _changed()
