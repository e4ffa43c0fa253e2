"""Stand-ins: the values that transformations put into containers in place of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bindax_core import Array, ShapedArray
from bindax_core.tree_util import tree_flatten

STAND_INS: dict[str, Callable[[], Any]] = {
    "object()": object,
    "None": lambda: None,
    "a string": lambda: "".join(["stand", "-in"]),
    "a Python number": lambda: float("1e3"),
    "an array type": lambda: ShapedArray((2,), np.dtype("float32")),
}
"""Kinds of values by name, each with a function that makes one."""


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
