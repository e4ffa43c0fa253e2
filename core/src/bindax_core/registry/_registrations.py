"""Who may have what: registrations of distributions, and the conflicts between them.

The loader knows no table of the kernel: what a hook returned becomes declarations, each with how to
install and remove it. A name that two distributions offer in their manifests is in conflict
whatever is loaded, so that the outcome does not depend on the order of loading. Unranked, neither
gets it, and using it raises.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bindax_core.errors import PluginConflictError
from bindax_core.registry._manifest import PLUGINS, Distribution, Entry, Manifest
from bindax_core.registry._plugin_settings import settings
from bindax_core.registry._provenance import Provenance, file_of
from bindax_core.tree._definition import imported_object

Key = tuple[str, Any]

NAMED = ("primitive", "pytree", "value", "backend", "transformation")
"""The kinds of registrations that manifests offer by name, in a group called by the plural."""


def _nothing() -> None:
    """Offering something under a name is the claim itself."""


@dataclass(eq=False)
class Declaration:
    """One declaration of a plugin, checked and not yet installed.

    Two distributions with one key conflict, unless one is the ``owner``, which has the first right
    to the claim: its primitive definition has the rule that an extension gives again.
    """

    kind: str  # one of ``NAMED``, ``"rule"``, ``"operations"`` or ``"attribute"``
    key: Any  # identifies the claim within its kind
    label: str  # in words, for messages: ``"the primitive 'sin'"``
    value: Any  # what was declared
    provenance: Provenance
    install: Callable[[], None] = _nothing  # may raise, and then leaves nothing behind
    remove: Callable[[], None] = _nothing
    name: str | None = None  # under which manifests offer it, or None when they do not
    owner: Provenance | None = None


@dataclass(eq=False)
class Claimant:
    """One side of a conflict."""

    distribution: Distribution | None
    text: str


@dataclass(eq=False)
class Conflict:
    """Two or more distributions that claim the same thing.

    ``winner`` is the distribution in force, for the reason ``why``, or None when nobody won.
    """

    kind: str
    label: str
    claimants: tuple[Claimant, ...]
    winner: str | None = None
    why: str = ""

    @property
    def summary(self) -> str:
        """Describe the conflict: both declarations, their places, and the side that is in force."""
        sides = " and by ".join(claimant.text for claimant in self.claimants)
        text = f"{self.label} is offered by {sides}."
        if self.winner is None:
            return text
        return f"{text} The one from {self.winner} is in force: {self.why}."

    @property
    def remedy(self) -> str:
        """The remedy of a conflict that nobody won."""
        names = [side.distribution.name for side in self.claimants if side.distribution] or ["NAME"]
        return (
            f"rank the distributions, the winner first, with "
            f"BINDAX_PLUGINS_PREFER={','.join(names)} or prefer = [...] under [plugins] in "
            f"bindax.toml; or deny one with BINDAX_PLUGINS_DENY={names[-1]}; or uninstall it"
        )

    @property
    def message(self) -> str:
        """The summary, and the remedy where there has to be one."""
        if self.winner is not None:
            return self.summary
        return f"{self.summary} It cannot be used until you choose: {self.remedy}."


class Registrations:
    """The registrations in force, and the conflicts found so far."""

    def __init__(self, read_manifest: Callable[[], Manifest]) -> None:
        self._manifest = read_manifest
        self._held: dict[str, dict[Any, tuple[Entry, Declaration]]] = defaultdict(dict)  # by kind
        self._withheld: dict[Key, list[tuple[Entry, Declaration]]] = {}
        self.conflicts: dict[Key, Conflict] = {}

    def held(self, kind: str, key: Any) -> Declaration | None:
        """The declaration in force under a key, or None."""
        found = self._held[kind].get(key)
        return None if found is None else found[1]

    def of_kind(self, kind: str) -> list[Declaration]:
        """The declarations of a kind that are in force, in the order of installation."""
        return [declaration for _, declaration in list(self._held[kind].values())]

    def check(self, kind: str, key: Any) -> None:
        """Raise when what is about to be used is in conflict and nobody won."""
        conflict = self.conflicts.get((kind, key))
        if conflict is not None and conflict.winner is None:
            raise PluginConflictError(conflict.message)

    def register(self, plugin: Entry, declaration: Declaration) -> bool:
        """Install a declaration, unless another distribution has the better or an equal claim."""
        place = (declaration.kind, declaration.key)
        ours = plugin.distribution
        owner = declaration.owner
        former = owner if owner is not None and owner.distribution == ours.name else None
        holder = self._held[declaration.kind].get(declaration.key)
        if holder is not None and holder[0].distribution == ours:
            if holder[1].value is declaration.value:
                return False
            former = holder[1].provenance
        if former is not None:
            raise PluginConflictError(
                f"{declaration.label} is declared twice by {ours.label}: in {former} and in "
                f"{declaration.provenance}. Remove one of them."
            )
        rivals = self._rivals(plugin, declaration)
        if rivals or owner is not None:
            if owner is not None:
                rivals.setdefault(str(owner.distribution), Claimant(None, str(owner)))
            winner, why = self._winner([ours.name, *rivals], owner)
            rivals[ours.name] = _claimant(plugin, declaration)
            claimants = tuple(rivals[name] for name in sorted(rivals))
            self.conflicts[place] = Conflict(
                declaration.kind, declaration.label, claimants, winner, why
            )
            if winner in (None, ours.name):
                self._evict(place)
            if winner != ours.name:
                self._withheld.setdefault(place, []).append((plugin, declaration))
                return False
        declaration.install()
        self._held[declaration.kind][declaration.key] = (plugin, declaration)
        return True

    def unregister(self, plugin: Entry, declaration: Declaration) -> None:
        """Undo ``register``."""
        held = self._held[declaration.kind]
        holder = held.get(declaration.key)
        if holder is not None and holder[1] is declaration:
            del held[declaration.key]
            declaration.remove()

    def forget(self, plugin: Entry) -> None:
        """Drop what a plugin that failed declared, and decide its conflicts anew."""
        for place, withheld in list(self._withheld.items()):
            left = [one for one in withheld if one[0] != plugin]
            if self.held(*place) and len(left) == len(withheld):
                continue
            del self._withheld[place]
            self.conflicts.pop(place, None)
            for entry, declaration in left:
                self.register(entry, declaration)

    def _evict(self, place: Key) -> None:
        kind, key = place
        holder = self._held[kind].pop(key, None)
        if holder is not None:
            holder[1].remove()
            self._withheld.setdefault(place, []).append(holder)

    def _rivals(self, plugin: Entry, declaration: Declaration) -> dict[str, Claimant]:
        """The other distributions that claim the same, by name."""
        place = (declaration.kind, declaration.key)
        known = [*self._withheld.get(place, ())]
        if self.held(*place):
            known.append(self._held[declaration.kind][declaration.key])
        rivals = {entry.distribution.name: _claimant(entry, one) for entry, one in known}
        for entry in self._offers(declaration):
            rivals.setdefault(entry.distribution.name, claimant_of(entry, self._manifest()))
        rivals.pop(plugin.distribution.name, None)
        return rivals

    def _offers(self, declaration: Declaration) -> list[Entry]:
        """The manifest entries that offer the same, of distributions that may load."""
        if declaration.name is None or declaration.kind not in NAMED:
            return []
        if declaration.kind in ("pytree", "value"):
            found = self._manifest().types(declaration.name)
        else:
            found = self._manifest().find(f"{declaration.kind}s", declaration.name)
        return [entry for entry in found if self.may_load(entry.distribution)]

    def may_load(self, distribution: Distribution) -> bool:
        """Tell whether a distribution has a plugin that the settings let load."""
        given = settings()
        return any(
            given.refusal(one) is None
            for one in self._manifest().entries(PLUGINS)
            if one.distribution.name == distribution.name
        )

    def best(self, names: list[str]) -> str | None:
        """The first of some distributions in the ranking, or None when none is ranked."""
        return next((name for name in settings().prefer if name in names), None)

    def _winner(self, names: list[str], owner: Provenance | None) -> tuple[str | None, str]:
        ranked = self.best(names)
        if ranked is not None:
            return ranked, f"it is ranked first ({settings().sources.get('prefer', 'code')})"
        if owner is not None:
            why = "it owns the primitive, and a ranking would have to say otherwise"
            return str(owner.distribution), why
        return None, ""


def _claimant(plugin: Entry, declaration: Declaration) -> Claimant:
    """A side of a conflict, as its plugin declares it."""
    label, text = plugin.distribution.label, str(declaration.provenance)
    if not text.startswith(label):
        text = f"{label} (plugin {plugin.name!r}, {text})"
    return Claimant(plugin.distribution, text)


def claimant_of(entry: Entry, current: Manifest) -> Claimant:
    """A side of a conflict, as its manifest names it; nothing is imported."""
    module = entry.module
    if entry.kind in ("pytrees", "values") and not entry.names_object:
        # The type may belong to anybody; what counts is who defines its behaviour.
        module = next((one.module for one in current.plugins_behind(entry)), module)
    file = file_of(module) or f"the module {module}, which was not found"
    text = f"{entry.distribution.label} ({entry.value} by {file}, offered in {entry.place})"
    return Claimant(entry.distribution, text)


def offers(entry: Entry, type_: type) -> bool:
    """Tell whether an entry of pytree or value types means a type, by its name or by a re-export.

    Imports nothing: a type that exists was imported, and so was what re-exports it.
    """
    if entry.offered_name == f"{type_.__module__}:{type_.__qualname__}":
        return True
    module, _, qualname = entry.offered_name.partition(":")
    return imported_object(module, qualname) is type_
