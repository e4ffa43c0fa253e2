"""Tree definitions as text: versioned, with stable names of types, checked on reading.

The text is JSON: the version of the format and the list of the nodes in postorder. A leaf is
``"*"``; another node is ``[name of the type, number of children, metadata, order of insertion]``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from bindax_core.errors import TreeError
from bindax_core.tree._definition import NodeDefinition, short, type_name
from bindax_core.tree._keys import position
from bindax_core.tree._nodes import path_of_node, postorder
from bindax_core.tree._rebuild import Record
from bindax_core.tree._registry import _by_name, find_definition
from bindax_core.tree._values import decode, encode

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

FORMAT = "bindax.treedef"
VERSION = 1
_LEAF = "*"


def serialize(root: PyTreeDef) -> str:
    """Write a structure as text."""
    import json  # most programs write no structure

    nodes = [_write(root, node) for node in postorder(root)]
    document = {"format": FORMAT, "version": VERSION, "nodes": nodes}
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def _write(root: PyTreeDef, node: PyTreeDef) -> Any:
    definition = node._definition
    if definition is None:
        return _LEAF
    name = definition.serialized_name
    try:
        if definition._kind == "namedtuple":
            data = list(definition.type._fields)  # type: ignore[attr-defined]
            name = f"namedtuple {name}"
        else:
            encoded = definition.encode_metadata
            data = encode(node._data if encoded is None else encoded(node._data))
        return [name, len(node._children), data, encode(node._order)]
    except TreeError as error:
        raise TreeError(
            f"The structure cannot be serialized: {position(path_of_node(root, node))}, the keys "
            f"or metadata of a {type_name(definition.type)} cannot be written: {error}. Give "
            f"encode_metadata and decode_metadata to its NodeDefinition."
        ) from error


def read(text: str) -> list[Record]:
    """The nodes of what ``serialize`` wrote."""
    if not isinstance(text, str):
        raise TreeError(
            f"A serialized tree definition is a str, got {short(text)} of type "
            f"{type(text).__name__}."
        )
    import json  # as above

    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise TreeError(f"A serialized tree definition is damaged: {error}.") from error
    if type(document) is not dict or document.get("format") != FORMAT:
        raise TreeError(f"{short(text)} is not a serialized tree definition.")
    if document.get("version") != VERSION or type(document["version"]) is not int:
        raise TreeError(
            f"A serialized tree definition has version {document.get('version')!r} of the format; "
            f"this version of bindax reads version {VERSION}."
        )
    nodes = document.get("nodes")
    if len(document) != 3 or type(nodes) is not list:
        raise TreeError("A serialized tree definition is damaged: it has no list of nodes.")
    return [_read(i, node) for i, node in enumerate(nodes)]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a field is there twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a value")


def _read(index: int, node: Any) -> Record:
    if node == _LEAF:
        return None, None, None, 0
    if type(node) is not list or len(node) != 4 or type(node[0]) is not str:
        raise TreeError(f"A serialized tree definition is damaged: node {index} is {short(node)}.")
    name, count, data, order = node
    try:
        if name.startswith("namedtuple "):
            return _read_namedtuple(name.removeprefix("namedtuple "), data), None, None, count
        definition = _definition(name)
        data, order = decode(data), decode(order)
        if definition.decode_metadata is not None:
            data = definition.decode_metadata(data)
    except TreeError as error:
        raise TreeError(
            f"A serialized tree definition is damaged: node {index}: {error}"
        ) from error
    except Exception as error:  # decode_metadata is foreign code, and the text may be anything
        raise TreeError(
            f"A serialized tree definition is damaged: node {index}: decode_metadata of {name} "
            f"raised {type(error).__name__}: {error}"
        ) from error
    return definition, data, order, count


def _definition(name: str) -> NodeDefinition:
    definition = _by_name.get(name) or _loaded_definition(name)
    if definition is None or definition._kind == "namedtuple":
        raise TreeError(
            f"{short(name)} is not registered as a pytree node type in this process. Import the "
            f"module that registers it first; reading never imports a module by name."
        )
    return definition


def _loaded_definition(name: str) -> NodeDefinition | None:
    """The definition of a class ``module:qualname`` whose module has been imported already."""
    module_name, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module_name)
    for part in qualname.split("."):
        found = vars(found).get(part) if found is not None and hasattr(found, "__dict__") else None
    return find_definition(found) if isinstance(found, type) else None


def _read_namedtuple(name: str, fields: Any) -> NodeDefinition:
    definition = _loaded_definition(name)
    if definition is None or definition._kind != "namedtuple":
        raise TreeError(
            f"{short(name)} is not a named tuple of a module that is imported in this process. "
            f"Import it first; reading never imports a module by name."
        )
    if list(definition.attributes or ()) != fields:
        raise TreeError(
            f"the named tuple {name} has the fields {list(definition.attributes or ())} here, and "
            f"had {short(fields)} where the structure was written."
        )
    return definition
