"""Generated flatten functions for the structures that come up again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from bindax_core.tree._compare import has_hashable_metadata
from bindax_core.tree._compile import MAX_NODES, compile_flatten
from bindax_core.tree._nodes import postorder
from bindax_core.tree._table import SPECIALIZED, lock, version
from bindax_core.tree._treedef import PyTreeDef

Flattener: TypeAlias = Callable[[Any], tuple[list[Any], PyTreeDef] | None]

_FIRST = 64
"""Trees that are walked before a function is generated; doing so costs about as much."""
_FIRST_LARGE = 256
"""The same for large trees, where generating takes long enough to be noticed."""
_LARGE = 128
"""The number of leaves from which on a tree is large."""
_MAX_FUNCTIONS = 4
"""The number of structures whose roots may look alike."""
_MAX_ENTRIES = 512
"""Generated functions keep types and metadata alive, so that their number is limited."""


class Entry:
    """Facts about the trees whose roots look alike."""

    __slots__ = ("functions", "misses", "threshold")

    def __init__(self, num_leaves: int) -> None:
        self.functions: tuple[Flattener, ...] = ()
        self.misses = 0
        self.threshold = _FIRST if num_leaves < _LARGE else _FIRST_LARGE


def missed(key: Any, entry: Entry | None, structure: PyTreeDef) -> None:
    """Take note of a tree that had to be walked, and generate a function if it is time."""
    if entry is None:
        with lock:
            if len(SPECIALIZED) >= _MAX_ENTRIES:
                SPECIALIZED.clear()
            SPECIALIZED[key] = Entry(structure.num_leaves)
        return
    entry.misses += 1
    if entry.misses < entry.threshold:
        return
    entry.misses = 0
    # Roots that look alike above ever different trees must not cost a compilation each time.
    entry.threshold *= 4
    before = version[0]
    if len(postorder(structure)) > MAX_NODES:
        return
    if not has_hashable_metadata(structure):
        return  # what may change cannot be recognized
    function = compile_flatten(structure)
    with lock:
        if version[0] == before:
            entry.functions = (function, *entry.functions[: _MAX_FUNCTIONS - 1])
