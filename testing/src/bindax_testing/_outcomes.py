"""One outcome of one check, and the states that it can have."""

from __future__ import annotations

import attrs

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
EXPECTED = "expected failure"
NOT_RUN = "not run"
STATUSES = (PASSED, FAILED, SKIPPED, EXPECTED, NOT_RUN)


@attrs.define
class RuleResult:
    """The outcome of one check of one primitive.

    Attributes:
        primitive: its name.
        kind: the rule kind that the check is for or, when it failed, the one to blame.
        check: the name of the check.
        status: passed, failed, skipped, expected failure, or not run.
        planned: how many cases there are.
        ran: how many of them the check ran on.
        inapplicable: how many it says nothing about.
        seconds: how long that took.
        reason: what is wrong, or why it was skipped or did not run.
        rule: the rule to blame, with distribution, file and line.
        follows: the failure that this one is a consequence of, if any.
        sample: the label of the sample it failed on.
        case: the primitive, types and parameters it failed on.
        test: a test that repeats the failure, to paste into a file.
        traceback: where the error came up, when a rule raised one.
    """

    primitive: str
    kind: str
    check: str
    status: str
    planned: int = 0
    ran: int = 0
    inapplicable: int = 0
    seconds: float = 0.0
    reason: str = ""
    rule: str = ""
    follows: str = ""
    sample: str = ""
    case: str = ""
    test: str = ""
    traceback: str = ""

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.primitive}, {self.check}"]
        if self.rule:
            lines[0] += f": {self.rule}"
        lines += [f"  {line}" for line in self.reason.splitlines()]
        if self.follows:
            lines.append(f"  a consequence of: {self.follows}")
        if self.case:
            lines.append(f"  on {self.case}, from the sample {self.sample or '(given)'}")
        lines += [f"  | {line}" for line in self.traceback.splitlines()]
        if self.test:
            lines.append("  to repeat it:")
            lines += [f"    {line}".rstrip() for line in self.test.splitlines()]
        return "\n".join(lines)
