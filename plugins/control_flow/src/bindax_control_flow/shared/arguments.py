"""Checks of what users give to control flow: trees of arrays, integers, structures."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    DebugInfo,
    PyTreeDef,
    describe_function,
    is_value,
    tree_flatten,
    tree_unflatten,
    unknown_type_error,
)
from bindax_transforms import argument_names
from bindax_transforms.extend import Reference, argument_error, returned_error


def check_values(name: str, argument: str, tree: Any) -> None:
    """Raise when a leaf of an argument is no array."""
    for i, x in enumerate(tree_flatten(tree)[0]):
        if not is_value(x):
            place = argument_names(tree, argument)[i]
            if isinstance(x, Reference):
                raise argument_error(x, f"{place} of {name}")
            raise unknown_type_error(x, f"{place} of {name}: ")


def check_returned(
    name: str, function: Callable[..., Any], path: str, result: Any, leaves: Sequence[Any]
) -> None:
    """Raise when a leaf of what a function returned is no array."""
    if all(map(is_value, leaves)):
        return
    i = next(i for i, x in enumerate(leaves) if not is_value(x))
    place, x = argument_names(result, path)[i], leaves[i]
    if isinstance(x, Reference):
        raise returned_error(x, DebugInfo(name, function), place)
    where = f"{place} of what {describe_function(function)} returned to {name}"
    raise unknown_type_error(x, f"{where}: ")


def structure_paths(root: str, tree: PyTreeDef) -> list[str]:
    """The path of each leaf of a structure."""
    return argument_names(tree_unflatten(tree, list(range(tree.num_leaves))), root)


def as_integer(name: str, argument: str, value: Any, expected: str = "an integer") -> int:
    """An argument as an integer."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeError(
            f"{argument} of {name} must be {expected}, but it is {value!r:.80}."
        ) from error


def describe_type(aval: Any) -> str:
    """A type as messages print it, weak types told apart."""
    weak = " (weakly typed)" if getattr(aval, "weak_type", False) else ""
    return f"{aval.str_short()}{weak}"


def structure_difference(root: str, expected: PyTreeDef, found: PyTreeDef) -> str:
    """List the leaves that one of two structures has and the other has not, for messages."""
    paths = [structure_paths(root, tree) for tree in (expected, found)]
    parts = []
    for what, mine, others in (("missing", *paths), ("new", *reversed(paths))):
        different = [path for path in mine if path not in others]
        if different:
            parts.append(f"{', '.join(different)} {'is' if len(different) == 1 else 'are'} {what}")
    return f": {'; '.join(parts)}" if parts else ""
