"""Containers of arguments and results in files.

The built-in ones are written as such, those that were given a name with that, and other nodes as
the text that structures have, if what they hold besides children has a written form.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import attrs

from bindax_core.errors import TreeError
from bindax_core.extend import PyTreeDef, tree_structure
from bindax_core.tree_util import is_registered
from bindax_export._errors import ContainerKeyError, ExportError, FormatError
from bindax_export._flatbuffers import Number, Reader

T = TypeVar("T")

_LEAF, _NONE, _TUPLE, _LIST, _DICT, _CUSTOM = range(6)
_TEXT = "bindax.treedef"
"""The name of nodes that are written as the text of a structure."""

_KINDS = {None: _LEAF, type(None): _NONE, tuple: _TUPLE, list: _LIST, dict: _DICT}


@attrs.frozen
class _Form:
    """The form of a container type in files."""

    type: type
    name: str
    write: Callable[[Any], bytes | bytearray]
    read: Callable[[bytes], Any]
    build: Callable[[Any, Sequence[Any]], Any]


_by_type: dict[type, _Form] = {}
_by_name: dict[str, _Form] = {}


def register_pytree_node_serialization(
    nodetype: type[T],
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes | bytearray],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> type[T]:
    """Give a container type a name in files, so that programs with it can be serialized.

    Args:
        nodetype: the type, which is registered as a pytree node.
        serialized_name: its name in files, the same wherever they are read.
        serialize_auxdata: bytes for what the node holds besides its children.
        deserialize_auxdata: the opposite.
        from_children: makes a node of that and its children; the one that the node was registered
            with when omitted.

    Returns:
        The type.

    Raises:
        ValueError: when the type or the name is registered already; when the type is no node and
            nothing makes one.

    >>> from bindax_core.tree_util import register_pytree_node_class
    >>> @register_pytree_node_class
    ... class Box:
    ...     def tree_flatten(self):
    ...         return (), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children):
    ...         return cls()
    >>> Box is register_pytree_node_serialization(
    ...     Box,
    ...     serialized_name="documentation.Box",
    ...     serialize_auxdata=lambda aux: b"",
    ...     deserialize_auxdata=lambda data: None,
    ... )
    True
    """
    if nodetype in _by_type:
        raise ValueError(
            f"{nodetype.__qualname__} is already serialized as {_by_type[nodetype].name!r}."
        )
    if serialized_name in _by_name:
        raise ValueError(
            f"the name {serialized_name!r} already stands for "
            f"{_by_name[serialized_name].type.__qualname__}; choose another."
        )
    if from_children is None and not is_registered(nodetype):
        raise ValueError(
            f"{nodetype.__qualname__} is no pytree node; register it by register_pytree_node "
            f"before, or give from_children."
        )
    build = from_children or partial(_unflattened, nodetype)
    form = _Form(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, build)
    _by_type[nodetype] = _by_name[serialized_name] = form
    return nodetype


def register_namedtuple_serialization(nodetype: type[T], *, serialized_name: str) -> type[T]:
    """Give a named tuple type a name in files.

    Args:
        nodetype: the type.
        serialized_name: its name in files, the same wherever they are read.

    Returns:
        The type.

    Raises:
        ValueError: when it is no named tuple, or the type or the name is registered already.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: float
    >>> register_namedtuple_serialization(Point, serialized_name="documentation.Point") is Point
    True
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(f"{nodetype!r} is no named tuple; use register_pytree_node_serialization.")
    fields: Any = nodetype

    def build(names: Any, children: Sequence[Any]) -> Any:
        given = dict(zip(names, children, strict=True))
        try:
            return fields(**given)
        except TypeError as error:
            raise FormatError(
                f"its {serialized_name} has the fields {list(given)}, but "
                f"{nodetype.__qualname__} has {list(fields._fields)}"
            ) from error

    return register_pytree_node_serialization(
        nodetype,
        serialized_name=serialized_name,
        serialize_auxdata=lambda _: _names_to_bytes(fields._fields),
        deserialize_auxdata=json.loads,
        from_children=build,
    )


def _names_to_bytes(names: Sequence[Any]) -> bytes:
    if not all(isinstance(name, str) for name in names):
        raise ExportError(f"only keys that are strings can be serialized, but got {list(names)}.")
    return json.dumps(list(names)).encode()


def _unflattened(nodetype: type, data: Any, children: Sequence[Any]) -> Any:
    return _node((nodetype, data), len(children)).unflatten(children)


def _node(data: Any, count: int) -> PyTreeDef:
    """The structure of one node around leaves."""
    return PyTreeDef.from_node_data_and_children(data, [tree_structure(0)] * count)


register_pytree_node_serialization(
    OrderedDict,
    serialized_name="collections.OrderedDict",
    serialize_auxdata=_names_to_bytes,
    deserialize_auxdata=lambda data: tuple(json.loads(data)),
)


def container_table(tree: PyTreeDef) -> dict[int, Any]:
    """The table of a structure, or an error for a container that has no form in files."""
    of: Any
    of, data = tree.node_data() or (None, ())
    children = tree.children()
    table: dict[int, Any] = {1: [container_table(child) for child in children]} if children else {}
    kind = _KINDS.get(of, _CUSTOM)
    if kind == _DICT:
        for key in data:
            if not isinstance(key, str):
                raise ContainerKeyError(
                    f"Serialization is supported only for dictionaries with string keys, but one "
                    f"has the key {key!r}."
                )
        if children:
            table[2] = list(data)
    elif kind == _CUSTOM:
        table[3], table[4] = _named_node(of, data, len(children))
    return {0: Number("b", kind), **table}


def _named_node(of: type, data: Any, count: int) -> tuple[str, bytes | bytearray]:
    """The name and the bytes of a node that is not built in."""
    form = _by_type.get(of)
    if form is not None:
        written = form.write(data)
        if not isinstance(written, bytes | bytearray):
            raise ExportError(
                f"serialize_auxdata of {of.__qualname__} gave {written!r:.60}, not bytes."
            )
        return form.name, written
    reason = ""
    if not issubclass(of, tuple):
        try:
            return _TEXT, _node((of, data), count).serialize().encode()
        except TreeError as error:
            reason = f" ({error})"
    raise ExportError(
        f"arguments or results with a {of.__qualname__} cannot be serialized: give the type a name "
        f"in files, with register_pytree_node_serialization or register_namedtuple_serialization."
        f"{reason}"
    )


def read_container(reader: Reader | None, leaves: Sequence[Any]) -> PyTreeDef:
    """The structure of a table; its nodes are built around the leaves."""
    if reader is None:
        raise FormatError("it lacks the structure of its arguments or results")
    remaining = iter(leaves)
    try:
        built = _build(reader, remaining)
    except (StopIteration, RecursionError):
        raise FormatError("its containers do not fit its arguments or results") from None
    if next(remaining, None) is not None:
        raise FormatError("its containers do not fit its arguments or results")
    return tree_structure(built)


def _build(reader: Reader, leaves: Iterator[Any]) -> Any:
    kind = reader.number(0, "b")
    if kind == _LEAF:
        return next(leaves)
    children = [_build(child, leaves) for child in reader.tables(1)]
    if kind == _NONE:
        return None
    if kind == _TUPLE:
        return tuple(children)
    if kind == _LIST:
        return children
    if kind == _DICT:
        names = reader.texts(2)
        if len(names) != len(children):
            raise FormatError("a dict in it has not as many keys as values")
        return dict(zip(names, children, strict=True))
    if kind == _CUSTOM and reader.text(3) == _TEXT:
        return _node_of_text(reader.raw(4), children)
    form = _by_name.get(reader.text(3)) if kind == _CUSTOM else None
    if form is None:
        raise ExportError(
            f"the program has arguments or results in a container that the file calls "
            f"{reader.text(3)!r}, a name that no type has here. Register the type first, with "
            f"register_pytree_node_serialization or register_namedtuple_serialization."
        )
    return form.build(form.read(reader.raw(4)), children)


def _node_of_text(text: bytes, children: Sequence[Any]) -> Any:
    try:
        node = PyTreeDef.deserialize(text.decode())
    except UnicodeDecodeError:
        raise FormatError("a container in it is no text") from None
    except TreeError as error:
        raise ExportError(
            f"the program has arguments or results in a container that cannot be read here: {error}"
        ) from error
    if node.num_leaves != len(children):
        raise FormatError("a container in it has another number of parts than its text says")
    return node.unflatten(children)
