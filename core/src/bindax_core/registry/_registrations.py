"""Registrations: the declarations of distributions, and the conflicts between them.

The loader knows no table of the kernel: what a plugin brings becomes declarations, each with how to
install and remove it. A name that two distributions offer in their manifests is in conflict
whatever is loaded, so that the outcome does not depend on the order of loading. Unranked, neither
gets it, and using it raises.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bindax_core.errors import PluginConflictError
from bindax_core.registry._manifest import PLUGINS, Distribution, Entry, Manifest
from bindax_core.registry._plugin_settings import settings
from bindax_core.registry._provenance import Provenance, file_of
from bindax_core.tree._node_definition import imported_object, qualified_name

Key = tuple[str, Any]

NAMED = ("primitive", "pytree", "value", "backend", "transformation")
"""The kinds of declarations that manifests offer by name, in a group called by the plural."""


@dataclass(eq=False)
class Declaration:
    """One declaration of a plugin, checked and not yet installed.

    Two distributions with one key conflict, unless one is the ``owner``, which has the first right:
    its primitive definition has the rule that an extension gives again.

    Attributes:
        plugin: the entry of the plugin.
        kind: one of ``NAMED``, ``"rule"``, ``"operations"`` or ``"attribute"``.
        key: identifies the declaration within its kind.
        value: what was declared.
        name: under which manifests offer it, or None when they do not.
        label: the declaration in words, for messages, where that is not the kind and the name.
        install: may raise, and then leaves nothing behind.
    """

    plugin: Entry
    kind: str
    key: Any
    value: Any
    provenance: Provenance
    name: str | None = None
    label: str = ""
    install: Callable[[], None] = lambda: None
    remove: Callable[[], None] = lambda: None
    owner: Provenance | None = None

    def __post_init__(self) -> None:
        self.label = self.label or label_of(self.kind, str(self.name))

    @property
    def claimant(self) -> Claimant:
        """A side of a conflict, as the plugin declares it."""
        label, text = self.plugin.distribution.label, str(self.provenance)
        if not text.startswith(label):
            text = f"{label} (plugin {self.plugin.name!r}, {text})"
        return Claimant(self.plugin.distribution, text)


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
    """The declarations in force, and the conflicts found so far."""

    def __init__(self, read_manifest: Callable[[], Manifest]) -> None:
        self._manifest = read_manifest
        self._held: dict[str, dict[Any, Declaration]] = defaultdict(dict)  # by kind and key
        self._withheld: dict[Key, list[Declaration]] = {}
        self.conflicts: dict[Key, Conflict] = {}

    def held(self, kind: str, key: Any) -> Declaration | None:
        """The declaration in force under a key, or None."""
        return self._held[kind].get(key)

    def of_kind(self, kind: str) -> list[Declaration]:
        """The declarations of a kind that are in force, in the order of installation."""
        return list(self._held[kind].values())

    def check(self, kind: str, key: Any) -> None:
        """Raise when what is about to be used is in conflict and nobody won."""
        conflict = self.conflicts.get((kind, key))
        if conflict is not None and conflict.winner is None:
            raise PluginConflictError(conflict.message)

    def register(self, new: Declaration) -> bool:
        """Install a declaration, unless another distribution has the better or an equal claim."""
        key, ours, owner = (new.kind, new.key), new.plugin.distribution, new.owner
        held = self.held(*key)
        former = owner if owner is not None and owner.distribution == ours.name else None
        if held is not None and held.plugin.distribution == ours:
            if held.value is new.value:
                return False
            former = held.provenance
        if former is not None:
            raise PluginConflictError(
                f"{new.label} is declared twice by {ours.label}: in {former} and in "
                f"{new.provenance}. Remove one of them."
            )
        rivals = self._rivals(new)
        if rivals:
            winner, why = self._winner([ours.name, *rivals], owner)
            rivals[ours.name] = new.claimant
            claimants = tuple(rivals[name] for name in sorted(rivals))
            self.conflicts[key] = Conflict(new.kind, new.label, claimants, winner, why)
            if winner in (None, ours.name) and held is not None:
                self.unregister(held)
                self._withheld.setdefault(key, []).append(held)
            if winner != ours.name:
                self._withheld.setdefault(key, []).append(new)
                return False
        new.install()
        self._held[new.kind][new.key] = new
        return True

    def unregister(self, declaration: Declaration) -> None:
        """Undo ``register``."""
        if self.held(declaration.kind, declaration.key) is declaration:
            del self._held[declaration.kind][declaration.key]
            declaration.remove()

    def forget(self, plugin: Entry) -> None:
        """Drop what a plugin that failed declared, and decide its conflicts anew."""
        for key, withheld in list(self._withheld.items()):
            left = [one for one in withheld if one.plugin != plugin]
            if self.held(*key) is None or len(left) != len(withheld):
                del self._withheld[key]
                self.conflicts.pop(key, None)
                for declaration in left:
                    self.register(declaration)

    def _rivals(self, new: Declaration) -> dict[str, Claimant]:
        """The others that claim the same, by the name of the distribution."""
        known = [*self._withheld.get((new.kind, new.key), ()), self.held(new.kind, new.key)]
        rivals = {one.plugin.distribution.name: one.claimant for one in known if one is not None}
        for entry in self._offers(new):
            if self.may_load(entry.distribution):
                rivals.setdefault(entry.distribution.name, claimant_of(entry, self._manifest()))
        rivals.pop(new.plugin.distribution.name, None)
        if new.owner is not None:
            rivals.setdefault(str(new.owner.distribution), Claimant(None, str(new.owner)))
        return rivals

    def _offers(self, new: Declaration) -> Sequence[Entry]:
        if new.name is None or new.kind not in NAMED:
            return ()
        if new.kind in ("pytree", "value"):
            return self._manifest().types(new.name)
        return self._manifest().find(f"{new.kind}s", new.name)

    def may_load(self, distribution: Distribution) -> bool:
        """Tell whether a distribution has a plugin that the settings let load."""
        given = settings()
        return any(
            one.distribution.name == distribution.name and given.refusal(one) is None
            for one in self._manifest().entries(PLUGINS)
        )

    def offered_conflict(self, entries: Sequence[Entry]) -> Conflict | None:
        """The conflict of entries that offer the same; None if one distribution has them all."""
        names = list(dict.fromkeys(entry.distribution.name for entry in entries))
        if len(names) < 2:
            return None
        winner = _first_ranked(names)
        why = "" if winner is None else "it is ranked first"
        claimants = tuple(claimant_of(entry, self._manifest()) for entry in entries)
        kind = entries[0].kind.removesuffix("s")
        return Conflict(kind, label_of(kind, entries[0].offered_name), claimants, winner, why)

    def _winner(self, names: list[str], owner: Provenance | None) -> tuple[str | None, str]:
        ranked = _first_ranked(names)
        if ranked is not None:
            return ranked, f"it is ranked first ({settings().sources.get('prefer', 'code')})"
        if owner is not None:
            why = "it owns the primitive, and a ranking would have to say otherwise"
            return str(owner.distribution), why
        return None, ""


def _first_ranked(names: list[str]) -> str | None:
    """The first of some distributions in the ranking, or None when none is ranked."""
    return next((name for name in settings().prefer if name in names), None)


def label_of(kind: str, name: str) -> str:
    """Return in words what a manifest offers."""
    return f"the {kind} type {name}" if kind in ("pytree", "value") else f"the {kind} {name!r}"


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
    if entry.offered_name == qualified_name(type_):
        return True
    module, _, qualname = entry.offered_name.partition(":")
    return imported_object(module, qualname) is type_
