"""Connects the kernel's misses with the discovery of plugins.

``connect`` sets small functions that import the rest of the registry at the first miss, so that
``import bindax_core`` does not pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PluginError
from bindax_core.kernel import _aval, _rule_tables
from bindax_core.kernel._site import Site
from bindax_core.runtime import _backend, _config, _operations
from bindax_core.tree import _registry as tree

if TYPE_CHECKING:
    from bindax_core.registry._lookup import Discovery

_lock = threading.Lock()
_discovery: Discovery | None = None


def discovery() -> Discovery:
    """The discovery of this process, made at the first question."""
    found = _discovery
    return _make() if found is None else found


def _make() -> Discovery:
    global _discovery
    from bindax_core.registry._declared import find_declared
    from bindax_core.registry._installers import installers
    from bindax_core.registry._loader import Loader
    from bindax_core.registry._lookup import Discovery

    with _lock:
        if _discovery is None:
            ready = installers()
            loader = Loader(lambda: ready, outside_traces=_import_scope)
            _discovery = Discovery(loader, find_declared)
        return _discovery


@contextmanager
def _import_scope() -> Iterator[None]:
    """Where plugins are imported: outside traces, with the tree registry's changes undoable."""
    from bindax_core.kernel._trace import new_base
    from bindax_core.kernel._transaction import record_undo
    from bindax_core.registry._installers import journaled_tree, undo_journal

    with new_base(), journaled_tree() as journal:
        record_undo(lambda: undo_journal(journal))
        yield


def _load_for_rule(kind: str, primitive: Any) -> bool:
    return discovery().load_for_rule(kind, primitive)


def load_for_type(type_: type) -> bool:
    """Load the plugin that offers a type; see ``Discovery``."""
    return discovery().load_for_type(type_)


def _load_for_operations(attribute: str | None) -> bool:
    return discovery().load_for_operations(attribute)


def _load_backends(name: str | None = None) -> None:
    discovery().load_backends(name)


def _physical_jaxpr(jaxpr: Any) -> Any:
    """The program that represents one with extended dtypes, by the transformation of that name."""
    turn = discovery().find_transformation("physical_jaxpr")
    if turn is None:
        raise PluginError(
            "a program with extended dtypes is to be compiled, but no installed plugin offers the "
            "transformation 'physical_jaxpr': install bindax-transforms."
        )
    return turn(jaxpr)


def _describe_site(site: Site) -> str:
    from bindax_core.registry._provenance import provenance_of

    return str(provenance_of(site))


def _candidates(kind: str, primitive: str) -> list[str]:
    return discovery().candidates(kind, primitive)


def _failure(kind: str) -> BaseException | None:
    return discovery().failure_behind_rule(kind)


def _check_rules(on: bool) -> None:
    """Turn the debug mode that checks rules on or off."""
    if on:
        try:
            checked_rule = import_module("bindax_testing").checked_rule
        except ImportError as error:
            raise PluginError(
                "config.check_rules needs the conformance kit: install bindax-testing."
            ) from error

        _rule_tables.set_rule_wrapper(checked_rule)
    elif _rule_tables.wrap_rule is not None:
        _rule_tables.set_rule_wrapper(None)


def connect() -> None:
    """Have the kernel ask for plugins on a miss, and obey ``config.check_rules``."""
    _config.set_check_rules_hook(_check_rules)
    if _config.config.check_rules:
        _check_rules(True)
    _rule_tables.set_missing_rule_hook(_load_for_rule)
    _rule_tables.set_descriptions(_describe_site, _candidates, _failure)
    _aval.set_missing_value_type_hook(load_for_type)
    _operations.set_missing_operations_hook(_load_for_operations)
    _backend.set_missing_backend_hook(_load_backends)
    _backend.set_physical_hook(_physical_jaxpr)
    tree.set_missing_type_hook(load_for_type)
