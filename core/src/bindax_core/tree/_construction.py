"""Making tree definitions from parts that others give: pickles, serialized text, node data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from bindax_core.errors import TreeError
from bindax_core.tree._key_order import key_order
from bindax_core.tree._node_definition import NodeDefinition, short, type_name
from bindax_core.tree._registry import definition_of

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

Record = tuple[NodeDefinition | None, Any, tuple[Any, ...] | None, int]
"""A node without its children: definition, metadata, order of insertion, number of children."""

Make = Callable[..., "PyTreeDef"]
"""Makes a node of definition, metadata, order and children; of nothing, a leaf. These functions do
not know the class of what it makes."""


def from_records(records: Iterable[Record], make: Make) -> PyTreeDef:
    """Make a structure from the records of its nodes in postorder."""
    if not isinstance(records, tuple | list):
        raise TreeError(f"A tree definition is damaged: {short(records)} is no sequence of nodes.")
    stack: list[PyTreeDef] = []
    for record in records:
        if not isinstance(record, tuple) or len(record) != 4:
            raise TreeError(f"A pickled tree definition holds {short(record)} in place of a node.")
        definition, data, order, count = record
        if definition is None:
            stack.append(make())
            continue
        if not isinstance(definition, NodeDefinition):
            raise TreeError(
                f"A pickled tree definition holds {short(definition)} in place of a node "
                f"definition."
            )
        if type(count) is not int or not 0 <= count <= len(stack):
            raise TreeError(
                f"A tree definition is damaged: a node of type {type_name(definition.type)} has "
                f"{count!r} children, but {len(stack)} are there."
            )
        start = len(stack) - count
        children = tuple(stack[start:])
        del stack[start:]
        stack.append(_checked_node(definition, data, order, children, make))
    if len(stack) != 1:
        raise TreeError(f"A tree definition is damaged: it has {len(stack)} roots.")
    return stack[0]


def from_node_data(node_data: Any, children: tuple[PyTreeDef, ...], make: Make) -> PyTreeDef:
    """Make a structure from the type and metadata of its root, and its children."""
    if node_data is None:
        if children:
            raise TreeError(f"A leaf has no children, got {len(children)}.")
        return make()
    if not isinstance(node_data, tuple) or len(node_data) != 2:
        raise TreeError(f"Node data must be a pair (type, metadata), got {short(node_data)}.")
    kind, data = node_data
    definition = definition_of(kind)
    if definition.kind == "dict":
        data = tuple(data)
    return _checked_node(definition, data, None, children, make)


def _checked_node(
    definition: NodeDefinition,
    data: Any,
    order: tuple[Any, ...] | None,
    children: tuple[PyTreeDef, ...],
    make: Make,
) -> PyTreeDef:
    """Make a node after checking that its parts fit together."""
    kind, count = definition.kind, len(children)
    if kind in ("none", "list", "tuple", "namedtuple") and data is not None:
        raise _unfit(definition, f"has no metadata, got {short(data)}")
    if kind in ("dict", "OrderedDict"):
        _check_keys(definition, data, count)
    elif kind == "defaultdict":
        if not isinstance(data, tuple) or len(data) != 2:
            raise _unfit(definition, f"has metadata (default_factory, keys), got {short(data)}")
        if data[0] is not None and not callable(data[0]):
            raise _unfit(definition, f"has a function as default_factory, got {short(data[0])}")
        _check_keys(definition, data[1], count)
        data = (data[0], tuple(data[1]))
    elif kind == "deque" and data is not None and (type(data) is not int or data < count):
        raise _unfit(definition, f"cannot hold {count} elements with maxlen={data!r}")
    names = () if kind == "none" else definition.attributes
    if names is not None and count != len(names):
        raise _unfit(definition, f"has {len(names)} children, got {count}")
    if order is not None:
        order = _checked_order(definition, data, order)
    return make(definition, data, order, children)


def _check_keys(definition: NodeDefinition, keys: Any, count: int) -> None:
    if not isinstance(keys, tuple | list) or not all(isinstance(key, Hashable) for key in keys):
        raise _unfit(definition, f"has a tuple of hashable keys as metadata, got {short(keys)}")
    try:
        unique = len(set(keys))
    except TypeError as error:  # for instance a tuple that holds a list
        raise _unfit(definition, f"has a key that is not hashable: {short(keys)}") from error
    if unique != count or len(keys) != count:
        raise _unfit(definition, f"needs {count} different keys, got {short(keys)}")
    if definition.kind != "OrderedDict" and key_order(keys) != list(keys):
        raise _unfit(definition, f"needs its keys in the order of flattening, got {short(keys)}")


def _checked_order(definition: NodeDefinition, data: Any, order: Any) -> tuple[Any, ...] | None:
    if definition.kind not in ("dict", "defaultdict"):
        raise _unfit(definition, "keeps no order of insertion")
    keys = definition.mapping_keys(data)
    try:
        fits = isinstance(order, tuple) and len(order) == len(keys) and set(order) == set(keys)
    except TypeError:  # a key that cannot be hashed
        fits = False
    if not fits:
        raise _unfit(definition, f"has the keys {short(keys)}, inserted as {short(order)}")
    return None if order == keys else tuple(order)


def _unfit(definition: NodeDefinition, what: str) -> TreeError:
    return TreeError(
        f"A tree definition is damaged: a node of type {type_name(definition.type)} {what}."
    )
