"""Building pytrees from a structure and leaves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from bindax_core._fast_paths import fast_paths
from bindax_core.tree._compile import OFTEN, generate_unflatten
from bindax_core.tree._keys import position
from bindax_core.tree._node_definition import type_name
from bindax_core.tree._paths import fold, path_of_node

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef


def build(root: PyTreeDef, leaves: list[Any]) -> Any:
    """Build the pytree of a structure where no generated function does, from all of its leaves."""
    fast = fast_paths.unflatten
    try:
        if fast is None:
            return _build(root, iter(leaves))
        _note_use(root)
        return fast(root, leaves)
    except Exception:
        pass
    # It succeeds if the tree is deep, and else raises again with a note that says where.
    return _build_deep(root, leaves)


def _note_use(node: PyTreeDef) -> None:
    node._builds += 1
    if node._builds == OFTEN:
        generate_unflatten(node)


def _build(node: PyTreeDef, leaves: Iterator[Any]) -> Any:
    if node._build is not None:
        return node._build(list(islice(leaves, node.num_leaves)))
    _note_use(node)
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
