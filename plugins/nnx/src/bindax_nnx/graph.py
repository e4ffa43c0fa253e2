"""Traversals of graphs: from objects to tokens and values.

One traversal takes any number of values apart. It writes the structure as tokens (``_tokens``) and
collects what the variables hold; nodes and variables that it meets twice are written as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.errors import clause
from bindax_core.extend import (
    Array,
    is_value,
    tree_flatten,
)
from bindax_core.tree_util import flatten_one_level_with_keys, is_tree_node
from bindax_nnx._paths import full_name
from bindax_nnx._tokens import (
    ARRAY,
    SELF_EXPLAINING,
    branch_token,
    content_token,
    known,
    node_token,
    seen,
    sequence_token,
)
from bindax_nnx.array_attributes import ArrayAttribute, array_attribute, content_of
from bindax_nnx.errors import GraphError
from bindax_nnx.external_nodes import find_foreign, on_registration
from bindax_nnx.object import Object
from bindax_nnx.reference_variables import loaded
from bindax_nnx.state import State
from bindax_nnx.variables import Variable

_set = object.__setattr__

_STATIC, _TYPED, _FLOAT, _VARIABLE, _OBJECT, _ARRAY, _TREE, _FOREIGN = range(1, 9)
"""The role of a value in a traversal; of static values, whether their type must be noted."""

_BASIC: dict[type, int] = {
    **dict.fromkeys(SELF_EXPLAINING, _STATIC),
    int: _TYPED,
    bool: _TYPED,
    complex: _TYPED,
    float: _FLOAT,
}
_roles = dict(_BASIC)


def _role(value: Any) -> int:
    """Decide what instances of a value's type are to a traversal, and remember it."""
    kind = type(value)
    if issubclass(kind, Variable):
        role = _VARIABLE
    elif issubclass(kind, Object):
        role = _OBJECT
    elif is_tree_node(kind):
        role = _TREE
    elif find_foreign(kind) is not None:
        role = _FOREIGN
    elif not issubclass(kind, np.generic) and is_value(value):
        role = _ARRAY
    else:
        role = _TYPED
    if len(_roles) > 4096:
        _forget_roles()
    _roles[kind] = role
    return role


def static_token(value: Any) -> tuple[Any] | None:
    """The token of a static attribute, in a tuple; None for what is more than one."""
    role = _roles.get(type(value)) or _role(value)
    if role is _STATIC:
        return (value,)
    if role is _TYPED:
        return ((type(value), value),)
    return ((float, value, value.hex()),) if role is _FLOAT else None


def _forget_roles() -> None:
    _roles.clear()
    _roles.update(_BASIC)


on_registration.append(_forget_roles)


_reference_types: dict[type, bool] = {}
on_registration.append(_reference_types.clear)


def is_reference(value: Any) -> bool:
    """Tell whether a value is walked as part of a graph, in the arguments of a transformation."""
    kind = type(value)
    known = _reference_types.get(kind)
    if known is None:
        if len(_reference_types) > 4096:
            _reference_types.clear()
        known = issubclass(kind, (Object, Variable, State)) or find_foreign(kind) is not None
        _reference_types[kind] = known
    return known


class GraphTraversal:
    """One traversal of a graph.

    Args:
        known: numbers of nodes and variables of an earlier traversal, by identity.
        expand: whether known nodes are written with their attributes, or by their numbers alone.
        whole: whether a tree that a variable holds counts as one value.
        paths: whether to note the paths of the variables.

    Attributes:
        tokens: the structure.
        references: the nodes and variables that were met, in order.
        values: what the variables hold, flat.
        uneven: how many values the variables have that do not have one, by number.
        containers: the lists and dictionaries that were met, with what they held.
        is_lasting: whether the structure can be told unchanged by the counter and the containers.
    """

    __slots__ = (
        "containers",
        "expand",
        "indices",
        "is_lasting",
        "known",
        "paths",
        "references",
        "tokens",
        "trail",
        "uneven",
        "values",
        "variables",
        "whole",
    )

    def __init__(
        self,
        known: Mapping[int, int] | None = None,
        *,
        expand: bool = False,
        whole: bool = False,
        paths: bool = False,
    ) -> None:
        self.known: Mapping[int, int] | None = known
        self.expand: bool = expand
        self.whole: bool = whole
        self.paths: list[tuple[Any, ...]] | None = [] if paths else None
        self.trail: tuple[Any, ...] = ()
        self.tokens: list[Any] = []
        self.references: list[Any] = []
        self.indices: dict[int, int] = {}
        self.variables: list[Variable[Any]] = []
        self.values: list[Any] = []
        self.uneven: dict[int, int] = {}
        self.containers: list[tuple[Any, tuple[Any, ...]]] = []
        self.is_lasting: bool = True

    def value(self, value: Any) -> None:
        """Take apart a value inside of a graph."""
        kind = type(value)
        role = _roles.get(kind) or _role(value)
        if role is _STATIC:
            self.tokens.append(value)
        elif role is _VARIABLE:
            self.variable(value)
        elif role is _OBJECT:
            self.node(value)
        elif role is _TYPED:
            self.tokens.append((kind, value))
        elif role is _FLOAT:
            self.tokens.append((kind, value, value.hex()))
        elif role is _TREE:
            self._branch(value, kind)
        elif role is _FOREIGN:
            self._foreign(value, find_foreign(kind))
        else:
            self._array(value)

    def _array(self, value: Any) -> None:
        """Take apart an array that is in no variable."""
        if self.paths is not None:
            self.paths.append(self.trail)
        self.tokens.append(ARRAY)
        self.variables.append(array_attribute(value))
        self.values.append(value)

    def _branch(self, value: Any, kind: type) -> None:
        children: Sequence[Any]
        if kind is list or kind is tuple:
            children, token = value, sequence_token(kind, len(value))
        else:
            children, tree = tree_flatten(value, is_leaf=lambda x: x is not value)
            token = branch_token(tree)
        self.tokens.append(token)
        if kind is list:
            self.containers.append((value, tuple(value)))
        elif kind is dict:
            self.containers.append((value, (*value, *value.values())))
        elif kind is State:
            mapping = value._mapping
            self.containers.append((mapping, (*mapping, *mapping.values())))
        elif not isinstance(value, tuple):
            self.is_lasting = False
        if self.paths is None:
            for child in children:
                self.value(child)
            return
        trail = self.trail
        for (key, _), child in zip(children_of(value), children, strict=True):
            self.trail = (*trail, key)
            self.value(child)
        self.trail = trail

    def _is_old(self, value: Any) -> bool:
        """Write a node or variable that was met before by its number."""
        index = self.indices.get(id(value))
        if index is not None:
            self.tokens.append(seen(index))
            return True
        if self.known is not None:
            number = self.known.get(id(value))
            if number is not None:
                self.tokens.append(known(number))
                if not self.expand:
                    return True
                if isinstance(value, Variable):
                    self._meet(value)
                    return True
        return False

    def _meet(self, value: Any) -> None:
        self.indices[id(value)] = len(self.references)
        self.references.append(value)

    def node(self, node: Object) -> None:
        """Take apart an object."""
        if self._is_old(node):
            return
        self._meet(node)
        attributes = node.__dict__
        token, names = node._nnx_token()
        self.tokens.append(token)
        self._attributes(node, attributes, names, node._nnx_marks)

    def _foreign(self, node: Any, definition: Any) -> None:
        if self._is_old(node):
            return
        self._meet(node)
        self.is_lasting = False
        attributes, metadata = definition.flatten(node)
        names = tuple(sorted(attributes))
        self.tokens.append(node_token(definition.type, names, metadata))
        self._attributes(node, attributes, names)

    def _attributes(
        self,
        node: Any,
        attributes: Mapping[str, Any],
        names: Sequence[str],
        marks: Mapping[str, bool] | None = None,
    ) -> None:
        if self.paths is None and marks is None:
            self._plain_attributes(attributes, names)
            return
        trail, marks = self.trail, marks or {}
        for name in names:
            value, is_marked = attributes[name], marks.get(name)
            if not is_marked and _roles.get(type(value), _FOREIGN) <= _FLOAT:
                self.value(value)  # static ones have no paths
                continue
            self.trail = (*trail, path_key(node, name))
            if is_marked and is_value(value):
                self._array(value)
            else:
                self.value(value)
        self.trail = trail

    def _plain_attributes(self, attributes: Mapping[str, Any], names: Sequence[str]) -> None:
        """Take attributes apart; the most common kinds here, for speed."""
        tokens, references, indices = self.tokens, self.references, self.indices
        is_first = self.known is None
        for name in names:
            value = attributes[name]
            kind = type(value)
            role = _roles.get(kind)
            if role is _STATIC:
                tokens.append(value)
            elif role is _TYPED:
                tokens.append((kind, value))
            elif role is _VARIABLE and is_first and id(value) not in indices:
                content = value._value
                if type(content) is Array:
                    indices[id(value)] = len(references)
                    references.append(value)
                    self.variables.append(value)
                    self.values.append(content)
                    tokens.append(value._token or value.token)
                else:
                    self.variable(value)
            else:
                self.value(value)

    def variable(self, variable: Variable[Any]) -> None:
        """Take apart a variable."""
        if self._is_old(variable):
            return
        self._meet(variable)
        if self.paths is not None:
            self.paths.append(self.trail)
        self.variables.append(variable)
        value = variable._value
        if type(value) is not Array:
            value = loaded(value)
        if type(value) is Array or self.whole or not is_tree_node(type(value)):
            self.values.append(value)
        else:
            leaves, tree = tree_flatten(value)
            self.values.extend(leaves)
            self.uneven[len(self.variables) - 1] = len(leaves)
            self.tokens.append(content_token(tree))
            self.is_lasting = False
        self.tokens.append(variable._token or variable.token)

    @property
    def sizes(self) -> list[int]:
        """The number of values of each variable."""
        return [self.uneven.get(i, 1) for i in range(len(self.variables))]

    def structure(self) -> tuple[Any, ...]:
        """The tokens, which are hashable, or an error that names the attribute that is not."""
        tokens = tuple(self.tokens)
        try:
            hash(tokens)
        except TypeError:
            raise self._unhashable() from None
        return tokens

    def _unhashable(self) -> GraphError:
        for node in self.references:
            for key, child in children_of(node) if not isinstance(node, Variable) else ():
                try:
                    hash(child)
                except TypeError as error:
                    if not is_tree_node(type(child)) and not is_reference(child):
                        return GraphError(
                            f"{_name(node)}.{key} is static, since it is no variable or "
                            f"object, but cannot be hashed: {clause(error)}. Use a tuple or "
                            f"another hashable value, or hold arrays in variables."
                        )
        return GraphError("a static attribute of a graph cannot be hashed.")


def traverse(roots: Iterable[Any], *, whole: bool = False, paths: bool = False) -> GraphTraversal:
    """A traversal over some values."""
    traversal = GraphTraversal(whole=whole, paths=paths)
    for root in roots:
        traversal.value(root)
    return traversal


# ---------------------------------------------------------------------------- children and paths


def _name(node: Any) -> str:
    return full_name(node) if isinstance(node, Object) else type(node).__name__


def path_key(node: Any, name: str) -> Any:
    """The entry of paths for an attribute."""
    return node._nnx_key(name) if isinstance(node, Object) else name


def children_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of a node or container with their keys, sorted."""
    if isinstance(value, Object):
        for name in value._nnx_token()[1]:
            yield path_key(value, name), value.__dict__[name]
    elif isinstance(value, Variable):
        return
    elif is_tree_node(type(value)):
        for key, child in flatten_one_level_with_keys(value)[0]:
            yield plain_key(key), child
    else:
        foreign = find_foreign(type(value))
        if foreign is not None:
            own, _ = foreign.flatten(value)
            for name in sorted(own):
                yield name, own[name]


def plain_key(key: Any) -> Any:
    """The name or number in an entry of a path through a pytree."""
    for name in ("key", "idx", "name"):
        if hasattr(key, name):
            return getattr(key, name)
    return key


def iter_nodes(node: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """All that can be reached from a node, with paths; each node and variable once, parts first."""
    return _iterate(node, (), set())


def _iterate(value: Any, path: tuple[Any, ...], met: set[int]) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, (Object, Variable)) or is_reference(value):
        if id(value) in met:
            return
        met.add(id(value))
    for key, child in children_of(value):
        yield from _iterate(child, (*path, key), met)
    yield path, value


def iter_variables(node: Any) -> Iterator[tuple[tuple[Any, ...], Variable[Any]]]:
    """The variables that can be reached from a node, each once, with their paths."""
    traversal = traverse([node], whole=True, paths=True)
    found = zip(traversal.paths or (), traversal.variables, strict=True)
    return ((path, x) for path, x in found if type(x) is not ArrayAttribute)


def iter_data(node: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The variables that can be reached from a node, and the arrays that are in none."""
    return iter(data_of_each([node])[0])


def data_of_each(roots: Iterable[Any]) -> list[list[tuple[tuple[Any, ...], Any]]]:
    """The same for several nodes; what several have is where it is first."""
    traversal = GraphTraversal(whole=True, paths=True)
    parts: list[list[tuple[tuple[Any, ...], Any]]] = []
    for root in roots:
        start = len(traversal.variables)
        traversal.value(root)
        found = zip((traversal.paths or [])[start:], data_of(traversal, start), strict=True)
        parts.append(list(found))
    return parts


def data_of(traversal: GraphTraversal, start: int = 0) -> list[Any]:
    """The variables that a traversal met, and the arrays that are in none, from a number on."""
    return list(map(content_of, traversal.variables[start:]))
