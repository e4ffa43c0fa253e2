"""The cache of ``jit``: traced functions by the types of arguments, the oldest dropped."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, CacheEntry, ClosedJaxpr, PyTreeDef, Tracer

LEAVES = frozenset({Array, np.ndarray, bool, int, float, complex})
"""Types of arguments that hold no others."""

entries_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    # Held over a fork, so that no thread that the child lacks holds it there.
    os.register_at_fork(
        before=entries_lock.acquire,
        after_in_parent=entries_lock.release,
        after_in_child=entries_lock.release,
    )


class Entry(CacheEntry):
    """A traced function for one type of arguments."""

    def __init__(
        self,
        jaxpr: ClosedJaxpr,
        consts: list[Any],
        tree: PyTreeDef,
        out_tree: PyTreeDef,
        params: dict[str, Any],
        shared: Shared,
        key: Any,
    ) -> None:
        super().__init__()
        self.jaxpr = jaxpr
        self.consts = consts
        self.closes_over_tracers = any(isinstance(c, Tracer) for c in consts)
        self.tree = tree
        self.out_tree = out_tree
        self.out_is_leaf = out_tree.num_leaves == out_tree.num_nodes == 1
        self.params = params
        self.run: Callable[[Sequence[Any]], Sequence[Any]] | None = None
        self.shared = weakref.ref(shared)  # no cycle: memory mappings go with the last reference
        self.key = key
        self.flat_keys: list[Any] = []

    def drop(self) -> None:
        """Remove it from the cache of its function."""
        self.run = None
        shared = self.shared()
        if shared is None:
            return
        with entries_lock:
            if shared.entries.get(self.key) is self:
                del shared.entries[self.key]
            for key in self.flat_keys:
                if shared.flat.get(key) is self:
                    del shared.flat[key]
            if shared.last[-1] is self:
                shared.last = (None, None, None, None)


class Shared:
    """State shared by all ``jit(fun)`` of one function and the same options."""

    def __init__(self) -> None:
        self.entries: dict[Any, Entry] = {}
        # The entries again, by the types of positional arguments that are arrays, not trees.
        self.flat: dict[Any, Entry] = {}
        # The one of them that was used last, with its key: comparing is faster than hashing.
        self.last: tuple[Any, Any, Any, Entry | None] = (None, None, None, None)
        self.hits = 0
        self.misses = 0
