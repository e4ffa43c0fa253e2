"""The plugins of this process: as the kernel asks for them, and as programs load and control them.

The rest of the registry is imported at the first question, so that ``import bindax_core`` does not
pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from typing import TYPE_CHECKING, Any, Final

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core._settings import Setting
from bindax_core.errors import PluginError, suggestion
from bindax_core.kernel._rules import wrap_rules
from bindax_core.kernel._stack import eval_context
from bindax_core.registry._declared import declare, find_declared, forget
from bindax_core.tree import _registry as tree

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive
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
    with eval_context(), tree.journaled() as journal:
        on_rollback(lambda: tree.undo(journal))
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

# ------------------------------------------------------------------------- functions of programs


def load_plugins(*names: str) -> list[str]:
    """Load plugins now, for example before starting threads.

    Args:
        names: plugins or distributions; without any, every plugin that may load. Named plugins
            load also when autoload is off.

    Returns:
        The names of the plugins that are loaded now.

    Raises:
        PluginError: when a named plugin is not installed, or is denied.
        PluginLoadError: when a named plugin fails, or in strict mode when any does.

    >>> load_plugins("no-such-plugin")
    Traceback (most recent call last):
    bindax_core.errors.PluginError: no plugin 'no-such-plugin' is installed; installed are: ...
    """
    loader = installed.resolver.loader
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"load_plugins takes names of plugins, but got {name!r:.80}.")
        loader.load_named(name)
    if not names:
        loader.load_all()
    return [plugin.name for plugin in loader.plugins() if plugin.status == "loaded"]


def configure_plugins(
    *,
    allow: Iterable[str] | None = None,
    deny: Iterable[str] | None = None,
    autoload: bool | None = None,
    strict: bool | None = None,
    prefer: Iterable[str] | None = None,
) -> None:
    """Control which plugins may load; wins over environment variables and files.

    Takes effect on what is not loaded yet; None keeps what is set.

    Args:
        allow: the plugins or distributions that may load.
        deny: those that may not; wins over ``allow``. Environment: ``BINDAX_PLUGINS_DENY``.
        autoload: whether a missing rule, type or primitive loads the plugins that offer it.
        strict: whether a plugin that fails to load raises at once, instead of when it is used.
        prefer: of two distributions that offer the same thing, the earlier one here wins.

    Raises:
        PluginError: when a value is of the wrong kind.
    """
    from bindax_core.registry import _plugin_settings

    _plugin_settings.configure(
        allow=allow, deny=deny, autoload=autoload, strict=strict, prefer=prefer
    )
    tree.forget_unregistered()  # types that were leaves may be nodes under other settings


@contextmanager
def plugin_settings(**settings: Any) -> Iterator[None]:
    """Apply ``configure_plugins`` inside a ``with`` block; for tests.

    >>> with plugin_settings(autoload=False):
    ...     pass
    """
    from bindax_core.registry import _plugin_settings

    try:
        with _plugin_settings.configured():
            configure_plugins(**settings)
            yield
    finally:
        tree.forget_unregistered()


def refresh_plugins() -> None:
    """Look for plugins again, after an installation in a running process.

    What is loaded stays; environment variables and configuration files are read again.

    >>> refresh_plugins()
    """
    from bindax_core.registry import _manifest, _plugin_settings

    invalidate_caches()
    _plugin_settings.reload_settings()
    _manifest.refresh_manifest()
    tree.forget_unregistered()


def find_primitive(name: str) -> Primitive:
    """The primitive of a name, loading the plugin that offers it.

    Raises:
        PluginError: when no installed plugin offers it, or its plugin is denied.
        PluginConflictError: when two distributions offer it, and no ranking decides.
        PluginLoadError: when its plugin fails to load.
        PluginVersionError: when its plugin was written for another plugin API version.

    >>> find_primitive("no.such.primitive")
    Traceback (most recent call last):
    bindax_core.errors.PluginError: no installed plugin offers the primitive 'no.such.primitive'...
    """
    return _found("primitive", name)  # type: ignore[no-any-return]


def find_transformation(name: str) -> Callable[..., Any]:
    """The transformation of a name, loading the plugin that offers it.

    Raises:
        PluginError: as ``find_primitive``.

    >>> find_transformation("grd")
    Traceback (most recent call last):
    bindax_core.errors.PluginError: no installed plugin offers the transformation 'grd'...
    """
    return _found("transformation", name)  # type: ignore[no-any-return]


def transformation_names() -> list[str]:
    """The names of the transformations that installed plugins offer; imports none of them.

    >>> all(isinstance(name, str) for name in transformation_names())
    True
    """
    entries = installed.resolver.loader.manifest().entries("transformations")
    return sorted({entry.name for entry in entries})


def _found(kind: str, name: str) -> Any:
    found = installed.resolver.find_named(kind, name)
    if found is not None:
        return found
    entries = installed.resolver.loader.manifest().entries(f"{kind}s")
    hint = suggestion(name, [entry.name for entry in entries])
    raise PluginError(
        f"no installed plugin offers the {kind} {name!r}.{hint} `bindax plugins` lists what is "
        f"installed."
    )
