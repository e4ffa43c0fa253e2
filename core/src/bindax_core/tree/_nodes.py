"""Walks over the nodes of a tree definition, and the identity of their definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bindax_core.tree._definition import NodeDefinition
    from bindax_core.tree._treedef import PyTreeDef


def postorder(root: PyTreeDef) -> tuple[PyTreeDef, ...]:
    """All nodes, each after its children, as a list that is made once per structure."""
    known = root._postorder
    if known is not None:
        return known
    result: list[PyTreeDef] = []
    stack = [root]
    while stack:
        node = stack.pop()
        result.append(node)
        stack.extend(node._children)
    result.reverse()
    root._postorder = nodes = tuple(result)
    return nodes


def same_definition(ours: NodeDefinition | None, theirs: NodeDefinition | None) -> bool:
    """Tell whether two definitions are the same one."""
    if ours is theirs:
        return True
    if ours is None or theirs is None:
        return False
    # Definitions of named tuples are made on demand, and may have been made twice.
    return ours._automatic and theirs._automatic and ours.type is theirs.type
