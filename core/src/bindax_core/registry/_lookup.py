"""Look-ups on a miss: load the plugins that offer a rule, a type, a name.

Each question is answered from the manifest, so that just the plugins that offer the thing are
loaded. A hit never comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bindax_core.errors import PluginConflictError, PluginError, PluginVersionError
from bindax_core.registry._claims import claimant_of, offers
from bindax_core.registry._control import Settings
from bindax_core.registry._declarations import Conflict
from bindax_core.registry._loader import AVAILABLE, LOADED, QUARANTINED, Loader, Plugin
from bindax_core.registry._manifest import PLUGINS, Entry, Manifest


class Discovery:
    """Answers the kernel's questions by loading plugins.

    Args:
        loader: what loads them.
        declared: finds a primitive by name among those declared in this process, whether a plugin
            offers it or not.
    """

    def __init__(self, loader: Loader, declared: Callable[[str], Any] = lambda name: None) -> None:
        self.loader = loader
        self._declared = declared
        # For each question, the manifest and the settings that it was last answered from.
        self._answers: dict[str, tuple[Manifest, Settings, bool]] = {}
        self._by_package: tuple[Manifest, dict[str, list[Entry]]] | None = None

    # ------------------------------------------------------------------------------- rules

    def load_for_rule(self, kind: str, primitive: Any) -> bool:
        """Load the plugins that bring rules of a kind for primitives of others.

        Returns:
            whether any of them is loaded, so that looking again makes sense.

        Raises:
            PluginConflictError: when two distributions bring this rule and nobody won.
        """
        loaded = self._answer(f"rule {kind}", lambda: self._rule_entries(kind))
        if self.loader.claims.conflicts:
            for (one, key), conflict in list(self.loader.claims.conflicts.items()):
                if one == "rule" and conflict.winner is None and key[:2] == (kind, primitive):
                    raise PluginConflictError(conflict.message)
        return loaded

    def candidates(self, kind: str, primitive: str = "") -> list[str]:
        """The installed distributions that offer rules of a kind, each with why it did not help."""
        entries = self._rule_entries(kind)
        plugins = [plugin for entry in entries for plugin in self.loader.plugins_behind(entry)]
        texts = [
            f"{plugin.entry.distribution.label}{self._excuse(plugin)}"
            for plugin in dict.fromkeys(plugins)
        ]
        for refusal in self.loader.manifest().refusals:
            offered = self.loader.manifest().refused("rules")
            if any(
                entry.distribution == refusal.distribution and entry.offered_name == kind
                for entry in offered
            ):
                texts.append(f"{refusal.distribution.label} (refused: {refusal.remedy})")
        return texts

    def failure_behind_rule(self, kind: str) -> PluginError | None:
        """The failure of a plugin that offers rules of a kind, to chain to a missing-rule error."""
        for entry in self._rule_entries(kind):
            for plugin in self.loader.plugins_behind(entry):
                if plugin.status == QUARANTINED:
                    return plugin.failure()
        return None

    def _rule_entries(self, kind: str) -> list[Entry]:
        entries = self.loader.manifest().entries("rules")
        return [entry for entry in entries if entry.offered_name == kind]

    # ------------------------------------------------------------------------------- types

    def load_for_type(self, type_: type) -> bool:
        """Load the plugin that offers a pytree or value type.

        Returns:
            whether the type is registered now.

        Raises:
            PluginConflictError: when two distributions offer it and nobody won.
            PluginLoadError: when its plugin fails to load.
            PluginVersionError: when its plugin was written for another plugin API version.
        """
        entries = self._type_entries(type_)
        if not entries:
            return False
        claims = self.loader.claims
        for group, kind in (("pytrees", "pytree"), ("values", "value")):
            of_kind = [entry for entry in entries if entry.kind == group]
            if of_kind and claims.held(kind, type_) is None:
                name = of_kind[0].offered_name
                chosen = self._chosen(kind, f"the {kind} type {name}", of_kind)
                self._load(chosen)
                claims.check(kind, type_)
                if claims.held(kind, type_) is None:
                    self._raise_failure(chosen)
                    self._raise_unfinished(f"the {kind} type {name}", chosen)
        return any(claims.held(kind, type_) is not None for kind in ("pytree", "value"))

    def _type_entries(self, type_: type) -> Sequence[Entry]:
        current = self.loader.manifest()
        name = f"{type_.__module__}:{type_.__qualname__}"
        found: Sequence[Entry] = current.types(name)
        if not found:
            found = self._aliases(current, type_)
        if not found and current.refusals:
            for entry in (*current.refused("pytrees"), *current.refused("values")):
                if entry.offered_name == name:
                    raise self._version_error(entry, f"the type {name}")
        return [entry for entry in found if self.loader.claims.may_load(entry)]

    def _aliases(self, current: Manifest, type_: type) -> list[Entry]:
        """Entries that name the type where it is re-exported; it exists, so that is imported."""
        index = self._by_package
        if index is None or index[0] is not current:
            packages: dict[str, list[Entry]] = {}
            for entry in (*current.entries("pytrees"), *current.entries("values")):
                packages.setdefault(entry.module.partition(".")[0], []).append(entry)
            index = self._by_package = (current, packages)
        package = str(type_.__module__).partition(".")[0]
        return [entry for entry in index[1].get(package, ()) if offers(entry, type_)]

    # ---------------------------------------------------------------- operations, backends

    def load_for_operations(self, attribute: str | None = None) -> bool:
        """Load the plugins that offer array operations and operators.

        An entry named ``array`` offers operations and operators; the others offer further
        attributes, and are loaded when one is wanted that is not there yet.

        Args:
            attribute: the array attribute that is wanted, or None for array operations.

        Returns:
            whether any of them is loaded, so that looking again makes sense.

        Raises:
            PluginLoadError: when all that are installed fail.
            PluginConflictError: when two distributions offer the same one and nobody won.
        """
        offered = self.loader.manifest().entries("operations")
        entries = tuple(entry for entry in offered if entry.offered_name == "array")
        loaded = self._answer("operations", lambda: entries)
        claims = self.loader.claims
        if attribute is not None and claims.held("attribute", attribute) is None:
            entries = offered
            loaded = self._answer("attributes", lambda: offered)
        if attribute is not None:
            claims.check("attribute", attribute)
        if not claims.of_kind("operations"):
            for place, conflict in list(claims.conflicts.items()):
                if place[0] == "operations" and conflict.winner is None:
                    raise PluginConflictError(conflict.message)
            if not loaded:
                self._raise_failure(entries)
        return loaded

    def load_backends(self, name: str | None = None) -> list[Any]:
        """Load the plugins that offer backends.

        Args:
            name: the backend that is wanted, or None for all.

        Returns:
            the backends in force, the one with the highest priority first.

        Raises:
            PluginLoadError: when the plugin of the named backend fails.
            PluginConflictError: when two distributions offer the named backend and nobody won.
        """
        current = self.loader.manifest()
        claims = self.loader.claims
        if name is None:
            self._answer("backends", lambda: current.entries("backends"))
        elif claims.held("backend", name) is None:
            offered = [one for one in current.find("backends", name) if claims.may_load(one)]
            chosen = self._chosen("backend", f"the backend {name!r}", offered)
            self._load(chosen)
            claims.check("backend", name)
            if claims.held("backend", name) is None:
                self._raise_failure(chosen)
        found = [staged.value for staged in claims.of_kind("backend")]
        return sorted(found, key=lambda backend: (-backend.priority, backend.name))

    # ---------------------------------------------------------- primitives, transformations

    def find_primitive(self, name: str) -> Any:
        """The primitive of a name, loading the plugin that offers it.

        Returns:
            the primitive, or None when nothing that is installed or declared has the name.

        Raises:
            PluginConflictError: when two distributions offer it and nobody won.
            PluginLoadError: when its plugin fails to load.
            PluginVersionError: when its plugin was written for another plugin API version.
            PluginError: when its plugin is denied, or autoload is off.
        """
        found, offered = self._find_named("primitive", name)
        if found is None:
            found = self._declared(name)
        if found is None:
            self._raise_excuse("primitive", name, offered)
        return found

    def find_transformation(self, name: str) -> Any:
        """The transformation of a name, loading the plugin that offers it.

        Returns:
            the transformation, or None when nothing that is installed offers the name.

        Raises:
            PluginError: as ``find_primitive`` does.
        """
        found, offered = self._find_named("transformation", name)
        if found is None:
            self._raise_excuse("transformation", name, offered)
        return found

    def load_distribution(self, name: str) -> None:
        """Load the plugins of a distribution, as far as they may load.

        Raises:
            PluginLoadError: when one of them fails to load.
            PluginVersionError: when they were written for another plugin API version.
        """
        current = self.loader.manifest()
        for entry in current.refused(PLUGINS):
            if entry.distribution.name == name:
                raise self._version_error(entry, f"the plugin {entry.name!r}")
        entries = [entry for entry in current.entries(PLUGINS) if entry.distribution.name == name]
        self._load(entries)
        self._raise_failure(entries)

    def _find_named(self, kind: str, name: str) -> tuple[Any, Sequence[Entry]]:
        """Return a plugin's offer under a name, or None, and the entries that offer it."""
        claims = self.loader.claims
        claims.check(kind, name)
        held = claims.held(kind, name)
        if held is not None:
            return held.value, ()
        offered = self.loader.manifest().find(f"{kind}s", name)
        allowed = [entry for entry in offered if claims.may_load(entry)]
        chosen = self._chosen(kind, f"the {kind} {name!r}", allowed)
        self._load(chosen)
        claims.check(kind, name)
        held = claims.held(kind, name)
        if held is not None:
            return held.value, offered
        self._raise_failure(chosen)
        return None, offered

    def _raise_excuse(self, kind: str, name: str, offered: Sequence[Entry]) -> None:
        for entry in self.loader.manifest().refused(f"{kind}s", name):
            raise self._version_error(entry, f"the {kind} {name!r}")
        for entry in offered:
            for plugin in self.loader.plugins_behind(entry):
                excuse = self._excuse(plugin) or " (but the plugin did not bring it)"
                raise PluginError(
                    f"the {kind} {name!r} is offered by {plugin.entry.distribution.label}{excuse}."
                )

    # ------------------------------------------------------------------------------ common

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
        plugins = [plugin for entry in offered for plugin in self.loader.plugins_behind(entry)]
        # What could not load because it is being imported right now is asked for again.
        waiting = (
            plugin.status == AVAILABLE and self.loader.may_load(plugin) for plugin in plugins
        )
        if not settings.autoload or not any(waiting):
            self._answers[question] = (manifest, settings, loaded)
        return loaded

    def _load(self, entries: Iterable[Entry]) -> bool:
        """Load the plugins behind entries, if they may; whether any of them is loaded."""
        plugins = [plugin for entry in entries for plugin in self.loader.plugins_behind(entry)]
        if self.loader.settings().autoload:
            for plugin in plugins:
                self.loader.load(plugin)
        return any(plugin.status == LOADED for plugin in plugins)

    def _chosen(self, kind: str, label: str, entries: Sequence[Entry]) -> Sequence[Entry]:
        """The entries of the one distribution that is to provide something."""
        names = list(dict.fromkeys(entry.distribution.name for entry in entries))
        if len(names) < 2:
            return entries
        best = self.loader.claims.best(names)
        if best is None:
            claimants = tuple(claimant_of(entry, self.loader.manifest()) for entry in entries)
            raise PluginConflictError(Conflict(kind, label, claimants).message)
        return [entry for entry in entries if entry.distribution.name == best]

    def _raise_failure(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            for plugin in self.loader.plugins_behind(entry):
                if plugin.status == QUARANTINED:
                    raise plugin.failure()

    def _raise_unfinished(self, label: str, entries: Iterable[Entry]) -> None:
        for entry in entries if self.loader.settings().autoload else ():
            for plugin in self.loader.plugins_behind(entry):
                if plugin.status == AVAILABLE and self.loader.may_load(plugin):
                    raise PluginError(
                        f"{label} is offered by the {plugin.label}, which is being imported right "
                        f"now. Use it after the import, not in the body of the module."
                    )

    def _version_error(self, entry: Entry, label: str) -> PluginVersionError:
        refusal = self.loader.manifest().refusal(entry.distribution.name)
        remedy = "" if refusal is None else refusal.remedy
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

    def conflicts(self) -> list[Conflict]:
        """All conflicts: those that the manifests show, and those found while loading."""
        found = {
            (kind, label): conflict for kind, label, conflict in _static_conflicts(self.loader)
        }
        for conflict in list(self.loader.claims.conflicts.values()):
            found[conflict.kind, conflict.label] = conflict
        return [found[key] for key in sorted(found)]


_STATIC = (
    ("primitives", "primitive"),
    ("pytrees", "pytree"),
    ("values", "value"),
    ("backends", "backend"),
    ("transformations", "transformation"),
)


def _static_conflicts(loader: Loader) -> Iterable[tuple[str, str, Conflict]]:
    current = loader.manifest()
    claims = loader.claims
    allowed = {
        entry.distribution.name
        for entry in current.entries(PLUGINS)
        if loader.settings().refusal(entry) is None
    }
    for group, kind in _STATIC:
        offers: dict[str, list[Entry]] = {}
        for entry in current.entries(group):
            if entry.distribution.name in allowed:
                offers.setdefault(entry.offered_name, []).append(entry)
        for name, entries in offers.items():
            names = list(dict.fromkeys(entry.distribution.name for entry in entries))
            if len(names) < 2:
                continue
            label = f"the {kind} type {name}" if group in ("pytrees", "values") else ""
            label = label or f"the {kind} {name!r}"
            claimants = tuple(claimant_of(entry, current) for entry in entries)
            winner = claims.best(names)
            why = "" if winner is None else "it is ranked first"
            yield kind, label, Conflict(kind, label, claimants, winner, why)
