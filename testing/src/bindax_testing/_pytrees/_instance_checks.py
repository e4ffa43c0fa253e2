"""Checks of instances: put together from anything, independent, copied and pickled."""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core import ShapedArray
from bindax_core.tree_util import tree_flatten, tree_structure
from bindax_testing._compare import Mismatch, NotApplicable
from bindax_testing._pytrees._nodes import (
    Node,
    alike,
    attributes_of,
    by_identity,
    described,
    fields_of,
    parts_of,
    qualified,
    same_leaves,
    same_values,
    shown,
)
from bindax_transforms import eval_shape

STAND_INS: dict[str, Callable[[], Any]] = {
    "object()": object,
    "None": lambda: None,
    "a string": lambda: "".join(["stand", "-in"]),
    "a Python number": lambda: float("1e3"),
    "an array type": lambda: ShapedArray((2,), np.dtype("float32")),
}
"""Kinds of values by name, each with a function that makes one."""
_REMEDY = (
    "Transformations put values of any type into containers. Let unflatten not call __init__ "
    "(object.__new__ and setting the attributes do), or let __init__ pass on what it does not know."
)
_MUTABLE = (list, dict, set, bytearray, deque)


def check_round_trip(node: Node) -> None:
    """Putting a node together from its own parts gives an equal one."""
    made = _rebuilt(node, node.children, "its own children")
    children, metadata = node.flattened(made)
    _check_children(node, children, node.children, "its own children")
    if metadata != node.metadata:
        raise Mismatch(
            f"The metadata was {shown(node.metadata)}, and is {shown(metadata)} after a round trip "
            f"through flatten and unflatten."
        )
    kept, ours = attributes_of(made), attributes_of(node.value)
    fields = fields_of(type(node.value))
    for name, attribute in ours.items():
        # What a class keeps to itself may be a cache, unless it is among its fields.
        if name.startswith("_") and name not in fields:
            continue
        if name not in kept:
            raise Mismatch(
                f"The attribute {name!r} is lost in a round trip through flatten and unflatten; "
                f"add it to the children or to the metadata."
            )
        if not alike(kept[name], attribute):
            raise Mismatch(
                f"The attribute {name!r} was {shown(attribute)}, and is {shown(kept[name])} after "
                f"a round trip through flatten and unflatten; add it to the children or to the "
                f"metadata."
            )
    if not by_identity(type(node.value)) and not alike(node.value, made):
        raise Mismatch(
            f"It was {shown(node.value)}, and is {shown(made)} after a round trip through flatten "
            f"and unflatten, which is not equal to it; all that == compares has to be in the "
            f"children or in the metadata."
        )


def check_stand_ins(name: str, node: Node) -> None:
    """Unflatten accepts one kind of value."""
    _accepts(node, [STAND_INS[name]() for _ in range(node.places())], name)


def check_nested(node: Node) -> None:
    """As in the Jacobian of a function from tree to tree, a child may be a node of the type."""
    _accepts(node, [node.value] * node.places(), "nodes of the same type")


def check_tracers(node: Node) -> None:
    """Traced values are children in every transformation."""

    def use(*tracers: Any) -> Any:
        _accepts(node, tracers, "tracers")
        return tracers

    eval_shape(use, *[ShapedArray((3,), np.dtype("float32"))] * node.places())


def _accepts(node: Node, values: Sequence[Any], name: str) -> None:
    if not values:
        raise NotApplicable("the node has no leaves")
    children = node.filled(values)
    made = _rebuilt(node, children, name)
    try:
        found, _ = node.flattened(made)
    except Exception as error:
        raise Mismatch(
            f"An instance with {name} as children cannot be flattened: {described(error)}. "
            f"{_REMEDY}"
        ) from error
    _check_children(node, found, children, name)


def _rebuilt(node: Node, children: Sequence[Any], name: str) -> Any:
    try:
        made = node.rebuilt(children)
    except Exception as error:
        raise Mismatch(f"unflatten raised {described(error)}, given {name}. {_REMEDY}") from error
    if type(made) is not type(node.value):
        raise Mismatch(
            f"unflatten returned an instance of {qualified(type(made))}, given {name}. It has to "
            f"return one of {node.name}."
        )
    return made


def _check_children(node: Node, found: Sequence[Any], expected: Sequence[Any], name: str) -> None:
    if len(found) != len(expected):
        raise Mismatch(
            f"unflatten was given {len(expected)} children ({name}), and flatten returns "
            f"{len(found)} for the result."
        )
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if not _same(ours, theirs):
            raise Mismatch(
                f"Child {index} came back as {shown(ours)} of type {qualified(type(ours))}, where "
                f"{shown(theirs)} of type {qualified(type(theirs))} was put in ({name}): it was "
                f"converted, or the children are in another order. {_REMEDY}"
            )


def _same(x: Any, y: Any) -> bool:
    """Tell whether two children are the same, or containers with the same leaves."""
    return x is y or (type(x) is type(y) and same_leaves(x, y))


# ------------------------------------------------------------------------------ independence


def check_independence(node: Node) -> None:
    """Instances share nothing that can be changed."""
    count = node.places()
    first_children = node.filled([object() for _ in range(count)])
    first = _rebuilt(node, first_children, "object()")
    second = _rebuilt(node, node.filled([object() for _ in range(count)]), "object()")
    if first is second and count:
        raise Mismatch("unflatten returned one and the same instance twice. Make a new one.")
    found, _ = node.flattened(first)
    if not all(map(_same, found, first_children)):
        raise Mismatch(
            "Putting a second instance together changed the children of the first one. The two "
            "share a container; make a new one in unflatten."
        )
    if first is second:
        return
    for one, other, whose in ((node.value, first, "the instance"), (first, second, "one result")):
        ours, theirs = _mutable_parts(one), _mutable_parts(other)
        for identity in sorted(ours.keys() & theirs.keys(), key=ours.__getitem__):
            raise Mismatch(
                f"The {ours[identity][1]} in {ours[identity][0]} is shared by {whose} and another "
                f"result of unflatten: changing one changes the other, and structures made before. "
                f"Copy it in flatten (into a tuple) and in unflatten."
            )


def _mutable_parts(value: Any) -> dict[int, tuple[str, str]]:
    """The containers in the attributes of an instance, each with an expression and its type."""
    found: dict[int, tuple[str, str]] = {}
    for name, attribute in attributes_of(value).items():
        for expression, part in parts_of(attribute, f".{name}"):
            if isinstance(part, _MUTABLE):
                found.setdefault(id(part), (expression, type(part).__name__))
    return found


def check_structure(node: Node) -> None:
    """Structures of one instance are equal, with equal hashes, before and after a round trip."""
    leaves, structure = tree_flatten(node.value)
    others = {
        "flattened again": tree_structure(node.value),
        "after a round trip": tree_structure(structure.unflatten(leaves)),
    }
    for when, other in others.items():
        if structure != other or other != structure:
            raise Mismatch(f"The structure is {structure}, and {other} {when}.")
        if hash(structure) != hash(other):
            raise Mismatch(f"The structure {structure} has another hash {when}.")


# --------------------------------------------------------------------------- pickle and copy


def check_pickled_structure(node: Node) -> None:
    """A structure survives pickle."""
    structure = tree_structure(node.value)
    if _unpickled(node, structure) != structure:
        raise Mismatch(f"The structure {structure} is not equal to itself after pickle.")


def check_pickle(node: Node) -> None:
    """An instance survives pickle."""
    check_duplicate(lambda value: _unpickled(node, value), "pickle", node)


def _unpickled(node: Node, value: Any) -> Any:
    kind = type(node.value)
    if not _has_a_name(kind):
        raise NotApplicable(
            f"pickle needs classes that can be imported by name, which {kind.__qualname__} of "
            f"module {kind.__module__} cannot"
        )
    try:
        return pickle.loads(pickle.dumps(value))
    except Exception as error:
        raise Mismatch(
            f"pickle raised {described(error)}. Name the type where it can be imported, and keep "
            f"functions that cannot be pickled out of the metadata."
        ) from error


def _has_a_name(kind: type) -> bool:
    """Tell whether a class is found under its name, as those defined in functions are not."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


def check_duplicate(duplicate: Callable[[Any], Any], name: str, node: Node) -> None:
    """A copy, made by a function of this name, is equal to the instance."""
    leaves, structure = tree_flatten(node.value)
    try:
        found, other = tree_flatten(duplicate(node.value))
    except (Mismatch, NotApplicable):
        raise
    except Exception as error:
        raise Mismatch(f"{name} raised {described(error)}.") from error
    if other != structure:
        raise Mismatch(f"The structure was {structure}, and is {other} after {name}.")
    for ours, theirs in zip(leaves, found, strict=True):
        if not same_values(ours, theirs):
            raise Mismatch(f"A leaf was {shown(ours)}, and is {shown(theirs)} after {name}.")
