"""A value as a tree of bounded size, which text, terminals and notebooks show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bindax_text.display.parts import Parts

MOST_PARTS = 24
"""The parts of one value that are shown; the number of the others is said."""
MOST_NODES = 300
"""The parts of all values together, after which values are shown by their types alone."""
MOST_DEPTH = 24


@dataclass(slots=True)
class Node:
    """A value that is shown, with its parts or as a leaf.

    Attributes:
        label: its name in the value around it, such as ``kernel=``; empty without.
        value: the value.
        start: what begins it; of a leaf, the empty text.
        end: what ends it.
        children: the parts that are shown.
        hidden: how many more parts there are.
        note: what its class says of it by ``__bindax_note__``; empty without.
        state: ``"open"``, ``"leaf"``, ``"folded"`` where its parts are left out, or ``"shared"``
            where they were shown before.
    """

    label: str
    value: Any
    start: str = ""
    end: str = ""
    children: list[Node] = field(default_factory=list)
    hidden: int = 0
    note: str = ""
    state: str = "leaf"


class Outline:
    """Makes the nodes of one value.

    Args:
        parts_of: the parts of a value; None of a leaf.
    """

    def __init__(self, parts_of: Callable[[Any], Parts | None]) -> None:
        self._parts_of = parts_of
        self._left = MOST_NODES
        self._met: dict[int, Any] = {}

    def of(self, value: Any, label: str = "", depth: int = 0) -> Node:
        """Return the node of a value, with those of its parts."""
        self._left -= 1
        parts = self._parts_of(value)
        if parts is None:
            return Node(label, value)
        node = Node(label, value, parts.start, parts.end, state="open")
        if not isinstance(value, (list, tuple, dict)):
            if id(value) in self._met:
                node.state = "shared"
                return node
            self._met[id(value)] = value
        if parts.parts and (self._left <= 0 or depth > MOST_DEPTH):
            node.state = "folded"
            return node
        if hasattr(type(value), "__bindax_note__"):
            node.note = value.__bindax_note__()
        shown = parts.parts if len(parts.parts) <= MOST_PARTS + 1 else parts.parts[:MOST_PARTS]
        node.children = [self.of(x, name, depth + 1) for name, x in shown]
        node.hidden = len(parts.parts) - len(shown)
        return node
