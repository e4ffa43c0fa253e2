"""The plugins of this process, as the kernel asks for them.

The rest of the registry is imported at the first question, so that ``import bindax_core`` does not
pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PluginError
from bindax_core.kernel._rule_tables import wrap_rules
from bindax_core.kernel._site import Site
from bindax_core.runtime._runtime import Plugins, runtime

if TYPE_CHECKING:
    from bindax_core.registry._lookup import Discovery


class InstalledPlugins(Plugins):
    """Answers what the kernel asks; see ``Plugins`` of the runtime."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._discovery: Discovery | None = None

    @property
    def discovery(self) -> Discovery:
        """The discovery of this process, made at the first question."""
        found = self._discovery
        return self._make() if found is None else found

    def _make(self) -> Discovery:
        from bindax_core.kernel._primitives_by_name import find_declared
        from bindax_core.registry._installers import STAGES
        from bindax_core.registry._loader import Loader
        from bindax_core.registry._lookup import Discovery

        with self._lock:
            if self._discovery is None:
                loader = Loader(STAGES, outside_traces=import_scope)
                self._discovery = Discovery(loader, find_declared)
            return self._discovery

    def load_for_rule(self, kind: str, primitive: Any) -> bool:
        """See ``Plugins``."""
        return self.discovery.load_for_rule(kind, primitive)

    def load_for_type(self, type_: type) -> bool:
        """See ``Plugins``."""
        return self.discovery.load_for_type(type_)

    def load_for_operations(self, attribute: str | None = None) -> bool:
        """See ``Plugins``."""
        return self.discovery.load_for_operations(attribute)

    def load_backends(self, name: str | None = None) -> list[Any]:
        """See ``Plugins``."""
        return self.discovery.load_backends(name)

    def describe_site(self, site: Site) -> str:
        """See ``Plugins``."""
        from bindax_core.registry._provenance import provenance_of

        return str(provenance_of(site))

    def candidates(self, kind: str, primitive: str) -> list[str]:
        """See ``Plugins``."""
        return self.discovery.candidates(kind, primitive)

    def failure_behind_rule(self, kind: str) -> BaseException | None:
        """See ``Plugins``."""
        return self.discovery.failure_behind_rule(kind)

    def physical_jaxpr(self, jaxpr: Any) -> Any:
        """See ``Plugins``; the transformation of that name does it."""
        turn = self.discovery.find_transformation("physical_jaxpr")
        if turn is None:
            raise PluginError(
                "a program with extended dtypes is to be compiled, but no installed plugin offers "
                "the transformation 'physical_jaxpr': install bindax-transforms."
            )
        return turn(jaxpr)

    def constrained(self, x: Any, sharding: Any) -> Any:
        """See ``Plugins``; the primitive ``sharding_constraint`` does it."""
        constraint = self.discovery.find_primitive("sharding_constraint")
        if constraint is None:
            raise PluginError(
                "an array is to be divided anew among its devices, but no installed plugin offers "
                "the primitive 'sharding_constraint': install bindax-transforms."
            )
        return constraint.bind(x, sharding=sharding)


installed = InstalledPlugins()
"""The plugins of this process."""


@contextmanager
def import_scope() -> Iterator[None]:
    """Where plugins are imported: outside traces, with the tree registry's changes undoable."""
    from bindax_core.kernel._stack import new_base
    from bindax_core.runtime._transaction import record_undo
    from bindax_core.tree._registry import journaled, undo

    with new_base(), journaled() as journal:
        record_undo(lambda: undo(journal))
        yield


def check_rules(on: bool) -> None:
    """Turn the debug mode on or off in which the conformance kit checks the results of rules."""
    if on:
        try:
            kit = import_module("bindax_testing")
        except ImportError as error:
            raise PluginError(
                "config.check_rules needs the conformance kit: install bindax-testing."
            ) from error
        wrap_rules(kit.checked_rule)
    elif runtime.wrap_rule is not None:
        wrap_rules(None)
