"""Building pytrees from a structure and leaves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from bindax_core.tree._compile import MAX_NODES, compile_unflatten
from bindax_core.tree._keys import position
from bindax_core.tree._node_definition import type_name
from bindax_core.tree._paths import fold, path_of_node, postorder

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

_HOT = 40
"""A structure that has been unflattened so often gets a function of its own."""


def unflatten(root: PyTreeDef, leaves: list[Any]) -> Any:
    """Build the pytree of a structure; the number of leaves is right."""
    if root._definition is None:
        return leaves[0]
    build = root._build
    if build is None:
        root._uses += 1
        if root._uses == _HOT and len(postorder(root)) <= MAX_NODES:
            root._build = compile_unflatten(root)
    try:
        return _build(root, iter(leaves)) if build is None else build(leaves)
    except RecursionError:
        pass
    except Exception as error:
        _explain(root, leaves, error)
        raise
    return _build_deep(root, leaves)


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
    """Build without recursion; a note of an error says which node's unflatten function raised."""

    def assemble(node: PyTreeDef, children: list[Any]) -> Any:
        definition: Any = node._definition
        try:
            return definition._assemble(node, children)
        except Exception as error:
            error.add_note(
                f"This was raised by the unflatten function of the pytree node type "
                f"{type_name(definition.type)} {position(path_of_node(root, node))}. "
                f"Transformations build nodes with children of any type, so that unflatten must "
                f"not convert or validate them."
            )
            raise

    return fold(root, leaves, assemble)


def _explain(root: PyTreeDef, leaves: list[Any], error: Exception) -> None:
    """Note in which node an error arose, which is found by building the tree once more.

    The error itself stays what it was, because it is the unflatten function's own.
    """
    try:
        _build_deep(root, leaves)
    except Exception as again:
        for note in getattr(again, "__notes__", ()):
            error.add_note(note)
