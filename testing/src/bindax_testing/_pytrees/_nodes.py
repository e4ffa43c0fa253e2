"""A node of an example, taken apart, and values compared: what the checks of pytrees look at."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import attrs
import numpy as np

from bindax_core import Array
from bindax_core.extend import keystr
from bindax_core.tree_util import (
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    tree_flatten,
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


# ---------------------------------------------------------------- parts of values, compared


def parts_of(value: Any, name: str, depth: int = 8) -> Iterator[tuple[str, Any]]:
    """A value and what it holds, each with an expression for it.

    >>> [part for part, _ in parts_of(("a", {1: [2]}), "metadata")]
    ['metadata', 'metadata[0]', 'metadata[1]', 'metadata[1][1]', 'metadata[1][1][0]']
    """
    yield name, value
    if depth == 0:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from parts_of(item, f"{name}[{key!r}]", depth - 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from parts_of(item, f"{name}[{index}]", depth - 1)


def attributes_of(node: Any) -> dict[str, Any]:
    """The attributes that an instance itself has, in its dictionary and in its slots."""
    found = dict(getattr(node, "__dict__", {}))
    for kind in type(node).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{kind.__name__.lstrip('_')}{name}"  # as Python mangles it
            if name in ("__dict__", "__weakref__"):
                continue
            try:
                # Past a __getattr__ of the type, which may not expect an instance like this.
                found[name] = object.__getattribute__(node, name)
            except AttributeError:  # a slot that is not set
                continue
    return found


def fields_of(kind: type) -> set[str]:
    """The names that a dataclass or a class of attrs declares as its fields."""
    names = set(getattr(kind, "__dataclass_fields__", ()))
    return names | {field.name for field in getattr(kind, "__attrs_attrs__", ())}


def alike(x: Any, y: Any, depth: int = 8) -> bool:
    """Tell whether two attributes have equal values; what cannot be compared counts as equal."""
    if x is y or depth == 0:
        return True
    if isinstance(x, np.ndarray | Array) or isinstance(y, np.ndarray | Array):
        return same_values(x, y)
    if isinstance(x, list | tuple) and type(x) is type(y):
        pairs = zip(x, y, strict=False)
        return len(x) == len(y) and all(alike(a, b, depth - 1) for a, b in pairs)
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(alike(x[key], y[key], depth - 1) for key in x)
    if type(x) is type(y) and by_identity(type(x)):
        return True  # such as a child that was put together again
    try:
        equal = x == y
        return not isinstance(equal, bool) or equal or not x == x  # noqa: SIM201  # NaN, as ever
    except Exception:  # a comparison under test may well raise
        return True


def same_leaves(x: Any, y: Any) -> bool:
    """Tell whether two values are containers of one structure that hold the same objects."""
    (ours, structure), (theirs, other) = tree_flatten(x), tree_flatten(y)
    same = structure.num_nodes > 1 and structure == other
    return same and all(a is b for a, b in zip(ours, theirs, strict=True))


def same_values(x: Any, y: Any) -> bool:
    """Tell whether two leaves are equal; leaves without equality need be of one type."""
    if x is y:
        return True
    if isinstance(x, np.ndarray | Array) or isinstance(y, np.ndarray | Array):
        ours, theirs = np.asarray(x), np.asarray(y)
        return ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()
    if type(x) is not type(y):
        return False
    return by_identity(type(x)) or bool(x == y) or x != x


def by_identity(kind: Any) -> bool:
    """Tell whether instances of a type are equal to themselves alone."""
    default: Any = object.__eq__
    return kind.__eq__ is default
