"""The words in which the structure of a graph is written: hashable, and free of arrays.

A walk over a graph writes them in the order in which it meets things. A node is followed by its
attributes, a variable by nothing, since its value is written elsewhere. Static attributes stand
for themselves, those whose equality is weaker than identity of type in a tuple with their type.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from bindax_core.extend import PyTreeDef


class NodeToken:
    """A graph node that is met for the first time, with the names of its attributes.

    Attributes:
        type: its type.
        names: the names of its attributes, sorted; their tokens follow in this order.
        metadata: what else makes the node, for types of other packages.
    """

    __slots__ = ("_hash", "metadata", "names", "type")

    def __init__(self, type: type, names: tuple[Any, ...], metadata: Any = None) -> None:
        self.type = type
        self.names = names
        self.metadata = metadata
        self._hash = hash((type, names, metadata))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, NodeToken)
            and self.type is other.type
            and self.names == other.names
            and bool(self.metadata == other.metadata)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{self.type.__name__}({', '.join(map(str, self.names))})"


class VariableToken:
    """A variable that is met for the first time.

    Attributes:
        type: its type.
        metadata: pairs of names and values, sorted by name.
    """

    __slots__ = ("_hash", "metadata", "type")

    def __init__(self, type: type, metadata: tuple[tuple[str, Any], ...]) -> None:
        self.type = type
        self.metadata = metadata
        self._hash = hash((type, metadata))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, VariableToken)
            and self.type is other.type
            and self.metadata == other.metadata
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        metadata = "".join(f", {name}={value!r}" for name, value in self.metadata)
        return f"{self.type.__name__}(*{metadata})"


class Content:
    """Stands before a variable whose value is not one array: a box, a tree, None."""

    __slots__ = ("tree",)

    def __init__(self, tree: PyTreeDef) -> None:
        self.tree = tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and bool(self.tree == other.tree)

    def __hash__(self) -> int:
        return hash(self.tree)

    def __repr__(self) -> str:
        return f"Content({self.tree})"


class Branch:
    """A container inside of a graph node, with the structure of its one level."""

    __slots__ = ("tree",)

    def __init__(self, tree: PyTreeDef) -> None:
        self.tree = tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Branch) and bool(self.tree == other.tree)

    def __hash__(self) -> int:
        return hash(self.tree)

    def __repr__(self) -> str:
        return f"{self.tree}"


class Seen:
    """A node or variable that was met before, by the number of its first appearance."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __repr__(self) -> str:
        return f"Seen({self.index})"


class Known:
    """A node or variable of the graph that a walk starts from, by its number there."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __repr__(self) -> str:
        return f"Known({self.index})"


class Leaf:
    """An array outside of variables, as it can stand in arguments and results."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


seen = cache(Seen)
"""The token of a number; there is one for each, so that they are compared by identity."""

known = cache(Known)
"""The token of a number of the original graph."""

LEAF = Leaf()
