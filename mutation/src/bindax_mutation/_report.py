"""The fate of each mutant, and the report that holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs

KILLED = "killed"
EQUIVALENT = "equivalent"
SURVIVED = "survived"


@attrs.frozen
class Mutant:
    """A rule with a mistake in it.

    Attributes:
        primitive: the name of the primitive.
        kind: the kind of the rule.
        damage: the mistake.
        status: killed, equivalent or survived.
        check: the check that noticed it, if any.
        blamed: the rule kind which that check is for.
        reason: why it is equivalent, if it is; or that time ran out before every check had run.
    """

    primitive: str
    kind: str
    damage: str
    status: str
    check: str = ""
    blamed: str = ""
    reason: str = ""

    def __str__(self) -> str:
        text = f"{self.status}: {self.primitive}, {self.kind}: {self.damage}"
        if self.check:
            return f"{text} (by {self.check})"
        return f"{text} ({self.reason})" if self.reason else text


@attrs.frozen
class MutationReport:
    """The mutants of a plugin.

    Attributes:
        plugin: its name.
        seed: what they were drawn from.
        seconds: how long it took.
        mutants: one for each mistake that changed something.
        nothing: why there is nothing to mutate, or empty.
    """

    plugin: str
    seed: int
    seconds: float
    mutants: Sequence[Mutant]
    nothing: str = ""

    def of_status(self, status: str) -> list[Mutant]:
        """The mutants with a status."""
        return [mutant for mutant in self.mutants if mutant.status == status]

    @property
    def survivors(self) -> list[Mutant]:
        """The mistakes that nothing noticed and nobody explained."""
        return self.of_status(SURVIVED)

    @property
    def share_killed(self) -> float:
        """The share of the mutants that are not equivalent which were noticed; 1 for none."""
        killed, survived = len(self.of_status(KILLED)), len(self.survivors)
        return killed / (killed + survived) if killed + survived else 1.0

    @property
    def ok(self) -> bool:
        """True if there were mutants, and each was noticed or explained."""
        return bool(self.mutants) and not self.survivors

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "plugin": self.plugin,
            "ok": self.ok,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "share killed": self.share_killed,
            "mutants": [attrs.asdict(mutant) for mutant in self.mutants],
        }

    @property
    def summary(self) -> str:
        """One or two sentences: how many were tried and how many noticed."""
        if self.nothing:
            return f"{self.nothing} There is nothing to mutate."
        counts = Counter(mutant.status for mutant in self.mutants)
        kinds = Counter(mutant.kind for mutant in self.mutants)
        listed = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items()))
        own = sum(m.kind == m.blamed for m in self.of_status(KILLED))
        return (
            f"{self.plugin}: {len(self.mutants)} mutants ({listed or 'none'}): "
            f"{counts[KILLED]} killed ({own} by a check of the damaged rule's kind), "
            f"{counts[EQUIVALENT]} equivalent, {counts[SURVIVED]} survived; "
            f"{100 * self.share_killed:.1f} % of those that are not equivalent were noticed, "
            f"in {self.seconds:.0f} s, seed {self.seed}."
        )

    def __str__(self) -> str:
        return "\n".join([*map(str, self.survivors), self.summary])
