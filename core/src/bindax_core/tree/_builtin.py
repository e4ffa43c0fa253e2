"""The containers that are pytree nodes without registration."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

from bindax_core.tree._key_order import key_order
from bindax_core.tree._node_definition import Flatten, Kind, NodeDefinition, Unflatten
from bindax_core.tree._registry import register_node

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef


def _flatten_dict(node: dict[Any, Any]) -> tuple[tuple[Any, ...], Any]:
    keys = key_order(node)
    return tuple([node[key] for key in keys]), tuple(keys)


def _flatten_default(node: defaultdict[Any, Any]) -> tuple[tuple[Any, ...], Any]:
    children, keys = _flatten_dict(node)
    return children, (node.default_factory, keys)


def _unflatten_default(data: tuple[Any, tuple[Any, ...]], children: Any) -> defaultdict[Any, Any]:
    return defaultdict(data[0], zip(data[1], children, strict=True))


def _assemble_dict(node: PyTreeDef, children: Any) -> dict[Any, Any]:
    made = dict(zip(node._data, children, strict=True))
    order = node._order
    return made if order is None else {key: made[key] for key in order}


def _assemble_default(node: PyTreeDef, children: Any) -> defaultdict[Any, Any]:
    made = _unflatten_default(node._data, children)
    for key in node._order or ():
        made[key] = made.pop(key)
    return made


def _define(kind: Kind, type: type, flatten: Flatten, unflatten: Unflatten) -> NodeDefinition:
    site = (__name__, __file__, 0)
    definition = NodeDefinition(type, flatten, unflatten, serialized_name=type.__name__, site=site)
    definition.kind = kind
    register_node(definition)
    return definition


NONE = _define("none", type(None), lambda node: ((), None), lambda data, children: None)
LIST = _define("list", list, lambda node: (tuple(node), None), lambda data, xs: list(xs))
TUPLE = _define("tuple", tuple, lambda node: (node, None), lambda data, xs: tuple(xs))
DICT = _define("dict", dict, _flatten_dict, lambda keys, xs: dict(zip(keys, xs, strict=True)))
ORDERED_DICT = _define(
    "OrderedDict",
    OrderedDict,
    lambda node: (tuple(node.values()), tuple(node)),
    lambda keys, xs: OrderedDict(zip(keys, xs, strict=True)),
)
DEFAULT_DICT = _define("defaultdict", defaultdict, _flatten_default, _unflatten_default)
DICT._assemble, DEFAULT_DICT._assemble = _assemble_dict, _assemble_default
DEQUE = _define(
    "deque", deque, lambda node: (tuple(node), node.maxlen), lambda size, xs: deque(xs, size)
)
