"""Flattening with everything: ``is_leaf``, paths, any depth, cycles and errors that say where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.errors import TreeError
from bindax_core.tree._keys import position
from bindax_core.tree._node_definition import NodeDefinition, flatten_node_at, short, type_name
from bindax_core.tree._paths import Link, unlink
from bindax_core.tree._registry import find_definition
from bindax_core.tree._treedef import LEAF, PyTreeDef, node_of

_MAX_DEPTH = 1_000_000
"""A flatten function that makes a new node each time would otherwise run until memory is full."""


class _Frame:
    """A node whose children are being flattened."""

    def __init__(self, node: Any, definition: NodeDefinition, link: Link, with_keys: bool) -> None:
        # Holding the node keeps its identity from being given to another object meanwhile.
        self.node = node
        self.definition = definition
        self.link = link
        self.structures: list[PyTreeDef] = []
        children, keys, self.data, self.order = flatten_node_at(definition, node, link, with_keys)
        self.children = zip(keys, children, strict=True)

    def structure(self) -> PyTreeDef:
        return node_of(self.definition, self.data, self.order, tuple(self.structures))


def flatten_with_path(
    tree: Any,
    is_leaf: Callable[..., bool] | None = None,
    *,
    is_leaf_takes_path: bool = False,
    with_keys: bool = False,
) -> tuple[list[Any], list[Link], PyTreeDef]:
    """Flatten a pytree without recursion, to leaves, their paths and the structure.

    ``with_keys`` uses the keys that the functions of node types give to their children.
    """
    if is_leaf is not None and not callable(is_leaf):
        raise TypeError(
            f"is_leaf must be a function from a node to a bool, got {short(is_leaf)} of type "
            f"{type(is_leaf).__name__}."
        )
    leaves: list[Any] = []
    links: list[Link] = []

    def enter(value: Any, link: Link) -> _Frame | None:
        """Begin with a node; None for a leaf."""
        given = (unlink(link), value) if is_leaf_takes_path else (value,)
        stop = is_leaf is not None and is_leaf(*given)
        definition = None if stop else find_definition(type(value))
        if definition is None:
            leaves.append(value)
            links.append(link)
            return None
        return _Frame(value, definition, link, with_keys)

    first = enter(tree, None)
    return leaves, links, LEAF if first is None else _run(first, enter)


def _run(first: _Frame, enter: Callable[[Any, Link], _Frame | None]) -> PyTreeDef:
    stack = [first]
    active: dict[int, _Frame] = {id(first.node): first}
    while True:
        frame = stack[-1]
        for key, child in frame.children:
            below = enter(child, (frame.link, key))
            if below is None:
                frame.structures.append(LEAF)
                continue
            if id(child) in active:
                raise _cycle(active[id(child)], below)
            if len(stack) >= _MAX_DEPTH:
                raise _too_deep(below)
            active[id(child)] = below
            stack.append(below)
            break
        else:
            stack.pop()
            del active[id(frame.node)]
            if not stack:
                return frame.structure()
            stack[-1].structures.append(frame.structure())


def _cycle(outer: _Frame, inner: _Frame) -> TreeError:
    return TreeError(
        f"The pytree contains itself: the {type_name(inner.definition.type)} "
        f"{position(unlink(inner.link))} is the same object as the one "
        f"{position(unlink(outer.link))} that it is part of. Pytrees cannot have reference cycles; "
        f"remove the inner reference, or stop there with is_leaf."
    )


def _too_deep(frame: _Frame) -> TreeError:
    return TreeError(
        f"The pytree is more than {_MAX_DEPTH} levels deep; the node of type "
        f"{type_name(frame.definition.type)} {position(unlink(frame.link))} is below all of them. "
        f"A flatten function that returns a new node of its own type each time never ends."
    )
