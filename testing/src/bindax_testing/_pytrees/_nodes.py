"""A node of an example, taken apart: what the checks of pytree definitions look at."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import attrs

from bindax_core.extend import keystr
from bindax_core.tree_util import (
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    tree_structure,
)

_BUILTIN = (list, tuple, dict, type(None), OrderedDict, defaultdict, deque)


def qualified(kind: type) -> str:
    """The name of a type with its module, unless that is ``builtins``."""
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def shown(value: Any, limit: int = 100) -> str:
    """The ``repr`` of a value, cut to what fits into a message."""
    try:
        text = repr(value)
    except Exception as error:  # a node under test may well have a broken __repr__
        return f"<{qualified(type(value))} whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}..."


def described(error: BaseException) -> str:
    """An exception, for a message."""
    return f"{type(error).__name__}: {error}"


@attrs.frozen(eq=False)
class Node:
    """A node of a registered type, with what ``flatten`` returned or raised."""

    value: Any
    path: tuple[Any, ...]
    children: tuple[Any, ...] = ()
    metadata: Any = None
    error: Exception | None = None  # there are no children then

    @property
    def where(self) -> str:
        """The path as Python writes it."""
        return keystr(self.path)

    @property
    def name(self) -> str:
        """The name of the type."""
        return qualified(type(self.value))

    def flattened(self, value: Any = None) -> tuple[tuple[Any, ...], Any]:
        """Take the node, or another of its type, apart again."""
        children, metadata = flatten_one_level(self.value if value is None else value)
        return tuple(children), metadata

    def places(self) -> int:
        """Count the values that ``filled`` takes: the leaves, and children that are None."""
        return sum(tree_structure(child, is_leaf=_is_none).num_leaves for child in self.children)

    def filled(self, values: Sequence[Any]) -> list[Any]:
        """Children with other leaves; a child that is a container stays one.

        A type may rely on the structure of its children, but not on what their leaves are.
        """
        rest = iter(values)
        children = []
        for child in self.children:
            structure = tree_structure(child, is_leaf=_is_none)
            leaves = list(islice(rest, structure.num_leaves))
            try:
                children.append(structure.unflatten(leaves))
            except Exception:  # the definition of the child is wrong; it is checked on its own
                children.append(leaves[0] if leaves else child)
        return children

    def rebuilt(self, children: Any) -> Any:
        """An instance with other children, put together as transformations do."""
        # One leaf in place of each child: the structure then unflattens one level, through the
        # registered function, and no node below it.
        shallow = tree_structure(self.value, is_leaf=lambda x: x is not self.value)
        return shallow.unflatten(list(children))


def _is_none(value: Any) -> bool:
    return value is None


def nodes_of(example: Any) -> Iterator[Node]:
    """All nodes of an example whose types somebody registered."""
    stack: list[tuple[tuple[Any, ...], Any]] = [((), example)]
    while stack:
        path, value = stack.pop()
        try:
            if not is_tree_node(type(value)):
                continue
            children, metadata = flatten_one_level(value)
            children = tuple(children)
        except Exception as error:
            yield Node(value, path, error=error)
            continue
        kind = type(value)
        if kind not in _BUILTIN and not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            yield Node(value, path, children, metadata)
        stack.extend(reversed(_below(value, path, children)))


def _below(
    value: Any, path: tuple[Any, ...], children: tuple[Any, ...]
) -> list[tuple[tuple[Any, ...], Any]]:
    try:
        pairs, _ = flatten_one_level_with_keys(value)
        return [((*path, key), child) for key, child in pairs]
    except Exception:  # a check of its own reports what is wrong with the keys
        return [(path, child) for child in children]
