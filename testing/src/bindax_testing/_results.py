"""The report that holds the outcomes of checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from bindax_testing._formats import junit, page
from bindax_testing._outcomes import FAILED, PASSED, SKIPPED, STATUSES, RuleResult


class ConformanceError(AssertionError):
    """Rules do not agree with each other; the message lists what failed."""


@attrs.frozen
class RuleReport:
    """The results of checking the rules of a plugin.

    Attributes:
        plugin: its name.
        seed: what the samples were drawn from.
        budget: the seconds that it could take.
        seconds: those that it took.
        compiler: the compiling backend that took part, or None.
        results: one for each check of each primitive.
    """

    plugin: str
    seed: int
    budget: float
    seconds: float
    compiler: str | None
    results: Sequence[RuleResult]

    def of_status(self, *statuses: str) -> list[RuleResult]:
        """The results with one of some statuses."""
        return [result for result in self.results if result.status in statuses]

    @property
    def failures(self) -> list[RuleResult]:
        """The failures; causes come before consequences."""
        return sorted(self.of_status(FAILED), key=lambda result: bool(result.follows))

    @property
    def ok(self) -> bool:
        """True if nothing failed, and something was checked or is stated to be out of reach."""
        silent = bool(self.results) and len(self.of_status(SKIPPED)) == len(self.results)
        return (bool(self.of_status(PASSED)) or silent) and not self.failures

    @property
    def without_rules(self) -> bool:
        """True if the plugin has no rules."""
        none = all(r.status == SKIPPED and not r.primitive for r in self.results)
        return bool(self.results) and none

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of checks by status, and of cases planned and run."""
        found = {status: len(self.of_status(status)) for status in STATUSES}
        found["cases planned"] = sum(result.planned for result in self.results)
        found["cases run"] = sum(result.ran for result in self.results)
        found["cases inapplicable"] = sum(result.inapplicable for result in self.results)
        return found

    def raise_if_failed(self) -> None:
        """Raise unless all is well; for tests.

        Raises:
            ConformanceError: something failed, or nothing was checked.
        """
        if not self.ok:
            raise ConformanceError(str(self))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "plugin": self.plugin,
            "ok": self.ok,
            "seed": self.seed,
            "budget": self.budget,
            "seconds": round(self.seconds, 3),
            "compiler": self.compiler,
            "counts": self.counts,
            "results": [attrs.asdict(result) for result in self.results],
        }

    def as_junit(self) -> str:
        """JUnit XML, one test case for each check of each primitive."""
        return junit(self)

    def as_html(self) -> str:
        """A page with a matrix of primitives and checks to look at, and the failures."""
        return page(self)

    @property
    def summary(self) -> str:
        """One or two sentences: what was run, and what was left out."""
        if self.without_rules:
            reasons = "; ".join(dict.fromkeys(result.reason for result in self.results))
            return f"{self.plugin}: nothing to check: {reasons}"
        counts = self.counts
        parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
        total, ran = counts["cases planned"], counts["cases run"]
        concerned = total - counts["cases inapplicable"]
        text = (
            f"{self.plugin}: {len(self.results)} checks: {', '.join(parts) or 'none'}; "
            f"{self.seconds:.1f} s of {self.budget:g} s, seed {self.seed}, "
            f"compiler {self.compiler or 'none'}."
        )
        text += f" {ran} of {concerned} cases that the checks say something about were run"
        if ran < concerned:
            text += ", chosen by the seed; a greater budget runs more"
        text += "."
        return text

    def __str__(self) -> str:
        shown = [str(result) for result in self.failures]
        return "\n".join([*shown, self.summary])
