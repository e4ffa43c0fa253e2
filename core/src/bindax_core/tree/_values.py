"""Plain Python values as JSON: the keys and the metadata in serialized tree definitions."""

from __future__ import annotations

import math
from typing import Any

from bindax_core.errors import TreeError
from bindax_core.tree._definition import short, type_name

_MAX_DEPTH = 100
"""Metadata nested deeper than this is damage."""

_NAMED_TYPES = {
    kind.__name__: kind
    for kind in (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, object)
}
_PLAIN = (type(None), bool, int, str)


def encode(value: Any, depth: int = 0) -> Any:
    """Turn a value of a plain type into what ``json`` writes without loss.

    >>> encode((1, "a", 2.5, b"x"))
    {'tuple': [1, 'a', {'float': '0x1.4000000000000p+1'}, {'bytes': '78'}]}
    """
    if depth > _MAX_DEPTH:
        raise TreeError(f"a value is nested more than {_MAX_DEPTH} levels deep")
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return {"float": value.hex() if math.isfinite(value) else repr(value)}
    if kind is complex:
        return {"complex": [encode(value.real), encode(value.imag)]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is list or kind is tuple:
        return {kind.__name__: [encode(x, depth + 1) for x in value]}
    if kind is frozenset:
        # Sorted by what is written, so that the text does not depend on the hash seed.
        return {"frozenset": sorted((encode(x, depth + 1) for x in value), key=repr)}
    if kind is dict:
        pairs = [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()]
        return {"dict": pairs}
    if kind is slice:
        return {"slice": [encode(x, depth + 1) for x in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": None}
    if isinstance(value, type) and value in _NAMED_TYPES.values():
        return {"type": value.__name__}
    return _encode_dtype(value)


def _encode_dtype(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.dtype) and value.names is None and np.dtype(value.name) == value:
        return {"dtype": value.name}
    raise TreeError(f"{short(value)} of type {type_name(type(value))} has no stable written form")


def decode(value: Any, depth: int = 0) -> Any:
    """The inverse of ``encode``; whatever it could not have written is refused.

    >>> decode({"tuple": [1, {"float": "0x1.8p+0"}]})
    (1, 1.5)
    """
    if depth > _MAX_DEPTH:
        raise TreeError(f"a value is nested more than {_MAX_DEPTH} levels deep")
    if type(value) in _PLAIN:
        return value
    if type(value) is not dict or len(value) != 1:
        raise TreeError(f"{short(value)} is not an encoded value")
    ((tag, content),) = value.items()
    try:
        if tag in _SEQUENCES or tag in ("dict", "slice", "complex"):
            return _decode_container(tag, content, depth)
        if tag == "ellipsis" and content is None:
            return Ellipsis
        if type(content) is not str:
            raise TreeError(f"{short(value)} is not an encoded value")
        return _decode_atom(tag, content)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, TreeError):
            raise
        raise TreeError(f"{short(value)} is not an encoded value ({error})") from error


_SEQUENCES = {"list": list, "tuple": tuple, "frozenset": frozenset}


def _decode_container(tag: str, content: Any, depth: int) -> Any:
    if type(content) is not list:
        raise TreeError(f"{short(content)} is not the content of a {tag}")
    if tag == "dict":
        if not all(type(pair) is list and len(pair) == 2 for pair in content):
            raise TreeError(f"{short(content)} is not the content of a dict")
        return {decode(k, depth + 1): decode(v, depth + 1) for k, v in content}
    values = [decode(x, depth + 1) for x in content]
    if tag == "slice":
        if len(values) != 3:
            raise TreeError(f"a slice has 3 parts, got {len(values)}")
        return slice(*values)
    if tag == "complex":
        if len(values) != 2 or any(type(x) is not float for x in values):
            raise TreeError(f"a complex number has two parts, got {short(values)}")
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
        import numpy as np

        result = np.dtype(content)
        if result.name != content:
            raise TreeError(f"{content!r} is not the name of a dtype")
        return result
    raise TreeError(f"{tag!r} is not a kind of value")
