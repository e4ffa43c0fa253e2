"""Prefixes: trees that say something about the subtrees of another tree, such as ``in_axes``."""

from __future__ import annotations

from itertools import chain
from typing import Any

from bindax_core.errors import TreeError
from bindax_core.tree._compare import same_metadata
from bindax_core.tree._flatten import IsLeaf, tree_flatten, tree_structure
from bindax_core.tree._keys import KeyEntry, position
from bindax_core.tree._node_definition import flatten_node_at, short, type_name
from bindax_core.tree._paths import Link, unlink
from bindax_core.tree._registry import find_definition
from bindax_core.tree._treedef import PyTreeDef


def flatten_prefix(
    prefix_tree: Any, full_tree: Any, what: str = "in_axes", *, full_name: str = "the full tree"
) -> list[Any]:
    """For each leaf of a tree, the leaf of a prefix tree that stands above it.

    ``None`` in the prefix is a leaf (as in ``in_axes``), and so is whatever is not a node type.

    Args:
        prefix_tree: a pytree that has a leaf where the full tree may have a subtree.
        full_tree: the full pytree, or its ``PyTreeDef``.
        what: the name of the prefix argument, for the error message.
        full_name: what the full tree is called in the error message.

    Raises:
        TreeError: the trees part; the message names the path and both sides there.

    >>> flatten_prefix((None, 0), (1.0, {"k1": 2.0, "k2": 3.0}))
    [None, 0, 0]
    """
    structure = full_tree if isinstance(full_tree, PyTreeDef) else tree_structure(full_tree)
    result: list[Any] = []
    stack: list[tuple[Any, PyTreeDef, Link]] = [(prefix_tree, structure, None)]
    while stack:
        prefix, node, link = stack.pop()
        if prefix is None or find_definition(type(prefix)) is None:
            result.extend([prefix] * node.num_leaves)
            continue
        found = _matched(prefix, node, link, full_name)
        if isinstance(found, str):
            raise TreeError(
                f"{what} is not a tree prefix of {full_name}: {position(unlink(link), what)}, "
                f"{what} has a {found}"
            )
        below = zip(found, node._children, strict=True)
        stack.extend(reversed([(part, child, (link, key)) for (part, key), child in below]))
    return result


def _matched(
    prefix: Any, node: PyTreeDef, link: Link, full_name: str
) -> list[tuple[Any, KeyEntry]] | str:
    """The children of a node, with keys, in the order of a structure's; or in what they differ."""
    full, kind = node._definition, type(prefix)
    if full is None or full.type is not kind:
        theirs = "a leaf" if full is None else f"a node of type {type_name(full.type)}"
        return (
            f"node of type {type_name(kind)} ({short(prefix)}), but {full_name} has {theirs} "
            f"there. Use a single leaf for the whole subtree, or the same container."
        )
    children, keys, data, _ = flatten_node_at(full, prefix, link)
    pairs = list(zip(children, keys, strict=True))
    names, full_names = full.mapping_keys(data), full.mapping_keys(node._data)
    if names is not None:
        by_name = dict(zip(names, pairs, strict=True))
        if by_name.keys() == set(full_names):
            return [by_name[name] for name in full_names]
        return (
            f"{type_name(kind)} with the keys {list(names)}, but {full_name} has one with the keys "
            f"{list(full_names)}."
        )
    if len(pairs) != len(node._children):
        return (
            f"{type_name(kind)} of length {len(pairs)} ({short(prefix)}), but {full_name} has one "
            f"of length {len(node._children)} ({short(node)})."
        )
    if full.kind == "custom" and not same_metadata(node, node._data, data, node):
        return (
            f"{type_name(kind)} with metadata {short(data)}, but {full_name} has one with metadata "
            f"{short(node._data)}."
        )
    return pairs


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Copy each leaf of a prefix tree to all leaves of the full tree below it.

    Args:
        prefix_tree: a pytree that is a prefix of the full tree.
        full_tree: the tree whose structure the result has.
        is_leaf: which nodes of either tree to take for leaves.

    Raises:
        TreeError: the first is not a prefix of the second; the message names the path.

    >>> tree_broadcast((1, 2), ([3, 4], {"a": 5}))
    ([1, 1], {'a': 2})
    """
    flat, prefix = tree_flatten(prefix_tree, is_leaf)
    try:
        parts = prefix.flatten_up_to(full_tree)
    except TreeError as error:
        raise TreeError(f"The prefix tree is no prefix of the full tree: {error}") from error
    copies = [
        [leaf] * tree_structure(part, is_leaf).num_leaves
        for leaf, part in zip(flat, parts, strict=True)
    ]
    return tree_structure(full_tree, is_leaf).unflatten(chain.from_iterable(copies))
