"""The report about a backend: what failed and passed, how exact it is, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from bindax_testing._backends._accuracy import UNITS, Measurement
from bindax_testing._functions._report import FunctionReport, why
from bindax_testing._results import FAILED, NOT_RUN, PASSED, SKIPPED


@attrs.frozen
class BackendReport(FunctionReport):
    """The results of checking a backend.

    Attributes:
        plugin: the name of the backend.
        seed: what values were drawn from.
        budget: the seconds that it could take.
        seconds: those that it took.
        compiler: the name of the backend.
        results: one for each primitive and dtype, and one for each check of the backend itself.
        primitives: the names of the primitives that were checked.
        measured: the greatest distance from the reference, of each primitive and dtype.
        unsupported: the primitives that it does not support, each with what its error said.
        differences: where results differ from the reference, as the backend states, and how.

    >>> from bindax_testing import check_backend
    >>> report = check_backend("numpy", primitives=["neg"], checks=["float32"])
    >>> isinstance(report, BackendReport), report.unsupported
    (True, {})
    """

    primitives: Sequence[str] = ()
    measured: Sequence[Measurement] = ()
    unsupported: Mapping[str, str] = attrs.field(factory=dict)
    differences: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def ok(self) -> bool:
        """True if nothing failed, something was checked, and the budget was enough for all."""
        every = all(one.ran + one.inapplicable == one.planned for one in self.of_status(PASSED))
        return every and bool(self.of_status(PASSED)) and not self.of_status(FAILED, NOT_RUN)

    @property
    def summary(self) -> str:
        """One or two lines: how many checks there were, and whether all of their cases ran."""
        counts = self.counts
        left = counts["cases planned"] - counts["cases inapplicable"] - counts["cases run"]
        text = super().summary
        return f"{text} {left} cases were not run; a greater budget runs them." if left else text

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON, with the matrix and the table of units."""
        return {**super().as_dict(), "matrix": self.matrix, "allowed units": UNITS}

    @property
    def matrix(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The outcome of each primitive in each dtype: status, cases, units, reason."""
        units = {(one.primitive, one.dtype): one for one in self.measured}
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for one in self.results:
            if one.primitive not in self.primitives:
                continue
            cell: dict[str, Any] = {"status": one.status, "cases": one.ran, "of": one.planned}
            known = units.get((one.primitive, one.check))
            if known is not None:
                cell |= attrs.asdict(known)
            if one.reason:
                cell["reason"] = one.reason
            found.setdefault(one.primitive, {})[one.check] = cell
        return found

    def left_out(self) -> Iterator[str]:
        """Yield a line for each check that said nothing, and one for what is not supported."""
        for result in self.of_status(SKIPPED, NOT_RUN):
            if result.primitive not in self.unsupported and "stated: " not in result.reason:
                yield f"{result.status}: {result.primitive}, {result.check}: {why(result)}"
        for one, how in self.differences.items():
            yield f"stated: {one}: {how}"
        if self.unsupported:
            yield f"not supported: {', '.join(sorted(self.unsupported))}"
