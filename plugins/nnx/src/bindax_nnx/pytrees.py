"""Objects as pytrees: attributes that are data are children, the others are structure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Array, NodeDefinition, PyTreeDef
from bindax_core.tree_util import GetAttrKey, SequenceKey, is_tree_node, register_node
from bindax_nnx._mutation_counter import current_trace
from bindax_nnx._tokens import serialized_name
from bindax_nnx.graph import path_key, static_token, traverse
from bindax_nnx.object import Object, has_data, is_data, new_object, on_definition
from bindax_nnx.variables import Variable

_set = object.__setattr__


class _Static:
    """The static part of an object: marks, the names of what is data, and what is not.

    Attributes:
        marks: which attributes were said to be data, or static.
        names: the names of the children.
        attributes: the other attributes.
        is_lasting: whether this stays so until an attribute is assigned to.
        __bindax_structures__: the structures of objects with this, which core finds again here.
    """

    __slots__ = (
        "__bindax_structures__",
        "_hash",
        "_tokens",
        "attributes",
        "is_lasting",
        "marks",
        "names",
    )

    def __init__(
        self, marks: Any, names: tuple[str, ...], attributes: dict[str, Any], is_lasting: bool
    ) -> None:
        self.marks = marks
        self.names = names
        self.attributes = attributes
        tokens = [(name, _tokens(value)) for name, value in attributes.items()]
        self._tokens = (names, tuple(tokens))
        self._hash: int | None = None
        self.is_lasting = is_lasting
        self.__bindax_structures__: dict[Any, PyTreeDef] = {}

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Static) and self._tokens == other._tokens)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._tokens)
        return self._hash

    def __reduce__(self) -> Any:
        return _Static, (self.marks, self.names, self.attributes, self.is_lasting)

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
        mark = is_data(value) or (is_tree_node(type(value)) and _holds_data(value))
    return mark


def _holds_data(value: Any) -> bool:
    """Tell whether a container holds data, which most show by their first items."""
    kind = type(value)
    items = value.values() if kind is dict else value if kind in (list, tuple) else ()
    return any(map(is_data, items)) or bool(has_data(value))


def _is_lasting(name: str, value: Any, marks: dict[str, bool]) -> bool:
    """Tell whether an attribute stays data, or the static value it is, until it is assigned to."""
    kind = type(value)
    if value is None or marks.get(name) or kind is Array or issubclass(kind, Object | Variable):
        return True
    if kind is tuple:
        return not any(is_tree_node(type(x)) for x in value)
    return not is_tree_node(kind)


def _flatten(node: Object) -> tuple[list[Any], _Static]:
    attributes = node.__dict__
    known = node._nnx_parts
    if known is not None and known[0] is node._nnx_mark and known[1].is_lasting:
        static: _Static = known[1]
        return [attributes[name] for name in static.names], static
    marks = node._nnx_marks or {}
    children, names, rest = [], [], {}
    for name in node._nnx_token()[1]:
        value = attributes[name]
        if _is_child(name, value, marks):
            names.append(name)
            children.append(value)
        else:
            rest[name] = value
    is_lasting = all(_is_lasting(name, value, marks) for name, value in attributes.items())
    static = _Static(node._nnx_marks, tuple(names), rest, is_lasting)
    if known is not None and known[1] == static and known[1].marks is static.marks:
        static = known[1]  # whose structures are known
    _set(node, "_nnx_parts", (node._nnx_mark, static))
    return children, static


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
    if not unlike:
        _set(node, "_nnx_parts", (None, static))
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
