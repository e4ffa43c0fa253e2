"""Flattening and unflattening of pytrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax

import bindax
from benchmarks.measure import Case, repeated

TREES: dict[int, Any] = {
    6: {"weights": [1, 2], "biases": (3, 4), "scale": 5, "offset": 6},
    100: [{"weights": (i, i), "biases": [i, i, i]} for i in range(20)],
}


def round_trip(library: ModuleType, tree: Any) -> Callable[[], Any]:
    """Make the task of taking a tree apart and putting it together."""
    flatten, unflatten = library.tree.flatten, library.tree.unflatten

    def task() -> Any:
        leaves, treedef = flatten(tree)
        return unflatten(treedef, leaves)

    return task


def cases() -> Iterator[Case]:
    """Yield a small and a larger tree."""
    for leaves, tree in TREES.items():
        own, other = repeated(round_trip(bindax, tree)), repeated(round_trip(jax, tree))
        yield Case(f"tree round trip, {leaves} leaves", own, other, target=5.0, goal=1.0)
