"""Objects as pytrees: attributes that are data are children, the others are structure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import GetAttrKey, SequenceKey, is_tree_node, register_node
from bindax_nnx._mutation_counter import current_trace
from bindax_nnx._tokens import serialized_name
from bindax_nnx.graph import path_key, static_token, traverse
from bindax_nnx.object import Object, has_data, is_data, new_object, on_definition

_set = object.__setattr__


class _Static:
    """The static part of an object: marks, the names of what is data, and what is not.

    Attributes:
        marks: which attributes were said to be data, or static.
        names: the names of the children.
        attributes: the other attributes.
    """

    __slots__ = ("_hash", "_tokens", "attributes", "marks", "names")

    def __init__(self, marks: Any, names: tuple[str, ...], attributes: dict[str, Any]) -> None:
        self.marks = marks
        self.names = names
        self.attributes = attributes
        tokens = [(name, _tokens(value)) for name, value in attributes.items()]
        self._tokens = (names, tuple(tokens))
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Static) and self._tokens == other._tokens)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._tokens)
        return self._hash

    def __repr__(self) -> str:
        shown = "".join(f", {name}={value!r:.40}" for name, value in self.attributes.items())
        return f"({', '.join(self.names)}{shown})"


def _tokens(value: Any) -> Any:
    """A static value as something that is compared by its types, too."""
    token = static_token(value)
    if token is not None:
        return token
    try:
        return tuple(traverse([value]).tokens)
    except RecursionError:
        return value


def _is_child(name: str, value: Any, marks: dict[str, bool]) -> bool:
    mark = marks.get(name)
    if mark is None:
        mark = is_data(value) or (is_tree_node(type(value)) and bool(has_data(value)))
    return mark


def _flatten(node: Object) -> tuple[list[Any], _Static]:
    attributes, marks = node.__dict__, node._nnx_marks or {}
    children, names, rest = [], [], {}
    for name in node._nnx_token()[1]:
        value = attributes[name]
        if _is_child(name, value, marks):
            names.append(name)
            children.append(value)
        else:
            rest[name] = value
    return children, _Static(node._nnx_marks, tuple(names), rest)


def _flatten_with_keys(node: Object) -> tuple[list[tuple[Any, Any]], _Static]:
    children, static = _flatten(node)
    keys = [path_key(node, name) for name in static.names]
    entries = [SequenceKey(k) if isinstance(k, int) else GetAttrKey(k) for k in keys]
    return list(zip(entries, children, strict=True)), static


def _unflatten(cls: type[Object], static: _Static, children: Iterable[Any]) -> Any:
    node = new_object(cls, current_trace())
    attributes = dict(zip(static.names, children, strict=True))
    unlike = [name for name, x in attributes.items() if not _is_child(name, x, static.marks or {})]
    marks = static.marks if not unlike else {**(static.marks or {}), **dict.fromkeys(unlike, True)}
    _set(node, "_nnx_marks", marks)
    node.__dict__.update(attributes)
    node.__dict__.update(static.attributes)
    return node


def _register(cls: type[Object]) -> None:
    """Make instances of a class pytree nodes, unless it was defined not to be."""
    if cls._nnx_is_pytree:
        register_node(
            NodeDefinition(
                cls,
                _flatten,
                lambda static, children: _unflatten(cls, static, children),
                _flatten_with_keys,
                serialized_name=serialized_name(cls),
            )
        )


def _register_all(cls: type[Object]) -> None:
    _register(cls)
    for subclass in cls.__subclasses__():
        _register_all(subclass)


_register_all(Object)
on_definition.append(_register)
