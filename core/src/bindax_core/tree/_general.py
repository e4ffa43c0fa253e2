"""Flattening with everything: ``is_leaf``, paths, any depth, cycles and errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bindax_core.errors import BindaxError, TreeError
from bindax_core.tree._definition import NodeDefinition, short, type_name
from bindax_core.tree._expand import expand, expand_with_keys
from bindax_core.tree._keys import position
from bindax_core.tree._paths import Link, unlink
from bindax_core.tree._registry import find_definition
from bindax_core.tree._treedef import LEAF, PyTreeDef, make

_MAX_DEPTH = 1_000_000
"""A flatten function that makes a new node each time would otherwise run until memory is full."""


class _Frame:
    """A node whose children are being flattened."""

    __slots__ = ("before", "children", "data", "definition", "link", "node", "order", "structures")

    children: Iterator[tuple[Any, Any]]

    def __init__(self, node: Any, definition: NodeDefinition, link: Link, before: int) -> None:
        # Holding the node keeps its identity from being given to another object meanwhile.
        self.node = node
        self.definition = definition
        self.link = link
        self.before = before
        self.structures: list[PyTreeDef] = []

    def structure(self, leaves: int) -> PyTreeDef:
        return make(
            self.definition,
            self.data,
            self.order,
            tuple(self.structures),
            leaves - self.before,
            all(structure is LEAF for structure in self.structures),
        )

    def expand(self, with_keys: bool) -> None:
        try:
            if with_keys:
                children, keys, self.data, self.order = expand_with_keys(self.definition, self.node)
            else:
                children, self.data, self.order = expand(self.definition, self.node)
                keys = self.definition.child_keys(self.data, len(children))
        except TreeError as error:
            raise TreeError(f"{error} This happened {position(unlink(self.link))}.") from error
        except BindaxError as error:
            error.add_note(self._where())
            raise
        except Exception as error:
            raise TreeError(f"{self._where()}: {type(error).__name__}: {error}") from error
        self.children = iter(zip(keys, children, strict=True))

    def _where(self) -> str:
        return (
            f"The flatten function of the pytree node type {type_name(self.definition.type)} "
            f"raised {position(unlink(self.link))}"
        )


def flatten_general(
    tree: Any,
    is_leaf: Callable[..., bool] | None = None,
    *,
    is_leaf_takes_path: bool = False,
    with_keys: bool = False,
) -> tuple[list[Any], list[Link], PyTreeDef]:
    """Flatten a pytree without recursion.

    Args:
        tree: the pytree.
        is_leaf: which nodes to take for leaves.
        is_leaf_takes_path: whether ``is_leaf`` is called with the path first.
        with_keys: whether to use the keys that node types give to their children.

    Returns:
        The leaves, their paths as linked lists, and the structure.

    Raises:
        TreeError: a cycle, or a flatten function that raises or returns something else than it
            should; the message names the path and the type.
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
        if is_leaf is None:
            stop = False
        else:
            stop = is_leaf(unlink(link), value) if is_leaf_takes_path else is_leaf(value)
        definition = None if stop else find_definition(type(value))
        if definition is None:
            leaves.append(value)
            links.append(link)
            return None
        return _Frame(value, definition, link, len(leaves))

    first = enter(tree, None)
    if first is None:
        return leaves, links, LEAF
    return leaves, links, _run(first, enter, leaves, with_keys)


def _run(
    first: _Frame,
    enter: Callable[[Any, Link], _Frame | None],
    leaves: list[Any],
    with_keys: bool,
) -> PyTreeDef:
    stack = [first]
    active: dict[int, _Frame] = {id(first.node): first}
    first.expand(with_keys)
    while True:
        frame = stack[-1]
        for key, child in frame.children:
            link = (frame.link, key)
            below = enter(child, link)
            if below is None:
                frame.structures.append(LEAF)
                continue
            if id(child) in active:
                raise _cycle(active[id(child)], child, link)
            if len(stack) >= _MAX_DEPTH:
                raise _too_deep(below)
            below.expand(with_keys)
            active[id(child)] = below
            stack.append(below)
            break
        else:
            stack.pop()
            del active[id(frame.node)]
            structure = frame.structure(len(leaves))
            if not stack:
                return structure
            stack[-1].structures.append(structure)


def _cycle(outer: _Frame, child: Any, link: Link) -> TreeError:
    return TreeError(
        f"The pytree contains itself: the {type_name(type(child))} {position(unlink(link))} is the "
        f"same object as the one {position(unlink(outer.link))} that it is part of. Pytrees cannot "
        f"have reference cycles; remove the inner reference, or stop there with is_leaf."
    )


def _too_deep(frame: _Frame) -> TreeError:
    return TreeError(
        f"The pytree is more than {_MAX_DEPTH} levels deep; the node of type "
        f"{type_name(frame.definition.type)} {position(unlink(frame.link))} is below all of them. "
        f"A flatten function that returns a new node of its own type each time never ends."
    )
