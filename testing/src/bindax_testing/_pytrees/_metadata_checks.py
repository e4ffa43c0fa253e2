"""Checks of metadata and of keys."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from bindax_core import Array
from bindax_core.extend import Tracer
from bindax_core.tree_util import (
    DictKey,
    GetAttrKey,
    SequenceKey,
    flatten_one_level_with_keys,
    tree_flatten,
    tree_flatten_with_path,
)
from bindax_testing._compare import Mismatch, NotApplicable
from bindax_testing._pytrees._nodes import (
    Node,
    by_identity,
    described,
    parts_of,
    qualified,
    same_leaves,
    shown,
)

_WHY = "Metadata is part of the structure, which transformations compare and use as a cache key."


def check_flatten(node: Node) -> None:
    """Flattening gives the same children each time, and none of them is made for the purpose."""
    if node.error is not None:
        raise Mismatch(f"flatten raised {described(node.error)}. It has to accept every instance.")
    children, _ = node.flattened()
    if len(children) != len(node.children):
        raise Mismatch(
            f"flatten returned {len(node.children)} children, and {len(children)} the next time. "
            f"It must not change the instance; a generator can be read only once."
        )


def check_metadata(node: Node) -> None:
    """Metadata has ``==`` and ``hash``, and is the same each time."""
    for expression, part in parts_of(node.metadata, "metadata"):
        if isinstance(part, np.ndarray | Array | Tracer):
            raise Mismatch(
                f"{expression} is an array ({qualified(type(part))}). {_WHY} Arrays can be neither "
                f"compared nor hashed as a whole: flatten it as a child, or keep a tuple of "
                f"numbers."
            )
    try:
        first = hash(node.metadata)
    except Exception as error:
        expression, part = _innermost_unhashable(node.metadata)
        raise Mismatch(
            f"{expression}, {shown(part)} of type {qualified(type(part))}, cannot be hashed "
            f"({described(error)}). {_WHY} Use hashable values: a tuple instead of a list, "
            f"sorted pairs instead of a dict."
        ) from error
    again = node.flattened()[1]
    if not _equal(node.metadata, again, "metadata"):
        raise Mismatch(
            f"Two flattenings of one instance give metadata that is not equal: "
            f"{shown(node.metadata)} and {shown(again)}. {_WHY} Give its type an __eq__ and a "
            f"__hash__ by content."
        )
    if hash(again) != first:
        raise Mismatch(
            f"Two flattenings of one instance give equal metadata with different hashes: "
            f"{shown(node.metadata)}. {_WHY} Its __hash__ must follow from what __eq__ compares."
        )


def check_metadata_content(node: Node) -> None:
    """A copy of the metadata is equal to it, so that it is compared by content."""
    try:
        copied = copy.deepcopy(node.metadata)
    except Exception as error:
        raise NotApplicable(f"the metadata cannot be copied ({described(error)})") from error
    if _equal(node.metadata, copied, "metadata") and hash(node.metadata) == hash(copied):
        return
    expression, part = "metadata", node.metadata
    ours, theirs = parts_of(node.metadata, "metadata"), parts_of(copied, "metadata")
    for (name, original), (_, other) in zip(ours, theirs, strict=False):
        if original != other or hash(original) != hash(other):
            expression, part = name, original  # the innermost one is the last
    kind = type(part)
    what = "is compared" if by_identity(kind) else "is hashed"
    raise Mismatch(
        f"{expression}, {shown(part)} of type {qualified(kind)}, {what} by identity: a copy with "
        f"the same content is another key. {_WHY} Each new instance would be traced and compiled "
        f"again, and trees that look alike would not match. Give the type an __eq__ and a __hash__ "
        f"by content."
    )


def _equal(x: Any, y: Any, expression: str) -> bool:
    try:
        result = x == y
    except Exception as error:
        raise Mismatch(
            f"{expression}, {shown(x)}, cannot be compared ({described(error)}). {_WHY}"
        ) from error
    if isinstance(result, bool | np.bool_):
        return bool(result)
    raise Mismatch(
        f"{expression}, {shown(x)} of type {qualified(type(x))}, has an == that returns "
        f"{qualified(type(result))} instead of a bool. {_WHY} Arrays are flattened as children."
    )


def _innermost_unhashable(metadata: Any) -> tuple[str, Any]:
    found = "metadata", metadata
    for expression, part in parts_of(metadata, "metadata"):
        try:
            hash(part)
        except Exception:
            found = expression, part
    return found


# -------------------------------------------------------------------------------------- keys


def check_keys(node: Node) -> None:
    """There is one key for each child, and following it leads there."""
    try:
        pairs, metadata = flatten_one_level_with_keys(node.value)
        pairs = tuple(pairs)
    except Exception as error:
        raise Mismatch(f"flatten_with_keys raised {described(error)}.") from error
    keys = [key for key, _ in pairs]
    if len(pairs) != len(node.children):
        raise Mismatch(
            f"flatten_with_keys returned {len(pairs)} children, and flatten {len(node.children)}. "
            f"Both have to return the same ones."
        )
    for (key, ours), theirs in zip(pairs, node.children, strict=True):
        if not _same(ours, theirs):
            raise Mismatch(
                f"flatten_with_keys returned {shown(ours)} for the key {key}, where flatten "
                f"returned {shown(theirs)}. Both have to return the same children in the same "
                f"order."
            )
    if not _equal(metadata, node.metadata, "the metadata of flatten_with_keys"):
        raise Mismatch(
            f"flatten_with_keys returned the metadata {shown(metadata)}, and flatten "
            f"{shown(node.metadata)}. Both have to return the same."
        )
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise Mismatch(f"The key {twice[0]} is there more than once. Paths have to be unique.")
    for key, child in pairs:
        _check_key_leads_to(node, key, child, pairs)


def _check_key_leads_to(node: Node, key: Any, child: Any, pairs: tuple[Any, ...]) -> None:
    try:
        if isinstance(key, GetAttrKey):
            found = getattr(node.value, key.name)
        elif isinstance(key, DictKey | SequenceKey):
            found = node.value[key.key if isinstance(key, DictKey) else key.idx]
        else:
            return
    except Exception as error:
        if isinstance(key, GetAttrKey) and isinstance(error, AttributeError):
            raise Mismatch(
                f"The key {key} names an attribute that the instance does not have. Keys have to "
                f"say where the child is, because paths in messages are made of them."
            ) from error
        return  # a name that only looks like a subscript
    if _same(found, child):
        return
    others = [str(other) for other, sibling in pairs if sibling is found and sibling is not child]
    if others or isinstance(key, GetAttrKey):
        instead = f", which is the child that has the key {others[0]}" if others else ""
        raise Mismatch(
            f"The key {key} leads to {shown(found)}{instead}, and not to its child {shown(child)}. "
            f"Keys have to be in the order of the children."
        )


def _same(x: Any, y: Any) -> bool:
    """Tell whether two children are the same, or were made from the same by two calls."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    try:
        if isinstance(x, np.ndarray):
            return bool(np.array_equal(x, y))
        equal = x == y
        return (isinstance(equal, bool) and equal) or same_leaves(x, y)
    except Exception:  # types that cannot be compared are the same only if the objects are
        return False


def check_paths(node: Node) -> None:
    """Flattening a whole tree with paths and without gives the same."""
    leaves, structure = tree_flatten(node.value)
    try:
        with_paths, other = tree_flatten_with_path(node.value)
    except Exception as error:
        raise Mismatch(f"Flattening with paths raised {described(error)}.") from error
    if len(leaves) != len(with_paths):
        raise Mismatch(f"There are {len(leaves)} leaves without paths, and {len(with_paths)} with.")
    for leaf, (path, theirs) in zip(leaves, with_paths, strict=True):
        if not _same(leaf, theirs):
            raise Mismatch(
                f"The leaf with the path {path} is {shown(theirs)}, and {shown(leaf)} when "
                f"flattened without paths."
            )
    if structure != other:
        raise Mismatch(f"The structure is {structure} without paths, and {other} with.")
