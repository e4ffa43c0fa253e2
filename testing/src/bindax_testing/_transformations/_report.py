"""The report about a transformation: what failed, what passed, and what it has no rules for."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from bindax_testing._functions._report import FunctionReport
from bindax_testing._results import NOT_RUN, SKIPPED, RuleResult


@attrs.frozen
class TransformationReport(FunctionReport):
    """The results of checking a transformation.

    Attributes:
        plugin: the name of the transformation.
        seed: what values were drawn from.
        budget: the seconds that it could take.
        seconds: those that it took.
        compiler: the compiling backend that is installed, or None.
        results: one for each check of programs, and one for each primitive.
        missing: the primitives that it has no rule for, each with what the error said.

    >>> from bindax_testing import check_transformation
    >>> report = check_transformation(lambda f: f, checks=["values", "types"])
    >>> isinstance(report, TransformationReport), report.missing
    (True, {})
    """

    missing: Mapping[str, str] = attrs.field(factory=dict)

    def __str__(self) -> str:
        shown = [str(result) for result in self.failures if not result.follows]
        shown += [
            f"failed: {one.primitive}, {one.check}: a consequence of {one.follows}"
            for one in self.failures
            if one.follows
        ]
        for one in self.of_status(SKIPPED, NOT_RUN):
            reason = one.reason.removeprefix(f"{one.status}: ")
            if not self._is_missing(one):
                shown.append(f"{one.status}: {one.primitive}, {one.check}: {reason}")
        if self.missing:
            shown.append(f"without a rule: {', '.join(sorted(self.missing))}")
        return "\n".join([*shown, self.summary])

    def _is_missing(self, one: RuleResult) -> bool:
        return one.status == SKIPPED and one.primitive in self.missing
