"""The words in which the structure of a graph is written: hashable, and free of arrays.

A traversal of a graph writes them in the order in which it meets things. A node is followed by its
attributes, a variable by nothing, since its value is written elsewhere. Static attributes stand
for themselves, those whose equality is weaker than identity of type in a tuple with their type.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from threading import RLock
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from bindax_core.extend import PyTreeDef, tree_structure
from bindax_nnx.reference_variables import holds_reference

T = TypeVar("T")

SELF_EXPLAINING: set[type] = {
    str,
    type(None),
    FunctionType,
    BuiltinFunctionType,
    type,
    bytes,
}
"""Types of static attributes whose instances are equal only to their like."""


class NodeToken:
    """A graph node that is met for the first time; the tokens of its sorted attributes follow.

    Its metadata is what else makes the node, for types of other packages; of objects, the marks of
    attributes where they are others than those of the class.
    """

    __slots__ = ("__weakref__", "metadata", "names", "type")

    def __init__(self, type: type, names: tuple[Any, ...], metadata: Any = None) -> None:
        self.type = type
        self.names = names
        self.metadata = metadata

    def __reduce__(self) -> Any:
        return node_token, (self.type, self.names, self.metadata)

    def __repr__(self) -> str:
        return f"{self.type.__name__}({', '.join(map(str, self.names))})"


class VariableToken:
    """A variable that is met for the first time; its metadata are pairs, and the same by name."""

    __slots__ = (
        "__bindax_structures__",
        "__weakref__",
        "by_name",
        "holds_reference",
        "metadata",
        "type",
    )

    def __init__(self, type: type, metadata: tuple[tuple[str, Any], ...]) -> None:
        self.type: builtins.type = type
        self.metadata: tuple[tuple[str, Any], ...] = metadata
        self.by_name: dict[str, Any] = dict(metadata)
        self.holds_reference: bool = holds_reference(self.by_name)
        self.__bindax_structures__: dict[Any, PyTreeDef] = {}

    def __reduce__(self) -> Any:
        return variable_token, (self.type, self.metadata)

    def __repr__(self) -> str:
        metadata = "".join(f", {name}={value!r}" for name, value in self.metadata)
        return f"{self.type.__name__}(*{metadata})"


class Content:
    """Stands before a variable whose value is not one array: a box, a tree, None."""

    __slots__ = ("__weakref__", "tree")

    def __init__(self, tree: PyTreeDef) -> None:
        self.tree = tree

    def __reduce__(self) -> Any:
        return content_token, (self.tree,)

    def __repr__(self) -> str:
        return f"Content({self.tree})"


class Branch:
    """A container inside of a graph node, with the structure of its one level.

    A tuple is fixed: its items stay what they are.
    """

    __slots__ = ("__weakref__", "is_fixed", "size", "tree")

    def __init__(self, tree: PyTreeDef) -> None:
        self.tree = tree
        self.size = tree.num_leaves
        data = tree.node_data()
        self.is_fixed: bool = data is not None and issubclass(data[0], tuple)

    def __reduce__(self) -> Any:
        return branch_token, (self.tree,)

    def __repr__(self) -> str:
        return f"{self.tree}"


class _Numbered:
    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.index})"


class Seen(_Numbered):
    """A node or variable that was met before, by the number of its first appearance."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return seen, (self.index,)


class Known(_Numbered):
    """A node or variable of the graph that a traversal starts from, by its number there."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return known, (self.index,)


class Leaf:
    """An array outside of variables, as it can stand in arguments and results."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "LEAF"

    def __repr__(self) -> str:
        return "*"


class ArrayToken:
    """An array that an attribute holds without a variable; its value is written elsewhere."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "ARRAY"

    def __repr__(self) -> str:
        return "Array"


# There is one token for each content, so that tokens are compared and hashed by identity.


@cache
def seen(index: int) -> Seen:
    """The token of a number."""
    return Seen(index)


@cache
def known(index: int) -> Known:
    """The token of a number of the original graph."""
    return Known(index)


_tokens: WeakValueDictionary[Any, Any] = WeakValueDictionary()
"""Those that graphs have; metadata and classes that nobody uses any more are forgotten."""
_lock = RLock()


def _only_one(key: Any, make: Callable[..., T], *args: Any) -> T:
    found: T | None = _tokens.get(key)
    if found is None:
        with _lock:
            found = _tokens.get(key)
            if found is None:
                found = _tokens[key] = make(*args)
    return found


def content_token(tree: PyTreeDef) -> Content:
    """The token of a structure in a variable."""
    return _only_one((Content, tree), Content, tree)


def branch_token(tree: PyTreeDef) -> Branch:
    """The token of one level of a container."""
    return _only_one((Branch, tree), Branch, tree)


@lru_cache(maxsize=1024)
def sequence_token(kind: type, size: int) -> Branch:
    """The token of a list or tuple."""
    return branch_token(tree_structure(kind([0] * size)))


def node_token(kind: type, names: tuple[Any, ...], metadata: Any = None) -> NodeToken:
    """The token of a node of a type; its metadata must be hashable."""
    # By identity: a class has its own tokens, and a key that had the class would keep both.
    key = (NodeToken, id(kind), names, metadata)
    return _only_one(key, NodeToken, kind, names, metadata)


def variable_token(kind: type, metadata: tuple[tuple[str, Any], ...]) -> VariableToken:
    """The token of a variable of a type; its metadata must be hashable."""
    types = tuple([type(value) for _, value in metadata])  # 1 is not True
    key = (VariableToken, id(kind), metadata, types)
    return _only_one(key, VariableToken, kind, metadata)


def places_of(tokens: Sequence[Any]) -> dict[tuple[int, str], int]:
    """The positions of the tokens of attributes, by the number of the node and their name."""
    places: dict[tuple[int, str], int] = {}
    position = references = 0

    def pass_one() -> None:
        nonlocal position, references
        token = tokens[position]
        position += 1
        kind = type(token)
        if kind is NodeToken:
            number = references
            references += 1
            for name in token.names:
                places[number, name] = position
                pass_one()
        elif kind is VariableToken:
            references += 1
        elif kind is Branch:
            for _ in range(token.size):
                pass_one()
        elif kind is Content:
            pass_one()

    while position < len(tokens):
        pass_one()
    return places


LEAF = Leaf()
ARRAY = ArrayToken()


_names: dict[str, int] = {}


def serialized_name(cls: type) -> str:
    """The name of a class in serialized tree definitions.

    A class that is defined again, in a notebook say, is another one: both stay in use.
    """
    name = f"{cls.__module__}:{cls.__qualname__}"
    count = _names[name] = _names.get(name, 0) + 1
    return name if count == 1 else f"{name}#{count}"
