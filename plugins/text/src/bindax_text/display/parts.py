"""The parts that a value is shown with, and their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bindax_core.tree_util import flatten_one_level_with_keys, is_tree_node, keystr


class Parts(NamedTuple):
    """The way a value is shown: what begins and ends it, and its parts with their names.

    A class gives the parts of its instances by a method ``__bindax_parts__``. By a method
    ``__bindax_note__`` it can say more of them in a line, which stands behind the beginning.

    >>> from bindax_text import describe
    >>> class Point:
    ...     def __bindax_parts__(self):
    ...         return Parts("Point(", [("x=", 1), ("y=", 2)], ")")
    >>> print(describe(Point()))
    Point(
      x=1,
      y=2
    )
    """

    start: str
    parts: list[tuple[str, Any]]
    end: str


def own_parts(value: Any) -> Parts | None:
    """The parts of a value whose class says what they are, or of a container with such a value."""
    kind = type(value)
    if hasattr(kind, "__bindax_parts__"):
        found: Parts = value.__bindax_parts__()
        return found
    if kind in (list, tuple) and any(own_parts(x) is not None for x in value):
        return tree_parts(value)
    if kind is dict and any(own_parts(x) is not None for x in value.values()):
        return tree_parts(value)
    return None


def tree_parts(value: Any) -> Parts | None:
    """The parts of a value as those of its class, or as the children of a node of a pytree."""
    kind = type(value)
    if hasattr(kind, "__bindax_parts__"):
        return own_parts(value)
    if kind in (list, tuple):
        left, right = "[]" if kind is list else "()"
        return Parts(left, [("", x) for x in value], right)
    if kind is dict:
        return Parts("{", [(f"{key!r}: ", x) for key, x in value.items()], "}")
    if value is None or not is_tree_node(kind):
        return None
    try:
        children, _ = flatten_one_level_with_keys(value)
    except Exception:  # what cannot be taken apart is shown as it is
        return None
    named = [(f"{keystr((key,)).lstrip('.')}=", child) for key, child in children]
    return Parts(f"{kind.__name__}(", named, ")")


def leaves(value: Any) -> Iterator[Any]:
    """Yield what has no parts below a value; what appears several times appears once."""
    stack: list[Any] = [value]
    met: dict[int, Any] = {}  # with the values, so that no other one gets the number of one
    while stack:
        here = stack.pop()
        if id(here) in met:
            continue
        met[id(here)] = here
        parts = tree_parts(here)
        if parts is None:
            yield here
        else:
            stack.extend(part for _, part in reversed(parts.parts))
