"""The accelerator: what core gives to it, and how its functions become the fast paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MethodType
from typing import Any

from bindax_core._config import config
from bindax_core._fast_paths import FAST_PATHS, fast_paths
from bindax_core.arrays._array import Array
from bindax_core.arrays._executable_cache import CacheEntry, executable_cache
from bindax_core.errors import PluginError
from bindax_core.kernel._stack import trace_state
from bindax_core.registry._manifest import Entry
from bindax_core.registry._provenance import Provenance, file_of
from bindax_core.registry._registrations import Declaration
from bindax_core.tree import _table, _treedef
from bindax_core.tree._key_order import key_order
from bindax_core.tree._node_definition import NodeDefinition
from bindax_core.tree._registry import find_definition

_KINDS = ("none", "list", "tuple", "namedtuple", "dict")
_FIELDS, _CUSTOM, _OTHER = 5, 6, 7
"""The kinds of nodes by number: attributes, functions, and built-in types without a number."""


def _describe(definition: NodeDefinition) -> tuple[Any, ...]:
    """The kind, the functions and the fields of a definition.

    The function that builds a node takes metadata and children; that of a named tuple takes the
    children, that of the kind ``_OTHER`` the structure and the children. A defaultdict is not
    flattened, as its structure has an order.
    """
    kind = _OTHER
    fields: tuple[Any, ...] = (None, None)
    flatten: Any = definition.flatten
    build: Any = definition._assemble
    if definition.kind in (*_KINDS, "custom"):
        kind = _KINDS.index(definition.kind) if definition.kind in _KINDS else _CUSTOM
        build = definition.type if definition.kind == "namedtuple" else definition.unflatten
    if definition._fields is not None:
        kind, fields = _FIELDS, definition._fields[:2]
    if definition.kind == "defaultdict":
        flatten = None
    return (kind, definition, flatten, build, *fields)


def _describe_dict(inserted: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """The keys in the order of flattening; the others, and the places among them, where needed."""
    data = tuple(key_order(inserted))
    if data == inserted:
        return data, None, None
    places = {key: place for place, key in enumerate(inserted)}
    return data, inserted, tuple([places[key] for key in data])


def given_objects() -> dict[str, Any]:
    """Return the objects of core that an accelerator works on, by name."""
    return {
        "PyTreeDef": _treedef.PyTreeDef,
        "LEAF": _treedef.LEAF,
        "make": _treedef.make,
        "describe_type": find_definition,
        "describe": _describe,
        "describe_dict": _describe_dict,
        "version": _table.version,
        "Array": Array,
        "trace_state": trace_state,
        "config": config,
        "executable_cache": executable_cache,
        "CacheEntry": CacheEntry,
        "MethodType": MethodType,
    }


def accelerator(
    connect: Callable[[Mapping[str, Any]], Mapping[str, Callable[..., Any]]], plugin: Entry
) -> Iterator[Declaration]:
    """The declaration of an accelerator."""
    functions: Any = connect(given_objects())
    if not isinstance(functions, Mapping) or set(functions) != set(FAST_PATHS):
        raise PluginError(
            f"the accelerator of {plugin.value} must give the functions {', '.join(FAST_PATHS)}, "
            f"but gave {functions!r:.200}."
        )
    owner = plugin.distribution
    provenance = Provenance(
        owner.name, owner.version, plugin.module, file_of(plugin.module) or "?", 1
    )
    yield Declaration(
        *(plugin, "accelerator", "accelerator", functions, provenance),
        label="the accelerator",
        install=lambda: fast_paths.set(functions, owner.label),
        remove=fast_paths.clear,
    )
