"""Building pytrees from a structure and leaves."""

from __future__ import annotations

from typing import Any

from bindax_core._tree._definition import NodeDefinition, type_name
from bindax_core._tree._keys import position
from bindax_core._tree._paths import path_of_node
from bindax_core._tree._treedef import PyTreeDef, postorder


def unflatten(root: PyTreeDef, leaves: list[Any]) -> Any:
    """Build the pytree of a structure; the number of leaves is right."""
    start = 0
    stack: list[Any] = []
    for node in postorder(root):
        definition = node._definition
        if definition is None:
            stack.append(leaves[start])
            start += 1
            continue
        count = len(node._children)
        children = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        stack.append(_assemble(root, node, definition, children))
    return stack[0]


def _assemble(
    root: PyTreeDef, node: PyTreeDef, definition: NodeDefinition, children: list[Any]
) -> Any:
    kind = definition._kind
    if kind == "list":
        return children
    if kind == "tuple":
        return tuple(children)
    if kind == "dict":
        made = dict(zip(node._data, children, strict=True))
        return made if node._order is None else {key: made[key] for key in node._order}
    if kind == "custom":
        try:
            return definition.unflatten(node._data, tuple(children))
        except Exception as error:
            add_note(root, node, error)
            raise
    return assemble_plain(node, definition, children)


def assemble_plain(node: PyTreeDef, definition: NodeDefinition, children: list[Any]) -> Any:
    """Put together a node of one of the rarer built-in types."""
    result = definition.unflatten(node._data, children)
    if definition._kind == "defaultdict" and node._order is not None:
        ordered = definition.type(node._data[0])
        for key in node._order:
            ordered[key] = result[key]
        return ordered
    return result


def add_note(root: PyTreeDef, node: PyTreeDef, error: BaseException) -> None:
    """Say in which node an unflatten function raised. The error itself stays what it was."""
    definition = node._definition
    name = "?" if definition is None else type_name(definition.type)
    error.add_note(
        f"This was raised by the unflatten function of the pytree node type {name} "
        f"{position(path_of_node(root, node))}. Transformations build nodes with children of any "
        f"type, so that unflatten must not convert or validate them."
    )
