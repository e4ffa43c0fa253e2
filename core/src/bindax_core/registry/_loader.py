"""Loading plugins: import, collect, check all, install all, or leave no trace.

One thread loads at a time; others that need a plugin wait for the result. The lock of that turn is
the only one that is held while a plugin's code runs. Whatever a plugin raises puts it into
quarantine: what it had registered is removed, its traceback is kept for ``bindax doctor``, and
everything else works.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bindax_core._rollback import transaction
from bindax_core.errors import PluginError, PluginLoadError, PluginWarning
from bindax_core.registry._manifest import PLUGINS, Entry, Manifest, manifest, normalized
from bindax_core.registry._plugin_settings import settings
from bindax_core.registry._registrations import Declaration, Registrations

if TYPE_CHECKING:
    import pluggy

    from bindax_core.registry._declaration_kinds import DeclarationKind

AVAILABLE = "available"
LOADED = "loaded"
QUARANTINED = "quarantined"

# A thread that waits for another one's plugin inside an import may hold the lock of a module that
# the plugin needs. Python cannot see that deadlock, so the wait ends.
_WAIT_INSIDE_IMPORT = 20.0


@dataclass(eq=False)
class Plugin:
    """An installed plugin and what became of it."""

    entry: Entry  # in the group ``bindax.v1``
    status: str = AVAILABLE
    error: BaseException | None = None  # raised while loading
    traceback: str = ""
    seconds: float = 0.0  # that loading took
    installed: list[Declaration] = field(default_factory=list)  # its declarations in force
    declared: list[Declaration] = field(default_factory=list)  # and what conflicts withhold
    target: Any = None  # the module or object with the hooks
    hooks: PluginHooks = field(default_factory=lambda: PluginHooks())

    @property
    def name(self) -> str:
        """The name of its entry point."""
        return self.entry.name

    @property
    def label(self) -> str:
        """Plugin, distribution and version, for messages."""
        return f"plugin {self.name!r} of {self.entry.distribution.label}"

    def failure(self) -> PluginLoadError:
        """The error to raise, from ``error``, when something of a quarantined plugin is used."""
        reason = described(self.error).rstrip(".")
        error = PluginLoadError(
            f"the {self.label} ({self.entry.value}) could not be loaded: {reason}. Nothing of it "
            f"is registered. `bindax doctor` shows the traceback; repair or upgrade the package, "
            f"or deny it with BINDAX_PLUGINS_DENY={self.entry.distribution.name}."
        )
        error.__cause__ = self.error
        return error


class Loader:
    """Loads the plugins of a manifest; ``kinds`` turn what they bring into declarations.

    One pluggy manager has the hooks of all plugins that are loaded, and checks them. Plugins are
    imported, and hooks run, in the context ``outside_traces``, so that what they compute is not
    traced.
    """

    def __init__(
        self,
        kinds: Sequence[DeclarationKind],
        *,
        outside_traces: Callable[[], AbstractContextManager[Any]] = nullcontext,
        read_manifest: Callable[[], Manifest] = manifest,
    ) -> None:
        self._kinds = kinds
        self.outside_traces = outside_traces
        self.manifest = read_manifest
        self.settings = settings
        self.registrations: Registrations = Registrations(read_manifest)
        self._plugins: dict[tuple[str, str], Plugin] = {}
        self._turn = threading.RLock()
        self._loading: list[Plugin] = []

    # ------------------------------------------------------------------------------ asking

    def plugins(self) -> list[Plugin]:
        """All installed plugins, by distribution and name; nothing is imported."""
        return [self.plugin(entry) for entry in self.manifest().entries(PLUGINS)]

    def plugin(self, entry: Entry) -> Plugin:
        """The plugin of an entry in the group ``bindax.v1``."""
        key = (entry.distribution.name, entry.name)
        found = self._plugins.get(key)
        return found if found is not None else self._plugins.setdefault(key, Plugin(entry))

    def plugins_behind(self, entry: Entry) -> list[Plugin]:
        """The plugins to load for what an entry offers; see ``Manifest.plugins_behind``."""
        return [self.plugin(one) for one in self.manifest().plugins_behind(entry)]

    def may_load(self, plugin: Plugin) -> bool:
        """Tell whether the settings let a plugin load."""
        return self.settings().refusal(plugin.entry) is None

    def named(self, name: str) -> list[Plugin]:
        """The plugins with a name, or of a distribution with that name."""
        return [
            plugin
            for plugin in self.plugins()
            if plugin.name == name or plugin.entry.distribution.name == normalized(name)
        ]

    # ----------------------------------------------------------------------------- loading

    def load(self, plugin: Plugin) -> None:
        """Load a plugin, unless it was loaded, failed, is denied, or is being imported right here.

        In strict mode, a failure raises ``PluginLoadError``.
        """
        if plugin.status != AVAILABLE or not self.may_load(plugin):
            return
        if _is_importing(plugin.entry) or not self._begin(plugin):
            return
        start = time.perf_counter()
        try:
            with transaction():
                self._install(plugin, self._collect(plugin))
            plugin.status = LOADED
        except BaseException as error:
            self._roll_back(plugin)
            if isinstance(error, KeyboardInterrupt):
                raise
            cause = error.__cause__ or error
            if isinstance(cause, ImportError | AttributeError) and _is_importing_beside(plugin):
                return  # the package is half imported; it may well load when it is whole
            plugin.error = error
            plugin.traceback = "".join(traceback.format_exception(error))
            plugin.status = QUARANTINED
        finally:
            plugin.seconds = time.perf_counter() - start
            self._end(plugin)
        if plugin.status != QUARANTINED:
            return
        if self.settings().strict:
            raise plugin.failure()
        warnings.warn(str(plugin.failure()), PluginWarning, stacklevel=2)

    def load_named(self, name: str) -> list[Plugin]:
        """Load plugins by name or distribution, whether autoload is on or not, or raise."""
        found = self.named(name)
        if not found:
            remedy = self.manifest().remedy(normalized(name))
            if remedy:
                raise PluginError(remedy)
            known = ", ".join(sorted({plugin.name for plugin in self.plugins()})) or "none"
            raise PluginError(f"{_why_missing(name)}; installed are: {known}.")
        for plugin in found:
            reason = self.settings().refusal(plugin.entry)
            if reason is not None:
                raise PluginError(f"the {plugin.label} may not load: {reason}.")
            self.load(plugin)
            if plugin.status == QUARANTINED:
                raise plugin.failure()
        return found

    def load_all(self) -> None:
        """Load every plugin that may load, in the order of distribution and name."""
        for plugin in self.plugins():
            self.load(plugin)

    # ------------------------------------------------------------------- one plugin at a time

    def _begin(self, plugin: Plugin) -> bool:
        """Wait for the turn to load; False when the plugin is loaded, or being loaded here."""
        is_importing = any(name != "__main__" for name in _modules_running())
        if not self._turn.acquire(timeout=_WAIT_INSIDE_IMPORT if is_importing else -1):
            other = next(reversed(self._loading), plugin)
            raise PluginLoadError(
                f"an import in this thread needs the {plugin.label} while another thread loads "
                f"{other.label} and does not finish; the two probably wait for each other. Load "
                f"plugins before starting threads, with bindax.load_plugins()."
            )
        if plugin.status != AVAILABLE or plugin in self._loading:
            self._turn.release()
            return False
        self._loading.append(plugin)
        return True

    def _end(self, plugin: Plugin) -> None:
        self._loading.remove(plugin)
        self._turn.release()

    # -------------------------------------------------------------------- collect and install

    @cached_property
    def _manager(self) -> pluggy.PluginManager:
        import pluggy  # and the hooks, at the first load

        from bindax_core.registry import _hooks

        manager = pluggy.PluginManager(_hooks.PROJECT)
        manager.add_hookspecs(_hooks)
        return manager

    def _collect(self, plugin: Plugin) -> list[Declaration]:
        """Import a plugin, run its hooks, import what its entries name, and check all of it."""
        declared: list[Declaration] = []
        with self.outside_traces():
            plugin.hooks = self._register(plugin)
            for kind in self._kinds:
                for result in getattr(plugin.hooks, kind.hook)():
                    declared.extend(kind.of_hook(result, plugin.entry))
                # A hook brings all of its kind: entries may offer what it leaves out on purpose.
                if kind.hook not in plugin.hooks:
                    for entry in self._entries(kind.group, plugin):
                        declared.extend(kind.of_entry(entry, _offered_object(entry), plugin.entry))
        return declared

    def _register(self, plugin: Plugin) -> PluginHooks:
        """Import the hooks of a plugin, and have pluggy check them."""
        hooks = PluginHooks()
        if plugin.entry.is_implied:
            return hooks
        manager, target = self._manager, _object_of(plugin.entry)
        for name in dir(target):
            if name.startswith("bindax_"):
                getattr(target, name, None)  # what this raises is a failure of the plugin
        plugin.target = target
        if not manager.is_registered(target):
            manager.register(target, plugin.label)
        manager.check_pending()
        for caller in manager.get_hookcallers(target) or ():
            mine = [one.function for one in caller.get_hookimpls() if one.plugin is target]
            hooks[caller.name] = mine
        return hooks

    def _entries(self, group: str, plugin: Plugin) -> Iterator[Entry]:
        """The entries of a group that name objects of a plugin, which can be imported."""
        for entry in self.manifest().entries(group) if group else ():
            if (
                entry.distribution == plugin.entry.distribution
                and entry.names_object
                and self.manifest().plugins_behind(entry)[0] == plugin.entry
                and (entry.kind not in ("pytrees", "values") or is_found(entry.offered_name))
            ):
                yield entry

    def _install(self, plugin: Plugin, declared: list[Declaration]) -> None:
        for declaration in declared:
            if self.registrations.register(declaration):
                plugin.installed.append(declaration)
        plugin.declared = declared

    def _roll_back(self, plugin: Plugin) -> None:
        for declaration in reversed(plugin.installed):
            self.registrations.unregister(declaration)
        self.registrations.forget(plugin.entry)
        self._manager.unregister(name=plugin.label)
        plugin.installed.clear()


class PluginHooks(dict[str, list[Callable[[], Any]]]):
    """The functions of one plugin, by hook; as attributes, hooks return a list of the results."""

    def __getattr__(self, name: str) -> Callable[[], list[Any]]:
        functions = self.get(name, ())
        return lambda: [result for one in functions if (result := one()) is not None]


def _object_of(entry: Entry) -> Any:
    """Import the object that an entry names."""
    found: Any = importlib.import_module(entry.module)
    for name in filter(None, entry.attribute.split(".")):
        found = getattr(found, name)
    return found


def _offered_object(entry: Entry) -> Any:
    """Import the object that an entry offers, or raise an error that names the entry."""
    try:
        return _object_of(entry)
    except (ImportError, AttributeError) as error:
        missing = missing_in(entry)
        if not missing:
            raise
        raise PluginError(f"{entry.label} names {missing}.") from error


def missing_in(entry: Entry) -> str:
    """The module or object of an entry that is not there, in words; empty when all is."""
    try:
        if entry.module not in sys.modules and importlib.util.find_spec(entry.module) is None:
            # A plugin may serve a library that is not installed.
            is_optional = entry.kind in ("pytrees", "values") and not is_found(entry.offered_name)
            return "" if is_optional else f"the module {entry.module!r}, which is not installed"
    except (ImportError, ValueError):  # of a package that holds it
        return f"the module {entry.module!r}, which cannot be found"
    found: Any = sys.modules.get(entry.module)
    for name in filter(None, entry.attribute.split(".")) if found is not None else ():
        if not hasattr(found, name):
            return f"{entry.attribute!r}, which the module {entry.module!r} does not have"
        found = getattr(found, name)
    return ""


def is_found(name: str) -> bool:
    """Tell whether the top package of a module or type is installed; imports nothing."""
    package = name.partition(":")[0].partition(".")[0]
    return package in sys.modules or importlib.util.find_spec(package) is not None


def described(error: BaseException | None) -> str:
    """An exception by type and text, also one that cannot tell its own."""
    return "".join(traceback.format_exception_only(error)).strip()


def _is_importing(entry: Entry) -> bool:
    """Tell whether this thread is inside the import of a module or of a package that holds it.

    Such a module is in ``sys.modules`` half finished, and a plugin that needs it would fail for no
    fault of its own.
    """
    return any(f"{entry.module}.".startswith(f"{name}.") for name in _modules_running())


def _is_importing_beside(plugin: Plugin) -> bool:
    """Tell whether this thread is inside the import of a module of the plugin's package."""
    package = plugin.entry.module.partition(".")[0]
    return any(name.partition(".")[0] == package for name in _modules_running())


def _modules_running() -> Iterator[str]:
    """The modules whose bodies this thread is running.

    Also those that have put something else into ``sys.modules``. The examples of a docstring run in
    a copy of their module's namespace, and are none.
    """
    for frame, _ in traceback.walk_stack(sys._getframe(1)):
        name = frame.f_globals.get("__name__", "")
        own = getattr(sys.modules.get(name), "__dict__", None)
        is_importing = getattr(frame.f_globals.get("__spec__"), "_initializing", False)
        if frame.f_code.co_name == "<module>" and (frame.f_globals is own or is_importing):
            yield name


def _why_missing(name: str) -> str:
    """Say whether a package of the name of a missing plugin is installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    for package in filter(None, (f"bindax-{name}", name)):
        try:
            return (
                f"{package} {version(package)} is installed, but it is no plugin: it declares "
                f"nothing to load or check, and is used by importing it"
            )
        except PackageNotFoundError:
            continue
    return f"no plugin {name!r} is installed"
