"""Building pytrees from a structure and leaves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from bindax_core.tree._compile import MAX_NODES, compile_unflatten
from bindax_core.tree._definition import type_name
from bindax_core.tree._keys import position
from bindax_core.tree._nodes import postorder
from bindax_core.tree._paths import path_of_node

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

_HOT = 40
"""A structure that has been unflattened so often gets a function of its own."""


def unflatten(root: PyTreeDef, leaves: list[Any]) -> Any:
    """Build the pytree of a structure; the number of leaves is right."""
    if root._definition is None:
        return leaves[0]
    root._uses += 1
    if root._uses == _HOT:
        _compile(root)
    try:
        return _build(root, iter(leaves))
    except RecursionError:
        pass
    except Exception as error:
        failure = error
        explain(root, leaves, failure)
        raise
    return _build_deep(root, leaves)


def _compile(root: PyTreeDef) -> None:
    if len(postorder(root)) > MAX_NODES:
        return
    compiled = compile_unflatten(root)

    def build(leaves: list[Any]) -> Any:
        try:
            return compiled(leaves)
        except Exception as error:
            explain(root, leaves, error)
            raise

    root._build = build


def _build(node: PyTreeDef, leaves: Iterator[Any]) -> Any:
    children: list[Any]
    if node._flat:
        children = list(islice(leaves, node.num_leaves))
    else:
        children = [
            next(leaves) if child._definition is None else _build(child, leaves)
            for child in node._children
        ]
    return node._definition._assemble(node, children)  # type: ignore[union-attr]


def _build_deep(root: PyTreeDef, leaves: list[Any]) -> Any:
    """Build without recursion."""
    start = 0
    stack: list[Any] = []
    for node in postorder(root):
        definition = node._definition
        if definition is None:
            stack.append(leaves[start])
            start += 1
            continue
        first = len(stack) - len(node._children)
        children = stack[first:]
        del stack[first:]
        try:
            stack.append(definition._assemble(node, children))
        except Exception as error:
            add_note(root, node, error)
            raise
    return stack[0]


def explain(root: PyTreeDef, leaves: list[Any], error: Exception) -> None:
    """Find the node whose unflatten function raised, and say so in a note of the error.

    The error itself stays what it was, because it is the function's own. To find the node, the tree
    is built once more.
    """
    try:
        _build_deep(root, leaves)
    except Exception as again:
        for note in getattr(again, "__notes__", ()):
            error.add_note(note)


def add_note(root: PyTreeDef, node: PyTreeDef, error: BaseException) -> None:
    """Say in which node an unflatten function raised."""
    definition = node._definition
    name = "?" if definition is None else type_name(definition.type)
    error.add_note(
        f"This was raised by the unflatten function of the pytree node type {name} "
        f"{position(path_of_node(root, node))}. Transformations build nodes with children of any "
        f"type, so that unflatten must not convert or validate them."
    )
