"""The report about a function: what failed, what passed, and what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from bindax_testing._results import (
    FAILED,
    NOT_RUN,
    PASSED,
    SKIPPED,
    STATUSES,
    RuleReport,
    RuleResult,
)


@attrs.frozen
class FunctionReport(RuleReport):
    """The results of checking a function.

    Attributes:
        plugin: the name of the function.
        seed: what directions were drawn from.
        budget: the seconds that it could take.
        seconds: those that it took.
        compiler: the compiling backend that took part, or None.
        results: one for each check.

    >>> from bindax_testing import check_function
    >>> isinstance(check_function(abs, -1.5, checks=["purity"]), FunctionReport)
    True
    """

    @property
    def ok(self) -> bool:
        """True if nothing failed, something was checked, and the budget was enough for the rest."""
        return bool(self.of_status(PASSED)) and not self.of_status(FAILED, NOT_RUN)

    @property
    def summary(self) -> str:
        """One line: how many checks there were."""
        counts = self.counts
        parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
        return (
            f"{self.plugin}: {len(self.results)} checks: {', '.join(parts)}; {self.seconds:.1f} s, "
            f"seed {self.seed}, compiler {self.compiler or 'none'}."
        )

    def __str__(self) -> str:
        shown = [str(result) for result in self.failures if not result.follows]
        shown += [
            f"failed: {one.primitive}, {one.check}: a consequence of {one.follows}"
            for one in self.failures
            if one.follows
        ]
        return "\n".join([*shown, *self.left_out(), self.summary])

    def left_out(self) -> Iterator[str]:
        """Yield a line for each check that said nothing, with the reason."""
        for one in self.of_status(SKIPPED, NOT_RUN):
            yield f"{one.status}: {one.check}: {why(one)}"


def why(result: RuleResult) -> str:
    """The reason why a check said nothing, without its status."""
    return result.reason.removeprefix(f"{result.status}: ")
