"""The public functions that load plugins and control them; in ``bindax_core`` and in ``bindax``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PluginError, suggestion
from bindax_core.registry._installed import installed
from bindax_core.tree import _registry as tree

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


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
    import importlib

    from bindax_core.registry import _manifest, _plugin_settings

    importlib.invalidate_caches()
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
    return _found("primitive", name, installed.resolver.find_primitive(name))  # type: ignore[no-any-return]


def find_transformation(name: str) -> Callable[..., Any]:
    """The transformation of a name, loading the plugin that offers it.

    Raises:
        PluginError: as ``find_primitive``.

    >>> find_transformation("grd")
    Traceback (most recent call last):
    bindax_core.errors.PluginError: no installed plugin offers the transformation 'grd'...
    """
    return _found("transformation", name, installed.resolver.find_transformation(name))  # type: ignore[no-any-return]


def transformation_names() -> list[str]:
    """The names of the transformations that installed plugins offer; imports none of them.

    >>> all(isinstance(name, str) for name in transformation_names())
    True
    """
    entries = installed.resolver.loader.manifest().entries("transformations")
    return sorted({entry.name for entry in entries})


def _found(kind: str, name: str, found: Any) -> Any:
    if found is not None:
        return found
    entries = installed.resolver.loader.manifest().entries(f"{kind}s")
    hint = suggestion(name, [entry.name for entry in entries])
    raise PluginError(
        f"no installed plugin offers the {kind} {name!r}.{hint} `bindax plugins` lists what is "
        f"installed."
    )
