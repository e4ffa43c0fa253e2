"""Sums over the arrays of a value."""

from __future__ import annotations

from typing import Any

from bindax_core import ShapedArray, typeof
from bindax_core.extend import size_text
from bindax_text.display.outline import Node
from bindax_text.display.parts import leaves
from bindax_text.display.summaries import is_array

_TOTALS_DEPTH = 2


def note_of(node: Node, depth: int) -> str:
    """The type of the only array in a value, or its own note; of the outer values, all arrays."""
    arrays = [part for part in node.children if part.state == "leaf" and is_array(part.value)]
    if len(arrays) == 1 and all(part.state == "leaf" for part in node.children):
        shown: str = typeof(arrays[0].value).str_short()
        return shown
    return node.note or (totals_text(node.value) if depth < _TOTALS_DEPTH else "")


def totals_text(value: Any) -> str:
    """The arrays, elements and bytes below a value, each array counted once; empty without.

    >>> import numpy as np
    >>> totals_text({"a": np.ones(3), "b": [np.ones((2, 2))]})
    '2 arrays, 7 elements, 56 bytes'
    """
    count = elements = size = 0
    for leaf in leaves(value):
        if not is_array(leaf):
            continue
        aval: Any = typeof(leaf)
        count += 1
        if isinstance(aval, ShapedArray) and isinstance(aval.size, int):
            elements += aval.size
            size += aval.size * aval.dtype.itemsize
    if not count:
        return ""
    plural = "" if count == 1 else "s"
    return f"{count:,} array{plural}, {elements:,} elements, {size_text(size)}"
