"""Structures of pytrees as text: versioned, with stable names of types, checked on reading.

The text is JSON: the version of the format and the list of the nodes in postorder. A leaf is
``"*"``; another node is ``[name of the type, number of children, metadata, order of insertion]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.errors import TreeError, clause
from bindax_core.extend import (
    NodeDefinition,
    PyTreeDef,
    Record,
    describe_path,
    find_node_definition,
    short_repr,
    type_name,
)

FORMAT = "bindax.treedef"
VERSION = 1
_LEAF = "*"
_MAX_DEPTH = 100
"""Metadata nested deeper than this is damage."""

_NAMED_TYPES = {
    kind.__name__: kind
    for kind in (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, object)
}
_PLAIN = (type(None), bool, int, str)


def write_treedef(structure: PyTreeDef) -> str:
    """Write a structure; see ``treedef_to_text``."""
    import json  # most programs write no structure

    records = structure.records()
    nodes = [_write(records, index) for index in range(len(records))]
    document = {"format": FORMAT, "version": VERSION, "nodes": nodes}
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def _write(records: Sequence[Record], index: int) -> Any:
    definition, data, order, count = records[index]
    if definition is None:
        return _LEAF
    name = definition.serialized_name
    try:
        if definition.kind == "namedtuple":
            written: Any = list(definition.attributes or ())
            name = f"namedtuple {name}"
        else:
            encoded = definition.encode_metadata
            written = _encode(data if encoded is None else encoded(data))
        return [name, count, written, _encode(order)]
    except TreeError as error:
        raise TreeError(
            f"The structure cannot be serialized: {describe_path(_path(records, index))}, the keys "
            f"or metadata of a {type_name(definition.type)} cannot be written: "
            f"{clause(error)}. Give encode_metadata and decode_metadata to its NodeDefinition."
        ) from error


def _path(records: Sequence[Record], index: int) -> list[Any]:
    """The keys from the root to the node of a record."""
    keys: list[Any] = []
    missing = 0  # the siblings after the node, whose records follow its own
    for parent in range(index + 1, len(records)):
        definition, data, _, count = records[parent]
        if missing < count:
            keys.append(definition.child_keys(data, count)[count - 1 - missing])  # type: ignore[union-attr]
            missing = 0
        else:
            missing += 1 - count
    return keys[::-1]


def read_treedef(text: str) -> PyTreeDef:
    """Read a structure; see ``treedef_from_text``."""
    if not isinstance(text, str):
        raise TreeError(
            f"A serialized tree definition is a str, got {short_repr(text)} of type "
            f"{type(text).__name__}."
        )
    import json  # as above

    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise TreeError(f"A serialized tree definition is damaged: {clause(error)}.") from error
    if type(document) is not dict or document.get("format") != FORMAT:
        raise TreeError(f"{short_repr(text)} is not a serialized tree definition.")
    if document.get("version") != VERSION or type(document["version"]) is not int:
        raise TreeError(
            f"A serialized tree definition has version {document.get('version')!r} of the format; "
            f"this version of bindax reads version {VERSION}."
        )
    nodes = document.get("nodes")
    if len(document) != 3 or type(nodes) is not list:
        raise TreeError("A serialized tree definition is damaged: it has no list of nodes.")
    return PyTreeDef.from_records([_read(i, node) for i, node in enumerate(nodes)])


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
        raise TreeError(
            f"A serialized tree definition is damaged: node {index} is {short_repr(node)}."
        )
    name, count, data, order = node
    try:
        if name.startswith("namedtuple "):
            return _read_namedtuple(name.removeprefix("namedtuple "), data), None, None, count
        definition = _definition(name)
        data, order = _decode(data), _decode(order)
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
    definition = find_node_definition(name)
    if definition is None or definition.kind == "namedtuple":
        raise TreeError(
            f"{short_repr(name)} is not registered as a pytree node type in this process. Import "
            f"the module that registers it first; reading never imports a module by name."
        )
    return definition


def _read_namedtuple(name: str, fields: Any) -> NodeDefinition:
    definition = find_node_definition(name)
    if definition is None or definition.kind != "namedtuple":
        raise TreeError(
            f"{short_repr(name)} is not a named tuple of a module that is imported in this "
            f"process. Import it first; reading never imports a module by name."
        )
    if list(definition.attributes or ()) != fields:
        raise TreeError(
            f"the named tuple {name} has the fields {list(definition.attributes or ())} here, and "
            f"had {short_repr(fields)} where the structure was written."
        )
    return definition


# ---------------------------------------------------------------------- keys and metadata as JSON


def _encode(value: Any, depth: int = 0) -> Any:
    """Turn a value of a plain type into what ``json`` writes without loss."""
    if depth > _MAX_DEPTH:
        raise TreeError(f"a value is nested more than {_MAX_DEPTH} levels deep")
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return {"float": value.hex() if math.isfinite(value) else repr(value)}
    if kind is complex:
        return {"complex": [_encode(value.real), _encode(value.imag)]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is list or kind is tuple:
        return {kind.__name__: [_encode(x, depth + 1) for x in value]}
    if kind is frozenset:
        # Sorted by what is written, so that the text does not depend on the hash seed.
        return {"frozenset": sorted((_encode(x, depth + 1) for x in value), key=repr)}
    if kind is dict:
        pairs = [[_encode(k, depth + 1), _encode(v, depth + 1)] for k, v in value.items()]
        return {"dict": pairs}
    if kind is slice:
        return {"slice": [_encode(x, depth + 1) for x in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": None}
    if isinstance(value, type) and value in _NAMED_TYPES.values():
        return {"type": value.__name__}
    if isinstance(value, np.dtype) and value.names is None and np.dtype(value.name) == value:
        return {"dtype": value.name}
    what = f"{short_repr(value)} of type {type_name(type(value))}"
    raise TreeError(f"{what} has no stable written form")


def _decode(value: Any, depth: int = 0) -> Any:
    """The inverse of ``_encode``; whatever it could not have written is refused."""
    if depth > _MAX_DEPTH:
        raise TreeError(f"a value is nested more than {_MAX_DEPTH} levels deep")
    if type(value) in _PLAIN:
        return value
    if type(value) is not dict or len(value) != 1:
        raise TreeError(f"{short_repr(value)} is not an encoded value")
    ((tag, content),) = value.items()
    try:
        if tag in _SEQUENCES or tag in ("dict", "slice", "complex"):
            return _decode_container(tag, content, depth)
        if tag == "ellipsis" and content is None:
            return Ellipsis
        if type(content) is not str:
            raise TreeError(f"{short_repr(value)} is not an encoded value")
        return _decode_atom(tag, content)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, TreeError):
            raise
        raise TreeError(f"{short_repr(value)} is not an encoded value ({error})") from error


_SEQUENCES = {"list": list, "tuple": tuple, "frozenset": frozenset}


def _decode_container(tag: str, content: Any, depth: int) -> Any:
    if type(content) is not list:
        raise TreeError(f"{short_repr(content)} is not the content of a {tag}")
    if tag == "dict":
        if not all(type(pair) is list and len(pair) == 2 for pair in content):
            raise TreeError(f"{short_repr(content)} is not the content of a dict")
        return {_decode(k, depth + 1): _decode(v, depth + 1) for k, v in content}
    values = [_decode(x, depth + 1) for x in content]
    if tag == "slice":
        if len(values) != 3:
            raise TreeError(f"a slice has 3 parts, got {len(values)}")
        return slice(*values)
    if tag == "complex":
        if len(values) != 2 or any(type(x) is not float for x in values):
            raise TreeError(f"a complex number has two parts, got {short_repr(values)}")
        return complex(*values)
    return _SEQUENCES[tag](values)


def _decode_atom(tag: str, content: str) -> Any:
    if tag == "float":
        return float(content) if content in ("nan", "inf", "-inf") else float.fromhex(content)
    if tag == "bytes":
        return bytes.fromhex(content)
    if tag == "type":
        return _NAMED_TYPES[content]
    if tag == "dtype":
        result = np.dtype(content)
        if result.name != content:
            raise TreeError(f"{content!r} is not the name of a dtype")
        return result
    raise TreeError(f"{tag!r} is not a kind of value")
