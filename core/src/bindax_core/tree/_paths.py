"""Walks over the nodes of a tree definition, the paths of its nodes, and its printed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from bindax_core.tree._keys import KeyEntry, KeyPath

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

Link = tuple["Link", KeyEntry] | None
"""A path as a linked list from its end, so that a deep tree's paths share their beginnings."""


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


def fold(
    root: PyTreeDef, leaves: Iterable[Any], combine: Callable[[PyTreeDef, list[Any]], Any]
) -> Any:
    """Combine the leaves to the result of the root, without recursion.

    ``combine`` is called with each node that is not a leaf and the results of its children.
    """
    values = iter(leaves)
    stack: list[Any] = []
    for node in postorder(root):
        if node._definition is None:
            stack.append(next(values))
            continue
        start = len(stack) - len(node._children)
        children = stack[start:]
        del stack[start:]
        stack.append(combine(node, children))
    return stack[0]


def unlink(link: Link) -> KeyPath:
    """The path that a linked list stands for."""
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
        if node._definition is not None:
            keys = node._definition.child_keys(node._data, len(node._children))
            pairs = zip(node._children, keys, strict=True)
            stack.extend([(child, (link, key)) for child, key in pairs][::-1])
    return ()


def treedef_text(root: PyTreeDef) -> str:
    """A structure in the notation of Python, with ``*`` for leaves.

    The work list holds nodes to print and pieces of text that are ready, so that the depth of the
    tree does not matter.
    """
    result: list[str] = []
    stack: list[PyTreeDef | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            result.append(item)
        elif item._definition is None:
            result.append("*")
        else:
            stack.extend(reversed(_pieces(item)))
    return "".join(result)


def _pieces(node: PyTreeDef) -> list[PyTreeDef | str]:
    definition: Any = node._definition
    kind, name = definition.kind, definition.type.__name__
    children: list[PyTreeDef | str] = list(node._children)
    if kind == "none":
        return ["None"]
    if kind == "list":
        return ["[", *_separated(children), "]"]
    if kind == "tuple":
        return ["(", *_separated(children), ",)" if len(children) == 1 else ")"]
    if kind == "dict":
        pieces: list[PyTreeDef | str] = ["{"]
        for i, (key, child) in enumerate(zip(node._data, children, strict=True)):
            pieces += [f"{', ' if i else ''}{key!r}: ", child]
        return [*pieces, "}"]
    head = f"namedtuple[{name}]" if kind == "namedtuple" else f"{name}[{_data_text(node._data)}]"
    return [f"CustomNode({head}, [", *_separated(children), "])"]


def _data_text(data: Any) -> str:
    # A structure is printed in errors about its metadata, so that printing must not fail.
    try:
        return str(data)
    except Exception as error:
        return f"<{type(data).__name__} whose str raises {type(error).__name__}>"


def _separated(children: list[PyTreeDef | str]) -> list[PyTreeDef | str]:
    return [piece for child in children for piece in (", ", child)][1:]
