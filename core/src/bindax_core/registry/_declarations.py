"""Declarations of plugins, in the form in which the loader checks and installs them.

The loader knows no table of the kernel. An installer for each hook turns what the hook returned
into staged declarations, which say what they claim and how to install and remove it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bindax_core.registry._manifest import Distribution, Entry
from bindax_core.registry._provenance import Provenance


@dataclass(eq=False)
class Staged:
    """One declaration of a plugin, checked and not yet installed.

    Attributes:
        kind: what is claimed: ``"primitive"``, ``"rule"``, ``"pytree"``, ``"value"``,
            ``"backend"``, ``"operations"``, ``"attribute"`` or ``"transformation"``.
        key: what identifies the claim within its kind; two distributions with one key conflict.
        label: the claim in words, for messages: ``"the primitive 'sin'"``.
        value: what was declared.
        provenance: where it was declared.
        install: makes it effective; may raise, and then leaves nothing behind.
        remove: undoes ``install``.
        name: the name under which manifests offer it, or None when they do not.
        owner: the distribution that has the first right to the claim, if any: the one whose rule
            card holds the rule that an extension gives again.
    """

    kind: str
    key: Any
    label: str
    value: Any
    provenance: Provenance
    install: Callable[[], None]
    remove: Callable[[], None]
    name: str | None = None
    owner: Provenance | None = None


class Installer(Protocol):
    """Turns what one hook of a plugin returned into staged declarations.

    ``stage`` changes nothing. Staged declarations are installed in order (commit) and, when one of
    them fails, removed in reverse (rollback).
    """

    @property
    def hook(self) -> str:
        """The name of the hook."""
        ...

    def stage(self, result: Any, plugin: Entry) -> Sequence[Staged]:
        """Check what the hook returned.

        Raises:
            PluginError: when it is not what the hook is specified to return.
        """
        ...


@dataclass(eq=False)
class Claimant:
    """One side of a conflict."""

    distribution: Distribution | None
    text: str


@dataclass(eq=False)
class Conflict:
    """Two or more distributions that claim the same thing.

    Attributes:
        kind: the kind of the claim, as in ``Staged``.
        label: the claim in words.
        claimants: who claims it, by distribution.
        winner: the label of the one in force, or None when it cannot be used.
        why: why the winner won, or an empty string.
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
