"""Calls of compiled functions that have next to nothing to compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, repeated

EIGHT = np.linspace(0.1, 0.8, 8, dtype=np.float32)


def call(library: ModuleType, leaves: int) -> Callable[[], Any]:
    """Make the task of one call with arrays that are on the device already."""
    increment = library.jit(
        lambda tree: library.tree.map(lambda leaf: library.lax.add(leaf, leaf), tree)
    )
    tree: Any = EIGHT if leaves == 1 else {f"layer{i:03}": EIGHT for i in range(leaves)}
    on_device = increment(tree)
    return lambda: increment(on_device)


def cases() -> Iterator[Case]:
    """Yield calls with one leaf and with a tree of 100."""
    for leaves in (1, 100):
        own, other = repeated(call(bindax, leaves)), repeated(call(jax, leaves))
        name = f"jit call, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
        yield Case(name, own, other, target=1.3, goal=1.0)
