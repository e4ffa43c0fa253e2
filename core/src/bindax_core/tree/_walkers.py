"""Walkers: the functions that flatten one node of a type, and what is below it, fast.

A walker appends the leaves below a node to a list and returns the node's ``PyTreeDef``. Walkers
call each other by way of the table; they are recursive, keep no paths and do not look for cycles.
Whatever goes wrong in one makes ``tree_flatten`` start anew with ``flatten_with_path``.

Trees that are alike give one structure, as long as it is remembered: structures of nodes are found
by the identities of their children's; metadata of other types may keep those of its nodes itself,
in a dictionary ``__bindax_structures__``. So structures can be compared by identity first, and what
is known of one, such as its hash and the functions generated for it, serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.tree import _registry, _table
from bindax_core.tree._compare import EXACT_KEYS, is_exact, same_exactly
from bindax_core.tree._key_order import key_order
from bindax_core.tree._node_definition import (
    NodeDefinition,
    checked_children,
    checked_result,
    insertion_order,
)
from bindax_core.tree._table import LEAF_TYPES, Remembered, Walk, kind_of, lock
from bindax_core.tree._treedef import LEAF, PyTreeDef, make

_nodes = Remembered(100_000)
"""Structures, by what nodes that are alike share and the identities of the children."""

_MOST_KEPT = 64
"""Structures that one metadata remembers."""

_are_leaves = LEAF_TYPES.issuperset
_are_exact = EXACT_KEYS.issuperset


def _walk_children(
    alike: Any,
    definition: NodeDefinition,
    data: Any,
    order: tuple[Any, ...] | None,
    children: Iterable[Any],
    leaves: list[Any],
) -> PyTreeDef:
    """Flatten children; ``alike`` is what nodes of the same type and metadata share, or None."""
    before = len(leaves)
    structures = []
    for child in children:
        walk = kind_of(type(child))
        if walk is None:
            leaves.append(child)
            structures.append(LEAF)
        else:
            structures.append(walk(child, leaves))
    known: PyTreeDef | None = None
    kept = getattr(data, "__bindax_structures__", None) if alike is None else _nodes
    key = (alike or definition, *map(id, structures))
    if kept is not None:
        known = kept.get(key)
    if known is None or not same_exactly(known._data, data):
        known = make(definition, data, order, tuple(structures), len(leaves) - before)
        if kept is _nodes:
            _nodes.keep(key, known, len(key))
        elif kept is not None:
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[key] = known
    return known


def _none_walker(definition: NodeDefinition) -> Walk:
    structure = make(definition, None, None, (), 0, True)

    def walk_none(node: None, leaves: list[Any]) -> PyTreeDef:
        return structure

    return walk_none


def _sequence_walker(definition: NodeDefinition) -> Walk:
    known = Remembered(100_000)

    def walk_sequence(node: Sequence[Any], leaves: list[Any]) -> PyTreeDef:
        if not _are_leaves(map(type, node)):
            return _walk_children(definition, definition, None, None, node, leaves)
        leaves.extend(node)
        count = len(node)
        flat: PyTreeDef | None = known.get(count)
        if flat is None:
            flat = make(definition, None, None, (LEAF,) * count, count, True)
            known.keep(count, flat, count + 1)
        return flat

    return walk_sequence


class _Mapping:
    """Parts of structures that dicts share whose keys are the same, inserted in the same order."""

    __slots__ = ("data", "flat", "order", "values")

    def __init__(self, definition: NodeDefinition, inserted: tuple[Any, ...]) -> None:
        self.data = tuple(key_order(inserted))
        self.order = None if self.data == inserted else inserted
        self.values: Callable[[dict[Any, Any]], Any] = dict.values
        if self.order is not None:  # which takes two keys
            self.values = itemgetter(*self.data)
        count = len(inserted)
        self.flat = make(definition, self.data, self.order, (LEAF,) * count, count, True)


def _dict_walker(definition: NodeDefinition) -> Walk:
    known = Remembered(100_000)

    def walk_dict(node: dict[Any, Any], leaves: list[Any]) -> PyTreeDef:
        inserted = tuple(node)
        exact = _are_exact(map(type, inserted))
        mapping: _Mapping | None = known.get(inserted) if exact else None
        if mapping is None:
            mapping = _Mapping(definition, inserted)
            if exact:
                known.keep(inserted, mapping, len(inserted) + 1)
        children = mapping.values(node)
        if _are_leaves(map(type, children)):
            leaves.extend(children)
            return mapping.flat
        alike = mapping if exact else None
        return _walk_children(alike, definition, mapping.data, mapping.order, children, leaves)

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
        # What is remembered must not keep foreign objects alive, and has no order of its own.
        alike = definition if order is None and (data is None or is_exact(data)) else None
        return _walk_children(alike, definition, data, order, children, leaves)

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
