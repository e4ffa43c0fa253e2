"""The plugins of this process, as the kernel asks for them.

The rest of the registry is imported at the first question, so that ``import bindax_core`` does not
pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from bindax_core._extension_points import runtime
from bindax_core._settings import Setting
from bindax_core.errors import PluginError
from bindax_core.kernel._rules import wrap_rules
from bindax_core.registry._declared import declare, find_declared, forget

if TYPE_CHECKING:
    from bindax_core.registry._resolver import Resolver


class InstalledPlugins:
    """Makes the resolver of this process at the first question, and has it answer all of them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._resolver: Resolver | None = None

    @property
    def resolver(self) -> Resolver:
        """The resolver of this process."""
        if self._resolver is None:
            from bindax_core.registry._declaration_kinds import KINDS
            from bindax_core.registry._loader import Loader
            from bindax_core.registry._resolver import Resolver

            with self._lock:
                if self._resolver is None:
                    loader = Loader(KINDS, outside_traces=import_scope)
                    self._resolver = Resolver(loader, find_declared)
        return self._resolver

    declare: Final = staticmethod(declare)
    forget: Final = staticmethod(forget)

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self.resolver, name)
        setattr(self, name, answer)  # which is found at once from then on
        return answer


installed: InstalledPlugins = InstalledPlugins()
"""The plugins of this process."""


@contextmanager
def import_scope() -> Iterator[None]:
    """Where plugins are imported: outside traces, with the tree registry's changes undoable."""
    from bindax_core._rollback import on_rollback
    from bindax_core.kernel._stack import eval_context
    from bindax_core.tree._registry import journaled, undo

    with eval_context(), journaled() as journal:
        on_rollback(lambda: undo(journal))
        yield


def _find_rule_checks(wanted: bool) -> None:
    """Load the conformance suite, without which ``config.check_rules`` cannot be on."""
    if wanted:
        try:
            import_module("bindax_testing")
        except ImportError as error:
            raise PluginError(
                "config.check_rules needs the conformance suite: install bindax-testing."
            ) from error


def watch_rules(on: bool) -> None:
    """Turn the debug mode on or off in which the conformance suite checks the results of rules."""
    if on:
        wrap_rules(import_module("bindax_testing").checked_rule)
    elif runtime.wrap_rule is not None:
        wrap_rules(None)


check_rules = Setting(
    "check_rules",
    False,
    """check the results of each rule when it is first used on operands of some types: against
    abstract evaluation, in structure, and transposes for linearity. Costs nothing when off""",
)
check_rules.checks.append(_find_rule_checks)
