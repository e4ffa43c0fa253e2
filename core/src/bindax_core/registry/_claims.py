"""Who may have what: claims of distributions, and the conflicts between them.

A name that two distributions offer in their manifests is in conflict whatever is loaded, so that
the outcome does not depend on the order of loading. Unranked, neither gets it, and using it raises.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from bindax_core.errors import PluginConflictError
from bindax_core.registry._control import Settings
from bindax_core.registry._declarations import Claimant, Conflict, Staged
from bindax_core.registry._manifest import PLUGINS, Entry, Manifest
from bindax_core.registry._provenance import file_of

Key = tuple[str, Any]


class Claims:
    """The claims in force, and the conflicts found so far."""

    def __init__(
        self, read_manifest: Callable[[], Manifest], read_settings: Callable[[], Settings]
    ) -> None:
        self._manifest = read_manifest
        self._settings = read_settings
        self._held: dict[Key, tuple[Entry, Staged]] = {}
        self._withheld: dict[Key, list[tuple[Entry, Staged]]] = {}
        self.conflicts: dict[Key, Conflict] = {}

    def held(self, kind: str, key: Any) -> Staged | None:
        """The declaration in force under a key, or None."""
        found = self._held.get((kind, key))
        return None if found is None else found[1]

    def of_kind(self, kind: str) -> list[Staged]:
        """The declarations of a kind that are in force, in the order of installation."""
        return [staged for (one, _), (_, staged) in list(self._held.items()) if one == kind]

    def check(self, kind: str, key: Any) -> None:
        """Raise when what is about to be used is in conflict and nobody won."""
        conflict = self.conflicts.get((kind, key))
        if conflict is not None and conflict.winner is None:
            raise PluginConflictError(conflict.message)

    def take(self, plugin: Entry, staged: Staged) -> bool:
        """Install a declaration, unless another distribution has the better or an equal claim.

        Returns:
            whether it was installed.

        Raises:
            PluginConflictError: when the same distribution claims the same thing twice.
        """
        place = (staged.kind, staged.key)
        rivals = self._rivals(plugin, staged)
        holder = self._held.get(place)
        if holder is not None and holder[0].distribution == plugin.distribution:
            if holder[1].value is staged.value:
                return False
            raise PluginConflictError(
                f"{staged.label} is declared twice by {plugin.distribution.label}: in "
                f"{holder[1].provenance} and in {staged.provenance}. Remove one of them."
            )
        if staged.owner is not None and staged.owner.distribution == plugin.distribution.name:
            raise PluginConflictError(
                f"{staged.label} is declared twice by {plugin.distribution.label}: in "
                f"{staged.owner} and in {staged.provenance}. Remove one of them."
            )
        if not rivals and staged.owner is None:
            self._put(place, plugin, staged)
            return True
        winner, why = self._winner(plugin, staged, rivals)
        self._record(place, plugin, staged, rivals, winner, why)
        if winner == plugin.distribution.name:
            self._evict(place)
            self._put(place, plugin, staged)
            return True
        if winner is None:
            self._evict(place)
        self._withheld.setdefault(place, []).append((plugin, staged))
        return False

    def give_back(self, plugin: Entry, staged: Staged) -> None:
        """Undo ``take``."""
        place = (staged.kind, staged.key)
        holder = self._held.get(place)
        if holder is not None and holder[1] is staged:
            del self._held[place]
            staged.remove()

    def forget(self, plugin: Entry) -> None:
        """Drop the claims of a plugin that failed, and decide anew what they had put in doubt."""
        for place, withheld in list(self._withheld.items()):
            left = [one for one in withheld if one[0] != plugin]
            if place in self._held and len(left) == len(withheld):
                continue
            del self._withheld[place]
            self.conflicts.pop(place, None)
            for entry, staged in left:
                self.take(entry, staged)

    def _put(self, place: Key, plugin: Entry, staged: Staged) -> None:
        staged.install()
        self._held[place] = (plugin, staged)

    def _evict(self, place: Key) -> None:
        holder = self._held.pop(place, None)
        if holder is not None:
            holder[1].remove()
            self._withheld.setdefault(place, []).append(holder)

    # ------------------------------------------------------------------------------ rivals

    def _rivals(self, plugin: Entry, staged: Staged) -> dict[str, Claimant]:
        """The other distributions that claim the same, by name."""
        place = (staged.kind, staged.key)
        known = [*self._withheld.get(place, ())]
        if place in self._held:
            known.append(self._held[place])
        rivals = {
            entry.distribution.name: Claimant(
                entry.distribution, _claim_text(entry, str(one.provenance))
            )
            for entry, one in known
        }
        for entry in self.offers(staged.kind, staged.name):
            rivals.setdefault(entry.distribution.name, claimant_of(entry, self._manifest()))
        rivals.pop(plugin.distribution.name, None)
        return rivals

    def offers(self, kind: str, name: str | None) -> list[Entry]:
        """The manifest entries that offer a name, of distributions with a plugin that may load."""
        if name is None:
            return []
        if kind in ("primitive", "backend", "transformation"):
            found = self._manifest().find(f"{kind}s", name)
        elif kind in ("pytree", "value"):
            found = self._manifest().types(name)
        else:
            return []
        return [entry for entry in found if self.may_load(entry)]

    def may_load(self, entry: Entry) -> bool:
        """Tell whether a distribution has a plugin that the settings let load."""
        settings = self._settings()
        return any(
            settings.refusal(one) is None
            for one in self._manifest().entries(PLUGINS)
            if one.distribution.name == entry.distribution.name
        )

    # ----------------------------------------------------------------------------- verdict

    def best(self, names: list[str]) -> str | None:
        """The first of some distributions in the ranking, or None when none is ranked."""
        settings = self._settings()
        ranked = [(rank, name) for name in names if (rank := settings.rank(name)) is not None]
        return min(ranked)[1] if ranked else None

    def _winner(
        self, plugin: Entry, staged: Staged, rivals: dict[str, Claimant]
    ) -> tuple[str | None, str]:
        owner = "" if staged.owner is None else str(staged.owner.distribution)
        names = [plugin.distribution.name, *rivals, *([owner] if owner else [])]
        ranked = self.best(names)
        if ranked is not None:
            return ranked, f"it is ranked first ({self._settings().sources.get('prefer', 'code')})"
        if owner:
            return owner, "it owns the primitive, and a ranking would have to say otherwise"
        return None, ""

    def _record(
        self,
        place: Key,
        plugin: Entry,
        staged: Staged,
        rivals: dict[str, Claimant],
        winner: str | None,
        why: str,
    ) -> None:
        claimants = dict(rivals)
        if staged.owner is not None:
            name = str(staged.owner.distribution)
            claimants.setdefault(name, Claimant(None, str(staged.owner)))
        claimants[plugin.distribution.name] = Claimant(
            plugin.distribution, _claim_text(plugin, str(staged.provenance))
        )
        ordered = tuple(claimants[name] for name in sorted(claimants))
        self.conflicts[place] = Conflict(staged.kind, staged.label, ordered, winner, why)


def claimant_of(entry: Entry, current: Manifest) -> Claimant:
    """A side of a conflict, as its manifest names it; nothing is imported."""
    module = entry.module
    if entry.kind in ("pytrees", "values"):
        # The type may belong to anybody; what counts is who defines its behaviour.
        module = next((one.module for one in current.plugins_behind(entry)), module)
    file = file_of(module) or f"the module {module}, which was not found"
    text = f"{entry.distribution.label} ({entry.value} by {file}, offered in {entry.place})"
    return Claimant(entry.distribution, text)


def _claim_text(plugin: Entry, provenance: str) -> str:
    label = plugin.distribution.label
    if provenance.startswith(label):
        return provenance
    return f"{label} (plugin {plugin.name!r}, {provenance})"


def offers(entry: Entry, type_: type) -> bool:
    """Tell whether an entry of pytree or value types means a type, by its name or by a re-export.

    Imports nothing: a type that exists was imported, and so was what re-exports it.
    """
    if entry.offered_name == f"{type_.__module__}:{type_.__qualname__}":
        return True
    value: Any = sys.modules.get(entry.module)
    for name in entry.attribute.split("."):
        # vars, because a module's __getattr__ could import something.
        value = vars(value).get(name) if hasattr(value, "__dict__") else None
    return value is type_
