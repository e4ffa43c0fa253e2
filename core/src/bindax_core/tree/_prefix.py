"""Prefixes: trees that say something about the subtrees of another tree, such as ``in_axes``."""

from __future__ import annotations

from typing import Any

from bindax_core.errors import TreeError
from bindax_core.tree._compare import same_metadata
from bindax_core.tree._definition import NodeDefinition, short, type_name
from bindax_core.tree._flatten import IsLeaf, tree_leaves, tree_structure
from bindax_core.tree._keys import position
from bindax_core.tree._nodes import same_definition
from bindax_core.tree._paths import Link, children_with_links, unlink
from bindax_core.tree._registry import find_definition
from bindax_core.tree._treedef import PyTreeDef
from bindax_core.tree._up_to import expand_at


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

    Returns:
        One leaf of the prefix per leaf of the full tree.

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
        definition = None if prefix is None else find_definition(type(prefix))
        if definition is None:
            result.extend([prefix] * node.num_leaves)
            continue
        stack.extend(reversed(_match(prefix, definition, node, link, (what, full_name))))
    return result


def _match(
    prefix: Any,
    definition: NodeDefinition,
    node: PyTreeDef,
    link: Link,
    names: tuple[str, str],
) -> list[tuple[Any, PyTreeDef, Link]]:
    """Match one node of a prefix with a structure; the pairs of children with their paths."""
    what, full_name = names
    full = node._definition
    name = type_name(definition.type)
    if full is None or full.type is not definition.type:
        theirs = "a leaf" if full is None else f"a node of type {type_name(full.type)}"
        raise _no_prefix(
            names,
            link,
            f"{what} has a node of type {name} ({short(prefix)}), but {full_name} has {theirs} "
            f"there. Use a single leaf for the whole subtree, or the same container.",
        )
    children, data = expand_at(definition, prefix, link)
    kind = definition._kind
    if kind in ("dict", "OrderedDict", "defaultdict"):
        return _match_keys(definition, (children, data), node, link, names)
    if len(children) != len(node._children):
        raise _no_prefix(
            names,
            link,
            f"{what} has a {name} of length {len(children)} ({short(prefix)}), but {full_name} has "
            f"one of length {len(node._children)} ({short(node)}).",
        )
    if kind == "custom" and not same_metadata(node, node._data, data):
        raise _no_prefix(
            names,
            link,
            f"{what} has a {name} with metadata {short(data)}, but {full_name} has one with "
            f"metadata {short(node._data)}.",
        )
    below = children_with_links(node, link)
    return [(part, child, path) for part, (child, path) in zip(children, below, strict=True)]


def _no_prefix(names: tuple[str, str], link: Link, text: str) -> TreeError:
    what, full_name = names
    where = position(unlink(link), what)
    return TreeError(f"{what} is not a tree prefix of {full_name}: {where}, {text}")


def _match_keys(
    definition: NodeDefinition,
    parts: tuple[list[Any], Any],
    node: PyTreeDef,
    link: Link,
    names: tuple[str, str],
) -> list[tuple[Any, PyTreeDef, Link]]:
    children, data = parts
    keys = data[1] if definition._kind == "defaultdict" else data
    full_keys = node._data[1] if definition._kind == "defaultdict" else node._data
    values = dict(zip(keys, children, strict=True))
    if values.keys() != set(full_keys):
        what, full_name = names
        raise _no_prefix(
            names,
            link,
            f"{what} has a {type_name(definition.type)} with the keys {list(keys)}, but "
            f"{full_name} has one with the keys {list(full_keys)}.",
        )
    below = children_with_links(node, link)
    return [(values[key], child, path) for key, (child, path) in zip(full_keys, below, strict=True)]


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
    full = tree_structure(full_tree, is_leaf)
    prefix = tree_structure(prefix_tree, is_leaf)
    leaves = prefix_leaves(prefix_tree, prefix, full, is_leaf)
    return full.unflatten(leaves)


def prefix_leaves(
    prefix_tree: Any, prefix: PyTreeDef, full: PyTreeDef, is_leaf: IsLeaf
) -> list[Any]:
    """One leaf of the prefix per leaf of the full structure."""
    leaves = iter(tree_leaves(prefix_tree, is_leaf))
    result: list[Any] = []
    stack: list[tuple[PyTreeDef, PyTreeDef, Link]] = [(prefix, full, None)]
    while stack:
        ours, theirs, link = stack.pop()
        if ours._definition is None:
            result.extend([next(leaves)] * theirs.num_leaves)
            continue
        _check_prefix(prefix, ours, theirs, link)
        paths = children_with_links(ours, link)
        stack.extend(
            (child, other, path)
            for (child, path), other in zip(
                reversed(paths), reversed(theirs._children), strict=True
            )
        )
    return result


def _check_prefix(root: PyTreeDef, ours: PyTreeDef, theirs: PyTreeDef, link: Link) -> None:
    if (
        same_definition(ours._definition, theirs._definition)
        and len(ours._children) == len(theirs._children)
        and same_metadata(root, ours._data, theirs._data, ours)
    ):
        return
    raise TreeError(
        f"The prefix tree is not a prefix of the full tree: {position(unlink(link))}, the prefix "
        f"has {short(ours)} and the full tree has {short(theirs)}."
    )
