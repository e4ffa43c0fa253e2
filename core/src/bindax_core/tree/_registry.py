"""The registry of pytree node types."""

from __future__ import annotations

import contextlib
import copyreg
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core.errors import TreeError
from bindax_core.tree import _table
from bindax_core.tree._node_definition import NodeDefinition, imported_object, type_name
from bindax_core.tree._table import lock

if TYPE_CHECKING:
    from bindax_core.registry._provenance import Provenance

_definitions: dict[type, NodeDefinition] = {}
"""Registered definitions by type; changed under the lock."""
_automatic: dict[type, NodeDefinition] = {}
"""Definitions of named tuples, which need no registration."""
_by_name: dict[str, NodeDefinition] = {}
"""Registered definitions by serialized name; of a class that was defined anew, the newest."""

_Undo = tuple[type, NodeDefinition | None]
_journal: ContextVar[list[_Undo] | None] = ContextVar("bindax_tree_journal", default=None)

_MAX_AUTOMATIC = 1024


class RedefinitionNotice(UserWarning):
    """A pytree node type was registered again by the same module, and the newer one is used.

    >>> issubclass(RedefinitionNotice, Warning)
    True
    """


def forget_unregistered() -> None:
    """Forget which types are leaves, because a plugin that may load now may know better."""
    with lock:
        _table.forget_leaves()
        for kind in list(_automatic):
            _table.forget(kind)


def definition_for(kind: type) -> NodeDefinition | None:
    """The definition of a type, made for a named tuple; the lock is held."""
    definition = _definitions.get(kind) or _automatic.get(kind)
    if definition is None and _is_namedtuple(kind):
        definition = _namedtuple_definition(kind)
    return definition


def _is_namedtuple(kind: type) -> bool:
    fields = getattr(kind, "_fields", None)
    return (
        issubclass(kind, tuple)
        and isinstance(fields, tuple)
        and all(isinstance(name, str) for name in fields)
        and callable(getattr(kind, "_make", None))
    )


def _namedtuple_definition(kind: type) -> NodeDefinition:
    if len(_automatic) >= _MAX_AUTOMATIC:
        for old in list(_automatic):
            del _automatic[old]
            _table.TABLE.pop(old, None)
    definition = NodeDefinition(
        kind,
        lambda node: (tuple(node), None),
        lambda _, children: kind(*children),
        attributes=kind._fields,  # type: ignore[attr-defined]
    )
    definition.kind = "namedtuple"
    _automatic[kind] = definition
    return definition


# ---------------------------------------------------------------------------- registration


def register_node(definition: NodeDefinition) -> None:
    """Register a node definition.

    Registering a type again from the same module, or a class that was defined again under the same
    module and name, from any module, replaces the former definition with a ``RedefinitionNotice``:
    it is what running a cell of a notebook twice does. Existing tree definitions keep theirs.

    Raises:
        TreeError: the type is a built-in container, or another module registered it; the message
            names both, with their distributions, versions and files.
    """
    if not isinstance(definition, NodeDefinition):
        raise TypeError(f"register_node takes a NodeDefinition, but got {definition!r:.80}.")
    kind = definition.type
    with lock:
        former = _definitions.get(kind)
        namesake = _by_name.get(definition.serialized_name)
        replaced = former or namesake
        is_allowed = replaced is None or _may_replace(definition, replaced)
        if is_allowed:
            _set(kind, definition)
    if replaced is None:
        return
    if not is_allowed:
        raise _conflict(definition, replaced)
    if "<locals>" not in kind.__qualname__:
        module, file, line = definition._site
        warnings.warn_explicit(
            f"The pytree node type {definition.serialized_name} was registered again; the newer "
            f"definition ({_place(definition)}) replaces the one of {_place(replaced)}. Structures "
            f"made before keep the former one.",
            RedefinitionNotice,
            file,
            line,
            module,
        )


def _set(kind: type, definition: NodeDefinition | None) -> None:
    """Put a definition in force, or take one out of force; the lock is held."""
    former = _definitions.pop(kind, None)
    journal = _journal.get()
    if journal is not None:
        journal.append((kind, former))
    if former is not None and _by_name.get(former.serialized_name) is former:
        del _by_name[former.serialized_name]
    if definition is not None:
        _definitions[kind] = definition
        _by_name[definition.serialized_name] = definition
    _table.forget(kind)


def _may_replace(new: NodeDefinition, old: NodeDefinition) -> bool:
    if old.kind != "custom" or _is_core(old):
        return False
    if new.type is not old.type and "<locals>" in new.type.__qualname__:
        return True  # a function that defines a class was called twice: two types, both in use
    if new.type is not old.type and new.type.__module__ == old.type.__module__:
        return True  # the class was defined again, whoever registers it now
    return new._site.module == old._site.module


def _is_core(definition: NodeDefinition) -> bool:
    return definition._site.module.startswith("bindax_core.")


def _conflict(new: NodeDefinition, old: NodeDefinition) -> TreeError:
    if _is_core(old):
        return TreeError(
            f"{type_name(old.type)} is a pytree node type of bindax itself and cannot be "
            f"registered again (tried {_place(new)})."
        )
    what = "" if new.type is old.type else " (two classes of the same module and name)"
    return TreeError(
        f"Duplicate registration of the pytree node type {type_name(new.type)}{what}: it is "
        f"registered by {_owner(old)}, and {_owner(new)} registers it again. Remove one of the two "
        f"registrations, or call unregister_pytree_node first."
    )


def _place(definition: NodeDefinition) -> str:
    return "{}, {}:{}".format(*definition._site)


def _owner(definition: NodeDefinition) -> str:
    return f"module {definition._site.module} of {provenance(definition)}"


def provenance(definition: NodeDefinition) -> Provenance:
    """Return the distribution, version, file and line of a definition."""
    found: Provenance = runtime.plugins.provenance_of(definition._site)
    return found


def unregister_pytree_node(nodetype: Any) -> NodeDefinition:
    """Make instances of a type leaves again.

    Structures made before keep the definition and still unflatten.

    Returns:
        The definition, which ``register_node`` accepts.

    Raises:
        TreeError: the type is not registered, or is a built-in container.

    >>> import bindax_core.tree_util as tree
    >>> class Couple(list):
    ...     pass
    >>> tree.register_pytree_node(Couple, lambda p: (tuple(p), None), lambda _, xs: Couple(xs))
    >>> tree.unregister_pytree_node(Couple).type.__name__
    'Couple'
    >>> tree.is_registered(Couple)
    False
    """
    with lock:
        definition = _definitions.get(nodetype)
        if definition is not None and not _is_core(definition):
            _set(nodetype, None)
            return definition
    if definition is not None:
        raise TreeError(
            f"{type_name(nodetype)} is a pytree node type of bindax itself and cannot be removed."
        )
    name = type_name(nodetype) if isinstance(nodetype, type) else repr(nodetype)
    raise TreeError(f"{name} is not registered as a pytree node type, so it cannot be removed.")


@contextlib.contextmanager
def scoped_registration(*definitions: NodeDefinition) -> Iterator[None]:
    """Undo at the end of a ``with`` block all that was registered and unregistered in it.

    The registrations are visible to all threads meanwhile; only those made by the block's own
    thread (or task) are undone.

    Args:
        definitions: what to register on entry.

    Raises:
        TreeError: as ``register_node``.

    >>> import bindax_core.tree_util as tree
    >>> class Box(list):
    ...     pass
    >>> with tree.scoped_registration():
    ...     tree.register_pytree_node(Box, lambda b: (tuple(b), None), lambda _, xs: Box(xs))
    ...     tree.tree_leaves(Box([1, 2]))
    [1, 2]
    >>> tree.tree_leaves(Box([1, 2]))
    [[1, 2]]
    """
    with journaled() as journal:
        try:
            for definition in definitions:
                register_node(definition)
            yield
        finally:
            undo(journal)


@contextlib.contextmanager
def journaled() -> Iterator[list[_Undo]]:
    """Collect what is registered and unregistered in a ``with`` block, for ``undo``."""
    journal: list[_Undo] = []
    token = _journal.set(journal)
    try:
        yield journal
    finally:
        _journal.reset(token)


@journaled()  # what is undone is no change to undo
def undo(journal: list[_Undo]) -> None:
    """Undo what ``journaled`` collected."""
    with lock:
        for kind, former in reversed(journal):
            _set(kind, former)


# ------------------------------------------------------------------------------- questions


def find_definition(kind: type) -> NodeDefinition | None:
    """The definition that is in force for a type, or None for a leaf."""
    if _table.kind_of(kind) is None:
        return None
    return _definitions.get(kind) or _automatic.get(kind)


def find_node_definition(name: str) -> NodeDefinition | None:
    """The definition of a serialized name, without importing anything; None if there is none.

    Types that are not registered, such as named tuples, are found by ``module:qualname`` in modules
    that have been imported already.
    """
    found = _by_name.get(name)
    if found is None:
        module, _, qualname = name.partition(":")
        kind = imported_object(module, qualname)
        found = find_definition(kind) if isinstance(kind, type) else None
    return found


def definition_of(kind: type) -> NodeDefinition:
    """The definition that is in force for a type; raises ``TreeError`` for a leaf type."""
    definition = find_definition(kind)
    if definition is None:
        raise TreeError(
            f"{type_name(kind)} is not registered as a pytree node type in this process. Import "
            f"the module that registers it, or call register_pytree_node."
        )
    return definition


copyreg.pickle(NodeDefinition, lambda definition: (definition_of, (definition.type,)))


def is_registered(nodetype: object) -> bool:
    """Tell whether instances of a type are pytree nodes.

    A plugin that offers the type is loaded. Named tuples need no registration and count.

    >>> import bindax_core.tree_util as tree
    >>> tree.is_registered(dict), tree.is_registered(int)
    (True, False)
    """
    return isinstance(nodetype, type) and _table.kind_of(nodetype) is not None


def registered_by(nodetype: object) -> Provenance | None:
    """Return the distribution, version, module, file and line of a type; None for a leaf type.

    >>> import bindax_core.tree_util as tree
    >>> tree.registered_by(int) is None
    True
    """
    definition = find_definition(nodetype) if isinstance(nodetype, type) else None
    return None if definition is None else provenance(definition)


def registered_nodes() -> list[NodeDefinition]:
    """All registered definitions, sorted by name; plugins that were not needed are not loaded.

    >>> isinstance(registered_nodes(), (list, tuple, dict))
    True
    """
    with lock:
        definitions = list(_by_name.values())
    return sorted(definitions, key=lambda definition: definition.serialized_name)


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Any, Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Any, Any]] | None = None,
) -> None:
    """Make instances of a type pytree nodes.

    Args:
        nodetype: the type; its subclasses are not affected.
        flatten_func: from an instance to ``(children, metadata)``.
        unflatten_func: from ``(metadata, children)`` to an instance; the children can be anything.
        flatten_with_keys_func: from an instance to ``([(key, child), ...], metadata)``.

    Raises:
        TreeError: an argument is of the wrong kind, or another module registered the type.

    >>> from bindax_core.tree_util import register_pytree_node, tree_map
    >>> class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    ...     def __repr__(self):
    ...         return f"Pair({self.x}, {self.y})"
    >>> register_pytree_node(Pair, lambda p: ((p.x, p.y), None), lambda _, xs: Pair(*xs))
    >>> tree_map(lambda leaf: leaf * 10, [Pair(1, 2)])
    [Pair(10, 20)]
    """
    register_node(NodeDefinition(nodetype, flatten_func, unflatten_func, flatten_with_keys_func))
