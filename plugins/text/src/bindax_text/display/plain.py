"""Values as text, one part on a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_text.display.outline import Node, Outline
from bindax_text.display.parts import Parts, own_parts

LONGEST_LEAF = 4000
MOST_ELEMENTS = 16
"""The most elements of an array whose values are shown among other parts."""


def leaf_text(value: Any) -> str:
    """A value as it is, but of an array with many elements its shape and dtype.

    >>> leaf_text(np.ones(2)), leaf_text(np.ones((20, 30)))
    ('array([1., 1.])', 'Array(shape=(20, 30), dtype=float64)')
    """
    size = getattr(value, "size", None)
    return type_text(value) if isinstance(size, int) and size > MOST_ELEMENTS else repr(value)


def describe(
    value: Any,
    shown: Callable[[Any], str] | None = None,
    parts_of: Callable[[Any], Parts | None] = own_parts,
) -> str:
    """A value and all below it as text of bounded size.

    What appears a second time is shown by its type and ``<shared>``, and of many parts the first.

    Args:
        value: the value.
        shown: the text of what has no parts; by default the values of the value's own parts, and
            of large arrays further below the type.
        parts_of: the parts of a value; by default those of values whose classes say what they are.

    >>> print(describe([1.5, 2.5]))
    [1.5, 2.5]
    """
    return _text(Outline(parts_of).of(value), "", shown or repr, shown or leaf_text)


def type_text(value: Any) -> str:
    """The shape and dtype of an array; anything else as it is.

    >>> type_text(np.ones((2, 3), np.float32))
    'Array(shape=(2, 3), dtype=float32)'
    """
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if not isinstance(shape, tuple) or dtype is None or isinstance(value, np.generic):
        return repr(value)
    return f"Array(shape={shape}, dtype={getattr(dtype, 'name', dtype)})"


def shortened(text: str, length: int = LONGEST_LEAF) -> str:
    """A text, cut where it is longer than a number of characters.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _text(node: Node, indent: str, shown: Callable[[Any], str], below: Callable[[Any], str]) -> str:
    if node.state == "leaf":
        return shortened(shown(node.value)).replace("\n", f"\n{indent}")
    if node.state == "shared":
        return f"{type(node.value).__name__}(<shared>)"
    if node.state == "folded":
        return f"{node.start}...{node.end}"
    lines = []
    for part in node.children:
        inner = _text(part, indent + "  ", shown if part.state == "leaf" else below, below)
        lines.append(f"{part.label}{inner}")
    if node.hidden:
        lines.append(f"... {node.hidden:,} more")
    text = ",\n".join(f"{indent}  {line}" for line in lines)
    start = f"{node.start} # {node.note}" if node.note else node.start
    return f"{start}\n{text}\n{indent}{node.end}" if text else f"{node.start}{node.end}"
