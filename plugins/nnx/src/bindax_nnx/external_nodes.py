"""Types of other packages as nodes of graphs."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from bindax_nnx.errors import GraphError
from bindax_transforms import check_function

ENTRY_POINTS = "bindax_nnx.v1.graph_nodes"
"""The group of entry points: names are ``module.qualname`` of types, values the modules to load."""


@dataclasses.dataclass(frozen=True)
class GraphNodeDefinition:
    """The way instances of one type are taken apart, made and filled.

    Attributes:
        type: the type; its subclasses are not affected.
        flatten: from an instance to its attributes by name, and hashable metadata.
        create: from the metadata to an instance without attributes.
        fill: ``(instance, attributes)``, makes these the attributes of an instance.
    """

    type: type
    flatten: Callable[[Any], tuple[Mapping[str, Any], Any]]
    create: Callable[[Any], Any]
    fill: Callable[[Any, dict[str, Any]], None]


_definitions: dict[type, GraphNodeDefinition] = {}

on_registration: list[Callable[[], None]] = []
"""Functions to call when a type is registered, to forget what was known of types."""


def register_graph_node(
    type: type,
    flatten: Callable[[Any], tuple[Mapping[str, Any], Any]],
    create: Callable[[Any], Any],
    fill: Callable[[Any, dict[str, Any]], None],
) -> None:
    """Make instances of a type nodes of graphs: shared by reference, and updated in place.

    A package can register its types when they are first met: its entry point in the group
    ``bindax_nnx.v1.graph_nodes`` has the name ``module.qualname`` of the type, and names the
    module that calls this function.

    Args:
        type: the type; its subclasses are not affected.
        flatten: from an instance to its attributes by name, and hashable metadata.
        create: from the metadata to an instance without attributes.
        fill: ``(instance, attributes)``, makes these the attributes of an instance.

    Raises:
        TypeError: when it is no type, or the others are no functions.
        ValueError: when the type is registered already.

    >>> import types
    >>> from bindax_nnx import Param, state
    >>> class Pair:
    ...     pass
    >>> register_graph_node(
    ...     Pair,
    ...     lambda pair: (vars(pair), None),
    ...     lambda metadata: Pair(),
    ...     lambda pair, attributes: pair.__dict__.update(attributes),
    ... )
    >>> pair = Pair()
    >>> pair.left = Param(1.0)
    >>> list(state(pair))
    ['left']
    """
    if not inspect.isclass(type):
        raise TypeError(f"register_graph_node takes a type, but got {type!r:.80}.")
    for name, function in (("flatten", flatten), ("create", create), ("fill", fill)):
        check_function("register_graph_node", name, function)
    definition = GraphNodeDefinition(type, flatten, create, fill)
    if _definitions.setdefault(type, definition) is not definition:
        raise ValueError(
            f"{type.__module__}.{type.__qualname__} is a graph node type already; each type can "
            f"be registered once."
        )
    for forget in on_registration:
        forget()


def find_foreign(type: type) -> GraphNodeDefinition | None:
    """The definition of a type, asking the package that announced it."""
    found = _definitions.get(type)
    if found is None:
        name = f"{type.__module__}.{type.__qualname__}"
        entries = _announced().get(name)
        if entries is not None:
            _load(name, entries)
            found = _definitions.get(type)
            if found is None:
                raise GraphError(
                    f"{_describe(entries[0])} announces {name} as a graph node, but loading it "
                    f"does not call register_graph_node with this type."
                )
    return found


def _load(name: str, entries: list[EntryPoint]) -> None:
    if len(entries) > 1:
        raise GraphError(
            f"several packages announce {name} as a graph node: "
            f"{' and '.join(sorted(map(_describe, entries)))}. Uninstall all but one."
        )
    try:
        entries[0].load()
    except Exception as error:
        raise GraphError(
            f"{_describe(entries[0])} announces {name} as a graph node, but cannot be loaded: "
            f"{error!r}."
        ) from error


def _describe(entry: EntryPoint) -> str:
    distribution = entry.dist
    version = "" if distribution is None else f" of {distribution.name} {distribution.version}"
    return f"the entry point {entry.value!r}{version}"


@cache
def _announced() -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        found.setdefault(entry.name, []).append(entry)
    return found
