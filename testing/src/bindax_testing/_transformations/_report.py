"""The report about a transformation: what failed, what passed, and what it has no rules for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from bindax_testing._functions._report import FunctionReport, why
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

    def left_out(self) -> Iterator[str]:
        """Yield a line for each check that said nothing, and one for primitives without a rule."""
        for one in self.of_status(SKIPPED, NOT_RUN):
            if not self._is_missing(one):
                yield f"{one.status}: {one.primitive}, {one.check}: {why(one)}"
        if self.missing:
            yield f"without a rule: {', '.join(sorted(self.missing))}"

    def _is_missing(self, one: RuleResult) -> bool:
        return one.status == SKIPPED and one.primitive in self.missing
