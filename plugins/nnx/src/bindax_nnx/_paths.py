"""The places of variables and objects in the graph, for messages.

Each remembers the first object that held it, weakly, and under which name.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

Place = tuple[ref[Any], str]
"""The object that holds a variable or object, and the name of the attribute."""


def full_name(node: Any) -> str:
    """The type of the outermost object that is known to hold a node, and the way to the node."""
    names: list[str] = []
    met = set()
    while node._nnx_place is not None and id(node) not in met:
        met.add(id(node))
        holder, name = node._nnx_place
        if holder() is None:
            break
        names.append(name)
        node = holder()
    return ".".join([type(node).__name__, *reversed(names)])


def path_below(node: Any, outer: Any) -> str:
    """The way to a node with slashes, from an object around it or else from the outermost one."""
    path = ""
    met = set()
    while node is not outer and id(node) not in met:
        met.add(id(node))
        place = node._nnx_place
        node = None if place is None else place[0]()
        if node is None:
            break
        name = place[1]
        path = f"{name}/{path}" if path else name
    return path.replace(".", "/")


def layer_name(layer: Any) -> str:
    """The type of a layer, and the way to it if other objects hold it."""
    kind = type(layer).__name__
    return kind if layer._nnx_place is None else f"{kind} at {full_name(layer)}"


def name_places(value: Any, holder: ref[Any], name: str) -> None:
    """Remember who holds a value, or the values in a list or tuple, unless someone did before."""
    if type(value) in (list, tuple):
        for i, item in enumerate(value):
            name_places(item, holder, f"{name}.{i}")
    elif getattr(value, "_nnx_place", holder) is None:
        object.__setattr__(value, "_nnx_place", (holder, name))
