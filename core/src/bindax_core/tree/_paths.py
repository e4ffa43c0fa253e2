"""Paths that follow from a tree definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindax_core.tree._keys import KeyEntry, KeyPath

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

Link = tuple["Link", KeyEntry] | None
"""A path as a linked list from its end, so that a deep tree's paths share their beginnings."""


def unlink(link: Link) -> KeyPath:
    """The path that a linked list stands for.

    >>> unlink(((None, "a"), "b"))
    ('a', 'b')
    """
    keys = []
    while link is not None:
        link, key = link
        keys.append(key)
    keys.reverse()
    return tuple(keys)


def path_of_node(root: PyTreeDef, target: PyTreeDef) -> KeyPath:
    """The path of the first occurrence of a node in a structure; empty if it is not there."""
    stack: list[tuple[PyTreeDef, Link]] = [(root, None)]
    while stack:
        node, link = stack.pop()
        if node is target:
            return unlink(link)
        stack.extend(reversed(children_with_links(node, link)))
    return ()


def children_with_links(node: PyTreeDef, link: Link) -> list[tuple[PyTreeDef, Link]]:
    """The children of a node, each with its path."""
    definition = node._definition
    if definition is None:
        return []
    keys = definition.child_keys(node._data, len(node._children))
    return [(child, (link, key)) for child, key in zip(node._children, keys, strict=True)]


def leaf_paths(root: PyTreeDef) -> list[KeyPath]:
    """The paths of all leaves, in the order of flattening."""
    result: list[KeyPath] = []
    stack: list[tuple[PyTreeDef, Link]] = [(root, None)]
    while stack:
        node, link = stack.pop()
        if node._definition is None:
            result.append(unlink(link))
        stack.extend(reversed(children_with_links(node, link)))
    return result
