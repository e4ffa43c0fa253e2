"""The printed form of tree definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef


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
    kind, name = definition._kind, definition.type.__name__
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
    pieces: list[PyTreeDef | str] = []
    for child in children:
        pieces += [", ", child]
    return pieces[1:]
