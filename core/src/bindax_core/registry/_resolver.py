"""Look-ups on a miss: load the plugins that offer a rule, a type, a name.

Each question is answered from the manifest, so that just the plugins that offer the thing are
loaded. A hit never comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from bindax_core._extension_points import Plugins
from bindax_core._site import Site
from bindax_core.errors import PluginConflictError, PluginError, PluginVersionError
from bindax_core.registry._loader import AVAILABLE, LOADED, QUARANTINED, Loader, Plugin
from bindax_core.registry._manifest import PLUGINS, Entry, Manifest
from bindax_core.registry._plugin_settings import Settings
from bindax_core.registry._provenance import Provenance, provenance_of
from bindax_core.registry._registrations import Declaration, label_of, offers
from bindax_core.tree._node_definition import qualified_name

_RULE_KINDS = ("rule_kinds", "canonical_rule_kinds")


class Resolver(Plugins):
    """Answers the questions of ``Plugins`` by loading plugins; what cannot be used raises.

    ``declared`` finds a primitive by name among those declared in this process, whether a plugin
    offers it or not.
    """

    def __init__(self, loader: Loader, declared: Callable[[str], Any] = lambda name: None) -> None:
        self.loader = loader
        self._declared = declared
        # For each question, the manifest and the settings that it was last answered from.
        self._answers: dict[str, tuple[Manifest, Settings, bool]] = {}

    # ------------------------------------------------------------------------------- rules

    def load_for_rule(self, kind: str, primitive: Any) -> bool:
        loaded = self._answer(f"rule {kind}", lambda: self.loader.manifest().find("rules", kind))
        for (one, key), conflict in list(self.loader.registrations.conflicts.items()):
            if one == "rule" and conflict.winner is None and key[:2] == (kind, primitive):
                raise PluginConflictError(conflict.message)
        return loaded

    def candidates(self, kind: str) -> list[str]:
        current = self.loader.manifest()
        texts = [
            f"{plugin.entry.distribution.label}{self._excuse(plugin)}"
            for plugin in dict.fromkeys(self._plugins(current.find("rules", kind)))
        ]
        refused = dict.fromkeys(entry.distribution for entry in current.refused("rules", kind))
        texts.extend(f"{one.label} (refused: {current.remedy(one.name)})" for one in refused)
        return texts

    def failure_behind_rule(self, kind: str) -> PluginError | None:
        return self._failure(self.loader.manifest().find("rules", kind))

    def provenance_of(self, site: Site) -> Provenance:
        return provenance_of(site)

    def describe_site(self, site: Site) -> str:
        return str(provenance_of(site))

    def find_rule_kind(self, name: str, maker: str = "") -> Any:
        return self._import(_RULE_KINDS, name, maker)

    def rule_kind_names(self, *, canonical: bool = False) -> list[str]:
        current = self.loader.manifest()
        groups = _RULE_KINDS[1:] if canonical else _RULE_KINDS
        return [entry.name for group in groups for entry in current.entries(group)]

    # ---------------------------------------------------------------------------- settings

    def find_setting(self, name: str, maker: str = "") -> Any:
        return self._import(("settings",), name, maker)

    def setting_names(self) -> list[str]:
        return [entry.name for entry in self.loader.manifest().entries("settings")]

    def _import(self, groups: Sequence[str], name: str, maker: str) -> Any:
        """Import what the first entry of a name offers; None where there is none, or it is made."""
        current = self.loader.manifest()
        entries = [entry for group in groups for entry in current.find(group, name)]
        if not entries or entries[0].module == maker:
            return None
        with self.loader.outside_traces():
            return getattr(import_module(entries[0].module), entries[0].attribute)

    # ------------------------------------------------------------------------------- types

    def load_for_type(self, type_: type) -> bool:
        entries = self._type_entries(type_)
        if not entries:
            return False
        registrations = self.loader.registrations
        for kind in ("pytree", "value"):
            of_kind = [entry for entry in entries if entry.kind == f"{kind}s"]
            if of_kind and registrations.held(kind, type_) is None:
                self._load_for(kind, type_, of_kind)
        return any(registrations.held(kind, type_) is not None for kind in ("pytree", "value"))

    def _type_entries(self, type_: type) -> Sequence[Entry]:
        current = self.loader.manifest()
        name = qualified_name(type_)
        found: Sequence[Entry] = current.types(name) or self._aliases(current, type_)
        if not found and current.refusals:
            for entry in (*current.refused("pytrees", name), *current.refused("values", name)):
                raise self._version_error(entry, f"the type {name}")
        return self._allowed(found)

    def _aliases(self, current: Manifest, type_: type) -> list[Entry]:
        """Entries that name the type where it is re-exported; it exists, so that is imported."""
        package = str(type_.__module__).partition(".")[0]
        return [
            entry
            for entry in (*current.entries("pytrees"), *current.entries("values"))
            if entry.offered_name.partition(":")[0].partition(".")[0] == package
            and offers(entry, type_)
        ]

    # ---------------------------------------------------------------- operations, backends

    def load_for_operations(self, attribute: str | None = None) -> bool:
        """Load the plugins that offer array operations; whether looking again makes sense.

        An entry named ``array`` offers operations and operators; the others offer further
        attributes, and are loaded when ``attribute`` is wanted and not there yet; ``*`` wants all.
        """
        current, registrations = self.loader.manifest(), self.loader.registrations
        entries = current.find("operations", "array")
        loaded = self._answer("operations", lambda: entries)
        if attribute is not None:
            if registrations.held("attribute", attribute) is None:
                entries = current.entries("operations")
                loaded = self._answer("attributes", lambda: entries)
            registrations.check("attribute", attribute)
        if not registrations.of_kind("operations"):
            for kind, key in list(registrations.conflicts):
                if kind == "operations":
                    registrations.check(kind, key)
            if not loaded:
                self._raise_failure(entries)
        return loaded

    def load_accelerator(self) -> None:
        """Load the plugin that offers fast paths, if there is one; without it, Python does all."""
        self._answer("accelerators", lambda: self.loader.manifest().entries("accelerators"))

    def load_backends(self, name: str | None = None) -> list[Any]:
        """Load the plugins that offer a backend, or any; those in force, the first to use first."""
        current = self.loader.manifest()
        registrations = self.loader.registrations
        if name is None:
            self._answer("backends", lambda: current.entries("backends"))
        elif registrations.held("backend", name) is None:
            self._load_for("backend", name, self._allowed(current.find("backends", name)))
        found = [declaration.value for declaration in registrations.of_kind("backend")]
        return sorted(found, key=lambda backend: (-backend.priority, backend.name))

    # ---------------------------------------------------------- primitives, transformations

    def find_primitive(self, name: str) -> Any:
        return self.find_named("primitive", name)

    def load_distribution(self, name: str) -> None:
        """Load the plugins of a distribution, as far as they may load."""
        current = self.loader.manifest()
        for entry in current.refused(PLUGINS):
            if entry.distribution.name == name:
                raise self._version_error(entry, f"the plugin {entry.name!r}")
        entries = [entry for entry in current.entries(PLUGINS) if entry.distribution.name == name]
        self._load(entries)
        self._raise_failure(entries)

    def find_named(self, kind: str, name: str) -> Any:
        """The primitive or transformation of a name, loading its plugin; None if there is none."""
        registrations = self.loader.registrations
        registrations.check(kind, name)
        label, current = label_of(kind, name), self.loader.manifest()
        offered: Sequence[Entry] = ()
        held = registrations.held(kind, name)
        if held is None:
            offered = current.find(f"{kind}s", name)
            held = self._load_for(kind, name, self._allowed(offered))
        if held is not None:
            return held.value
        if kind == "primitive" and (found := self._declared(name)) is not None:
            return found
        for entry in current.refused(f"{kind}s", name):
            raise self._version_error(entry, label)
        for plugin in self._plugins(offered):
            excuse = self._excuse(plugin) or " (but the plugin did not bring it)"
            raise PluginError(f"{label} is offered by {plugin.entry.distribution.label}{excuse}.")
        return None

    # ------------------------------------------------------------------------------ common

    def _plugins(self, entries: Iterable[Entry]) -> list[Plugin]:
        """The plugins behind some entries."""
        return [plugin for entry in entries for plugin in self.loader.plugins_behind(entry)]

    def _allowed(self, entries: Iterable[Entry]) -> list[Entry]:
        entries = list(entries)
        may_load = self.loader.registrations.may_load
        allowed = {one for one in {entry.distribution for entry in entries} if may_load(one)}
        return [entry for entry in entries if entry.distribution in allowed]

    def _answer(self, question: str, entries: Callable[[], Sequence[Entry]]) -> bool:
        """Load all that answers a question, once; whether any of it is loaded.

        The answer is yes also when another thread loaded it between the miss and the question.
        """
        manifest, settings = self.loader.manifest(), self.loader.settings()
        known = self._answers.get(question)
        if known is not None and known[0] is manifest and known[1] is settings:
            return known[2]
        offered = entries()
        loaded = self._load(offered)
        if not self._waiting(offered):
            self._answers[question] = (manifest, settings, loaded)
        return loaded

    def _waiting(self, entries: Iterable[Entry]) -> list[Plugin]:
        """The plugins that could not load because they are being imported right now."""
        plugins = self._plugins(entries) if self.loader.settings().autoload else []
        return [one for one in plugins if one.status == AVAILABLE and self.loader.may_load(one)]

    def _load(self, entries: Iterable[Entry]) -> bool:
        """Load the plugins behind entries, if they may; whether any of them is loaded."""
        plugins = self._plugins(entries)
        if self.loader.settings().autoload:
            for plugin in plugins:
                self.loader.load(plugin)
        return any(plugin.status == LOADED for plugin in plugins)

    def _load_for(self, kind: str, key: Any, entries: Sequence[Entry]) -> Declaration | None:
        """Load what the one distribution offers that is to provide something; its declaration."""
        chosen = entries
        conflict = self.loader.registrations.offered_conflict(entries)
        if conflict is not None:
            if conflict.winner is None:
                raise PluginConflictError(conflict.message)
            chosen = [entry for entry in entries if entry.distribution.name == conflict.winner]
        self._load(chosen)
        self.loader.registrations.check(kind, key)
        held = self.loader.registrations.held(kind, key)
        if held is None:
            self._raise_failure(chosen)
            waiting = self._waiting(chosen) if kind in ("pytree", "value") else []
            if waiting:
                label = label_of(kind, chosen[0].offered_name)
                raise PluginError(
                    f"{label} is offered by the {waiting[0].label}, which is being imported right "
                    f"now. Use it after the import, not in the body of the module."
                )
        return held

    def _failure(self, entries: Iterable[Entry]) -> PluginError | None:
        failed = (one for one in self._plugins(entries) if one.status == QUARANTINED)
        return next((plugin.failure() for plugin in failed), None)

    def _raise_failure(self, entries: Iterable[Entry]) -> None:
        failure = self._failure(entries)
        if failure is not None:
            raise failure

    def _version_error(self, entry: Entry, label: str) -> PluginVersionError:
        remedy = self.loader.manifest().remedy(entry.distribution.name)
        return PluginVersionError(f"{label} is offered by a plugin that was refused: {remedy}")

    def _excuse(self, plugin: Plugin) -> str:
        """Why a plugin does not help, in brackets; empty when it is loaded."""
        settings = self.loader.settings()
        denied = settings.refusal(plugin.entry)
        if plugin.status == QUARANTINED:
            reason = f"{type(plugin.error).__name__}: {plugin.error}"
            return f" (failed to load: {reason}; see `bindax doctor`)"
        if denied is not None:
            return f" (not loaded: {denied})"
        if plugin.status == AVAILABLE and not settings.autoload:
            source = settings.sources.get("autoload", "code")
            return f" (not loaded: autoload is off by {source}; load_plugins({plugin.name!r}))"
        return " (not loaded)" if plugin.status == AVAILABLE else ""
