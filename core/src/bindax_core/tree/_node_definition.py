"""Definitions of pytree nodes: how a type is taken apart and put together; nodes taken apart."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from bindax_core._site import Site
from bindax_core.errors import BindaxError, TreeError
from bindax_core.tree._keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    SequenceKey,
    position,
)
from bindax_core.tree._paths import Link, unlink

Kind: TypeAlias = Literal[
    "none", "list", "tuple", "dict", "namedtuple", "OrderedDict", "defaultdict", "deque", "custom"
]
Flatten: TypeAlias = Callable[[Any], tuple[Iterable[Any], Any]]
FlattenWithKeys: TypeAlias = Callable[[Any], tuple[Iterable[tuple[KeyEntry, Any]], Any]]
Unflatten: TypeAlias = Callable[[Any, Any], Any]
Assemble: TypeAlias = Callable[[Any, Any], Any]
"""From a node of a structure and the list of its children to the container."""


class NodeDefinition:
    """The way in which one type is taken apart into children and metadata, and put together.

    A plugin returns these from the hook ``bindax_pytree_nodes``; ``register_pytree_node`` makes one
    and registers it.

    Args:
        type: the container type; its subclasses are not affected.
        flatten: from an instance to ``(children, metadata)``. The children are an iterable of
            pytrees; the metadata must support ``==`` and ``hash``.
        unflatten: from ``(metadata, children)`` to an instance. The children can be anything, so
            it must not validate or convert them.
        flatten_with_keys: from an instance to ``([(key, child), ...], metadata)``, with the same
            children and metadata as ``flatten``; None where children have no names.
        serialized_name: the stable name of the type in serialized tree definitions; by default
            ``module:qualname``.
        attributes: the names of the attributes that hold the children, where they are fixed;
            without ``flatten_with_keys`` they become the keys.
        encode_metadata: from metadata to plain Python data (None, bool, int, float, complex, str,
            bytes, tuple, list, dict, frozenset) for serialization; identity by default.
        decode_metadata: the inverse; it must validate what it is given.
        site: module, file and line that the definition is reported with; by default those of the
            caller. A function that defines nodes for its callers gives theirs.

    Raises:
        TreeError: an argument is not of the kind described here.

    >>> definition = NodeDefinition(
    ...     slice, lambda s: ((s.start, s.stop, s.step), None), lambda _, xs: slice(*xs)
    ... )
    >>> definition
    NodeDefinition(builtins:slice)
    """

    def __init__(
        self,
        type: type,
        flatten: Flatten,
        unflatten: Unflatten,
        flatten_with_keys: FlattenWithKeys | None = None,
        *,
        serialized_name: str | None = None,
        attributes: Sequence[str] | None = None,
        encode_metadata: Callable[[Any], Any] | None = None,
        decode_metadata: Callable[[Any], Any] | None = None,
        site: tuple[str, str, int] | None = None,
    ) -> None:
        if not isinstance(type, _type):
            raise TreeError(
                f"Only a class can be registered as a pytree node type, got {type!r} of type "
                f"{_type(type).__name__}. Pass the class itself, not an instance."
            )
        functions = {
            "flatten": flatten,
            "unflatten": unflatten,
            "flatten_with_keys": flatten_with_keys,
            "encode_metadata": encode_metadata,
            "decode_metadata": decode_metadata,
        }
        for name, function in functions.items():
            optional = name not in ("flatten", "unflatten")
            if not callable(function) and not (optional and function is None):
                raise TreeError(
                    f"The {name} argument for the pytree node type {type_name(type)} must be a "
                    f"function, got {function!r}."
                )
        self.type = type
        self.flatten = flatten
        self.unflatten = unflatten
        self.flatten_with_keys = flatten_with_keys
        self.serialized_name: str = serialized_name or qualified_name(type)
        self.attributes: tuple[str, ...] | None = None if attributes is None else tuple(attributes)
        self.encode_metadata = encode_metadata
        self.decode_metadata = decode_metadata
        self.kind: Kind = "custom"
        self._assemble: Assemble = lambda node, children: unflatten(node._data, tuple(children))
        # Of dataclasses: the names of the children and of the metadata, and whether __init__ is
        # called, which lets generated code do without the functions.
        self._fields: tuple[tuple[str, ...], tuple[str, ...], bool] | None = None
        self._site = calling_site() if site is None else Site(*site)

    def __repr__(self) -> str:
        return f"NodeDefinition({self.serialized_name})"

    def child_keys(self, metadata: Any, count: int) -> list[KeyEntry]:
        """The keys of the children, as far as they follow from the type and the metadata."""
        if self.kind in ("list", "tuple", "deque"):
            shared = _SEQUENCE_KEYS[:count]
            return shared if len(shared) == count else [SequenceKey(i) for i in range(count)]
        keys = self.mapping_keys(metadata)
        if keys is not None:
            return [DictKey(key) for key in keys]
        if self.attributes is not None and len(self.attributes) == count:
            return [GetAttrKey(name) for name in self.attributes]
        return [FlattenedIndexKey(i) for i in range(count)]

    def mapping_keys(self, metadata: Any) -> Any:
        """The keys in the metadata of a built-in mapping; None for other types."""
        if self.kind in ("dict", "OrderedDict"):
            return metadata
        return metadata[1] if self.kind == "defaultdict" else None


_SEQUENCE_KEYS: list[KeyEntry] = [SequenceKey(i) for i in range(256)]
_type = type


def type_name(type: type) -> str:
    """The name of a type for messages, with its module unless that is ``builtins``."""
    module = getattr(type, "__module__", "?")
    return type.__qualname__ if module == "builtins" else f"{module}.{type.__qualname__}"


def qualified_name(type: type) -> str:
    """The name of a type in manifests and in serialized structures: ``module:qualname``."""
    return f"{type.__module__}:{type.__qualname__}"


def imported_object(module: str, qualname: str) -> Any:
    """The object of a name in a module that has been imported already; None if there is none."""
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        # vars, because a module's __getattr__ could import something.
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    return found


def short(value: object) -> str:
    """The ``repr`` of a value, cut to a length that fits into a message."""
    try:
        text = repr(value)
    except Exception as error:  # a broken __repr__ must not hide the error that is reported
        return f"<{type_name(type(value))} whose repr raises {type(error).__name__}>"
    return text if len(text) <= 120 else f"{text[:120]}..."


def calling_site() -> Site:
    """The site of the nearest frame outside the tree modules."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        frame = frame.f_back
    return Site(frame.f_globals.get("__name__", "?"), frame.f_code.co_filename, frame.f_lineno)


_OWN = ("bindax_core.tree", "functools")


# ---------------------------------------------------------------- one node taken apart, checked


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
            must = f"pairs (key, child), got {short(pair)}."
            raise _wrong_result(definition, must, "flatten_with_keys")
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
    got = f"{short(result)} of type {type_name(type(result))}"
    raise _wrong_result(definition, f"a tuple (children, metadata), got {got}.", function)


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
    got = f"{short(children)} of type {type_name(type(children))}"
    must = f"an iterable of children first, got {got}. A single child x is written (x,)."
    raise _wrong_result(definition, must, function)


def _wrong_result(definition: NodeDefinition, must: str, function: str) -> TreeError:
    kind = type_name(definition.type)
    return TreeError(f"The {function} function of the pytree node type {kind} must return {must}")
