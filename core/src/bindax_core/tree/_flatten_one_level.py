"""Taking one node apart into children, metadata and keys, with what it returned checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.errors import BindaxError, TreeError
from bindax_core.tree._keys import position
from bindax_core.tree._node_definition import NodeDefinition, short, type_name
from bindax_core.tree._paths import Link, unlink


def flatten_node(
    definition: NodeDefinition, node: Any
) -> tuple[Sequence[Any], Any, tuple[Any, ...] | None]:
    """The children, the metadata and, for mappings, the order of insertion of a node."""
    order = None
    children, data = checked_result(definition, definition.flatten(node))
    if definition.kind in ("dict", "defaultdict"):
        order = insertion_order(node, definition.mapping_keys(data))
    return checked_children(definition, children), data, order


def insertion_order(node: Any, keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The keys of a mapping as they were inserted; None if that is the order of the leaves."""
    inserted = tuple(node)
    return None if inserted == keys else inserted


def flatten_node_with_keys(
    definition: NodeDefinition, node: Any, own: bool = True
) -> tuple[Sequence[Any], Sequence[Any], Any, tuple[Any, ...] | None]:
    """The children of a node, their keys, the metadata and the order of insertion.

    Unless its ``own`` function for keys is asked, the keys are those that follow from the type.
    """
    with_keys = definition.flatten_with_keys
    if with_keys is None or not own:
        children, data, order = flatten_node(definition, node)
        return children, definition.child_keys(data, len(children)), data, order
    pairs, data = checked_result(definition, with_keys(node), "flatten_with_keys")
    keys, children = [], []
    for pair in checked_children(definition, pairs, "flatten_with_keys"):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TreeError(
                f"The flatten_with_keys function of the pytree node type "
                f"{type_name(definition.type)} must return pairs (key, child), got {short(pair)}."
            )
        keys.append(pair[0])
        children.append(pair[1])
    return children, keys, data, None


def flatten_node_at(
    definition: NodeDefinition, node: Any, link: Link, with_keys: bool = False
) -> tuple[Sequence[Any], Sequence[Any], Any, tuple[Any, ...] | None]:
    """Take a node apart as ``flatten_node_with_keys`` does; errors say at which path it is."""
    try:
        return flatten_node_with_keys(definition, node, with_keys)
    except TreeError as error:
        raise TreeError(f"{error} This happened {position(unlink(link))}.") from error
    except Exception as error:
        where = (
            f"The flatten function of the pytree node type {type_name(definition.type)} raised "
            f"{position(unlink(link))}"
        )
        if isinstance(error, BindaxError):
            error.add_note(where)
            raise
        raise TreeError(f"{where}: {type(error).__name__}: {error}") from error


def checked_result(
    definition: NodeDefinition, result: Any, function: str = "flatten"
) -> tuple[Any, Any]:
    """Check that a flatten function returned a pair."""
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise TreeError(
        f"The {function} function of the pytree node type {type_name(definition.type)} must return "
        f"a tuple (children, metadata), got {short(result)} of type {type_name(type(result))}."
    )


def checked_children(
    definition: NodeDefinition, children: Any, function: str = "flatten"
) -> tuple[Any, ...]:
    """Check that a flatten function returned an iterable of children, and make it a tuple."""
    if type(children) is tuple:
        return children
    if not isinstance(children, str | bytes):
        try:
            iterator = iter(children)
        except TypeError:
            pass
        else:
            return tuple(iterator)
    raise TreeError(
        f"The {function} function of the pytree node type {type_name(definition.type)} must return "
        f"an iterable of children first, got {short(children)} of type "
        f"{type_name(type(children))}. A single child x is written (x,)."
    )
