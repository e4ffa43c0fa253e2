"""Putting one node together from its children, for each kind of container."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from bindax_core.errors import TreeError
from bindax_core.tree._definition import NodeDefinition

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

Assemble: TypeAlias = "Callable[[PyTreeDef, Any], Any]"
"""From a node and the list of its children to the container."""


def assembler(definition: NodeDefinition) -> Assemble:
    """The function that puts a node of a type together from its children."""
    kind = definition._kind
    if kind == "custom":
        return _custom_assembler(definition)
    if kind == "namedtuple":
        make = definition.type
        return lambda node, children: make(*children)
    return _ASSEMBLERS[kind]


def _custom_assembler(definition: NodeDefinition) -> Assemble:
    function = definition.unflatten
    return lambda node, children: function(node._data, tuple(children))


def _dict(node: PyTreeDef, children: Any) -> dict[Any, Any]:
    made = dict(zip(node._data, children, strict=True))
    order = node._order
    return made if order is None else {key: made[key] for key in order}


def _default_dict(node: PyTreeDef, children: Any) -> Any:
    factory, keys = node._data
    made = dict(zip(keys, children, strict=True))
    result = node._definition.type(factory)  # type: ignore[union-attr]
    for key in node._order or keys:
        result[key] = made[key]
    return result


def _by_definition(node: PyTreeDef, children: Any) -> Any:
    if node._definition is None:
        raise TreeError("A leaf is not put together from children.")
    return node._definition.unflatten(node._data, children)


_ASSEMBLERS: dict[str, Assemble] = {
    "none": lambda node, children: None,
    "list": lambda node, children: list(children),
    "tuple": lambda node, children: tuple(children),
    "dict": _dict,
    "defaultdict": _default_dict,
    "OrderedDict": _by_definition,
    "deque": _by_definition,
}
