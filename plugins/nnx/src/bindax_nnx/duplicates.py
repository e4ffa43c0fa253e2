"""Duplicates: variables and objects that a graph holds in several places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import children_of
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable


def find_duplicates(node: Any, *, only: Filter = ...) -> list[list[Path]]:
    """The paths of all that is held in several places, one list for each.

    What is in an object that appears twice is named once, as this object is.

    Args:
        node: an object, or a container of objects.
        only: which variables and nodes to look at.

    >>> from bindax_nnx import Module, Param
    >>> class Tied(Module):
    ...     def __init__(self):
    ...         self.encoder = self.decoder = Param(2.0)
    >>> find_duplicates(Tied())
    [[('decoder',), ('encoder',)]]
    """
    takes = to_predicate(only)
    paths: dict[int, list[Path]] = {}
    for path, value in _all_paths(node, (), set()):
        found = paths.setdefault(id(value), [])
        if not found or takes(path, value):  # the first one is no duplicate
            found.append(path)
    return [found for found in paths.values() if len(found) > 1]


def _all_paths(value: Any, path: Path, met: set[int]) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, (Object, Variable)):
        yield path, value
        if id(value) in met:
            return
        met.add(id(value))
    for key, child in children_of(value):
        yield from _all_paths(child, (*path, key), met)
