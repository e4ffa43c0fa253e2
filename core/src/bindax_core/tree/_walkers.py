"""Walkers: the functions that flatten one node of a type, and what is below it, fast.

A walker appends the leaves below a node to a list and returns the node's ``PyTreeDef``. Walkers
call each other by way of the table; they are recursive, keep no paths and do not look for cycles.
Whatever goes wrong in one makes ``tree_flatten`` start anew with ``flatten_with_path``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.tree import _registry, _table
from bindax_core.tree._flatten_one_level import checked_children, checked_result, insertion_order
from bindax_core.tree._key_order import _TOTALLY_ORDERED, key_order
from bindax_core.tree._node_definition import NodeDefinition
from bindax_core.tree._table import LEAF_TYPES, Walk, kind_of, lock
from bindax_core.tree._treedef import LEAF, PyTreeDef, make

_SHARED = 256
"""Structures of sequences of leaves are shared up to this length."""

_leaves = [(LEAF,) * n for n in range(_SHARED)]


def _walk_children(
    definition: NodeDefinition,
    data: Any,
    order: tuple[Any, ...] | None,
    children: Iterable[Any],
    leaves: list[Any],
) -> PyTreeDef:
    before = len(leaves)
    structures = []
    for child in children:
        walk = kind_of(type(child))
        if walk is None:
            leaves.append(child)
            structures.append(LEAF)
        else:
            structures.append(walk(child, leaves))
    return make(definition, data, order, tuple(structures), len(leaves) - before)


def _none_walker(definition: NodeDefinition) -> Walk:
    structure = make(definition, None, None, (), 0, True)

    def walk_none(node: None, leaves: list[Any]) -> PyTreeDef:
        return structure

    return walk_none


def _sequence_walker(definition: NodeDefinition) -> Walk:
    shared = [make(definition, None, None, _leaves[n], n, True) for n in range(_SHARED)]

    def walk_sequence(node: Sequence[Any], leaves: list[Any]) -> PyTreeDef:
        for child in node:
            if type(child) not in LEAF_TYPES:
                return _walk_children(definition, None, None, node, leaves)
        before = len(leaves)
        leaves.extend(node)
        count = len(leaves) - before
        if count < _SHARED:
            return shared[count]
        return make(definition, None, None, (LEAF,) * count, count, True)

    return walk_sequence


def _dict_walker(definition: NodeDefinition) -> Walk:
    def walk_dict(node: dict[Any, Any], leaves: list[Any]) -> PyTreeDef:
        try:
            keys = sorted(node)
            if len(keys) > 1 and type(keys[0]) not in _TOTALLY_ORDERED:
                keys = key_order(node)
        except TypeError:
            keys = key_order(node)
        inserted = list(node)
        order = None if inserted == keys else tuple(inserted)
        children = [node[key] for key in keys]
        for child in children:
            if type(child) not in LEAF_TYPES:
                return _walk_children(definition, tuple(keys), order, children, leaves)
        leaves += children
        count = len(children)
        below = _leaves[count] if count < _SHARED else (LEAF,) * count
        return make(definition, tuple(keys), order, below, count, True)

    return walk_dict


def _custom_walker(definition: NodeDefinition) -> Walk:
    flatten = definition.flatten
    keeps_order = definition.kind == "defaultdict"

    def walk_custom(node: Any, leaves: list[Any]) -> PyTreeDef:
        result = flatten(node)
        if type(result) is not tuple or len(result) != 2:
            result = checked_result(definition, result)
        children, data = result
        if type(children) is not tuple:
            children = checked_children(definition, children)
        order = insertion_order(node, data[1]) if keeps_order else None
        for child in children:
            if type(child) not in LEAF_TYPES:
                return _walk_children(definition, data, order, children, leaves)
        leaves.extend(children)
        count = len(children)
        below = _leaves[count] if count < _SHARED else (LEAF,) * count
        return make(definition, data, order, below, count, True)

    return walk_custom


_WALKERS = {
    "none": _none_walker,
    "list": _sequence_walker,
    "tuple": _sequence_walker,
    "dict": _dict_walker,
}
"""Makers of walkers, by the kind of a node; the others have ``_custom_walker``."""


def _classify(kind: type) -> Walk | None:
    """Decide what the instances of a type are; called once per type by the table."""
    if kind not in _registry._definitions:
        runtime.plugins.load_for_type(kind)  # without the lock: it imports foreign code
    with lock:
        definition = _registry.definition_for(kind)
        if definition is None:
            _table.set_leaf(kind)
            return None
        walk = _WALKERS.get(definition.kind, _custom_walker)(definition)
        _table.TABLE[kind] = walk
        return walk


_table.TABLE.classify = _classify
walk_of = kind_of
"""The walker of a type, or None for a leaf."""
