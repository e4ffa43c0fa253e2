"""Running checks: within a budget, each under a time limit, and naming the rule that is wrong."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

import attrs

from bindax_core.errors import RuleOutputError
from bindax_core.extend import Primitive, describe_rule
from bindax_testing._blame import EVALUATION, Culprit, codes_of, culprit_of, own_frames
from bindax_testing._cases import Case
from bindax_testing._checks import CHECKS, Check
from bindax_testing._checks._base import LAST
from bindax_testing._compare import Kept, Mismatch, NotApplicable
from bindax_testing._containers import container_results
from bindax_testing._limits import TimeLimitExceeded, run_limited
from bindax_testing._plan import (
    Plan,
    checking,
    checks_of_packages,
    made_check,
    make_plan,
)
from bindax_testing._results import (
    EXPECTED,
    FAILED,
    NOT_RUN,
    PASSED,
    SKIPPED,
    UNCHECKED,
    CheckInterrupted,
    RuleReport,
    RuleResult,
)
from bindax_testing._samples import ExpectedFailure, RuleCheck
from bindax_testing._subjects import Subject

SHRINK_SECONDS = 4.0
COMPARED = {
    "jvp": "jvp",
    "vmap": "vmap",
    "transpose": "transpose",
    "lowering.stablehlo": "compiled",
}
"""The check that compares what a rule computes with the numbers of another one, by kind."""
CANONICAL = (*EVALUATION, "jvp", "vmap", "transpose", "lowering.stablehlo")

Progress: TypeAlias = Callable[[RuleResult], object]
"""Called with the result of a check, as far as it is known, after each of its cases."""

ReportT = TypeVar("ReportT", bound=RuleReport)

_BUDGET: Final = "the budget was used up"


@attrs.define(eq=False)
class Group:
    """One check of one primitive or function: its cases one after the other."""

    plan: Plan
    primitive: Any
    check: Check
    cases: list[Any] = attrs.field(factory=list)  # those that are left to run
    result: RuleResult = attrs.field(init=False)
    failed: Any = None
    reasons: Counter[str] = attrs.field(factory=Counter)  # why it said nothing about cases
    stated: int = 0  # how many of these are left out by their samples

    def __attrs_post_init__(self) -> None:
        """Skip the check at once when it does not concern the primitive."""
        primitive, check = self.primitive, self.check
        result = self.result = RuleResult(primitive.name, check.kind, check.name, NOT_RUN)
        try:
            reason = self.plan.why_not(primitive, check)
        except Exception as error:
            self._fail(error, None)
            return
        if reason is not None:
            result.status, result.reason = SKIPPED, reason
            return
        self.cases = list(self.plan.cases_for(primitive, check))
        result.planned = len(self.cases)
        if not self.cases:
            result.status = FAILED
            result.reason = (
                f"no sample reaches {primitive.name}, so nothing was checked; return samples from "
                f"the hook bindax_samples of the plugin."
            )
            result.rule = f"{primitive.name}, declared at {primitive.site}"

    @property
    def done(self) -> bool:
        """True if there is nothing more to run."""
        return not self.cases

    def first(self) -> None:
        """Run cases until the check said something about one."""
        before = self.result.ran
        while not self.done and self.result.ran == before:
            self.step()

    def step(self) -> None:
        """Run the next case."""
        case = self.cases.pop(0)
        if self.check.rank == LAST and self.primitive in self.plan.unsound:
            self.cases = []
            self.result.status, self.result.reason = SKIPPED, "a rule of it is wrong"
            return
        if self._is_stuck():
            self.cases = []
            if not self.result.ran:
                self.result.reason = f"not run: {self.plan.stuck[self.primitive][1]}"
            return
        start = time.perf_counter()
        try:
            for name in self.check.skipped_as:
                if name in case.skip:
                    self.stated += 1
                    raise NotApplicable(case.skip[name])
            self._run(case)
            self.result.ran += 1
            self.result.status = PASSED
        except NotApplicable as reason:
            self.reasons[str(reason)] += 1
            self.result.inapplicable += 1
        except Exception as error:
            self.result.ran += 1
            self.cases = []
            self.failed = case
            self._fail(error, case)
        self.result.seconds += time.perf_counter() - start
        if self.done and self.result.status == NOT_RUN and not self.result.ran and self.reasons:
            self.result.status = SKIPPED
            rule = self.plan.rule_of(self.primitive, self.check.kind)
            if COMPARED.get(self.check.kind) == self.check.name and rule and rule.is_given:
                self.result.status = UNCHECKED
                self.result.stated = self.stated > 0
                self.result.rule = describe_rule(self.primitive, self.check.kind)
            self.result.reason = "; ".join(
                f"{reason} ({count} of {self.result.planned} cases)"
                for reason, count in self.reasons.most_common(2)
            )

    def _is_stuck(self) -> bool:
        """Tell whether the check would meet a rule that does not come back."""
        stuck = self.plan.stuck.get(self.primitive)
        if stuck is None:
            return False
        return stuck[0] in (*EVALUATION, self.check.kind) or self.check.rank >= 3

    def _run(self, case: Any) -> None:
        run_limited(lambda: self.check.run(case, self.plan.compiler), self.plan.time_limit)

    # ---------------------------------------------------------------------------- failures

    def _fail(self, error: Exception, case: Any) -> None:
        result = self.result
        culprit = self._culprit(error)
        if self.check.rank < LAST:
            self.plan.unsound.add(self.primitive)
        result.status = FAILED
        result.kind, result.rule = culprit.kind, self.plan.describe(culprit)
        result.reason = str(error)
        if isinstance(error, TimeLimitExceeded):
            self.plan.note_stuck(culprit)
            self.plan.stuck.setdefault(self.primitive, self.plan.stuck[culprit.primitive])
        elif isinstance(error, Mismatch):
            result.traceback = "" if error.__cause__ is None else own_frames(error.__cause__)
        else:
            result.reason = f"raised {type(error).__name__}: {error}"
            result.traceback = own_frames(error)
        if case is None:
            return
        if not isinstance(error, TimeLimitExceeded | Kept):
            smaller = self._shrunk(case, error)
            if smaller is not case:
                case, result.reason = smaller, self._reason_anew(smaller, result.reason)
        result.kind, result.rule = self.plan.blamed(culprit, self.failed, self.check, error)
        result.case, result.sample = case.description, case.label
        result.test = self.plan.program(case, self.check)

    def _reason_anew(self, case: Any, reason: str) -> str:
        """The text of the check about a smaller case."""
        try:
            self._run(case)
        except Mismatch as error:
            return str(error)
        except Exception as error:
            return f"raised {type(error).__name__}: {error}"
        return reason

    def _culprit(self, error: Exception) -> Culprit:
        default = Culprit(self.primitive, self.check.kind)
        if isinstance(error, Mismatch):
            return default if error.kind is None else Culprit(self.primitive, error.kind)
        if isinstance(error, RuleOutputError):
            return Culprit(error.primitive, error.kind) if error.primitive else default
        return culprit_of(codes_of(error), self.plan.rules, default)

    def _shrunk(self, case: Any, original: Exception) -> Any:
        deadline = time.perf_counter() + SHRINK_SECONDS
        culprit = self._culprit(original)

        def fails(candidate: Any) -> bool:
            left = deadline - time.perf_counter()
            if left <= 0:
                return False
            try:
                run_limited(lambda: self.check.run(candidate, self.plan.compiler), max(left, 0.1))
            except Mismatch as error:
                return isinstance(original, Mismatch) and self._culprit(error) == culprit
            except Exception as error:
                # A smaller case may be one that the primitive rightly refuses.
                return type(error) is type(original) and str(error) == str(original)
            return False

        return self.plan.smaller(self.primitive, case, self.check, fails)


def groups_of(plan: Plan, primitives: Iterable[Any]) -> list[Group]:
    """All checks of primitives; that one has no sample is a failure of its first check alone."""
    groups: list[Group] = []
    for primitive in primitives:
        made = [Group(plan, primitive, check) for check in plan.checks_of(primitive)]
        without = [one for one in made if not one.result.planned and one.result.status == FAILED]
        for group in without[1:] if not plan.cases[primitive] else ():
            group.result.status, group.result.reason = SKIPPED, "there is no sample"
            group.result.rule = ""
        groups += made
    return groups


def run_groups(plan: Plan, groups: list[Group], seconds: float) -> list[RuleResult]:
    """Run checks for some time; give their results."""
    _run_cases(groups, seconds, math.inf, None)
    return _results(plan, groups, _BUDGET)


def run_and_report(
    plan: Plan,
    groups: list[Group],
    seconds: float,
    report: Callable[[list[RuleResult]], ReportT],
    cases: float = math.inf,
    progress: Progress | None = None,
) -> ReportT:
    """Run checks for some time and report; after Ctrl-C, the error has the report so far."""
    try:
        _run_cases(groups, seconds, cases, progress)
    except KeyboardInterrupt as error:
        found = report(_results(plan, groups, "it was interrupted"))
        raise CheckInterrupted(found) from error
    return report(_results(plan, groups, _BUDGET))


def _run_cases(
    groups: list[Group], seconds: float, cases: float, progress: Progress | None
) -> None:
    """Run checks for some time: each on one case first, then on more in turn, up to a number."""
    deadline = time.perf_counter() + seconds
    tell = progress or (lambda result: None)
    with checking():
        for rank in sorted({group.check.rank for group in groups}):
            for group in groups:
                if group.check.rank == rank and time.perf_counter() < deadline:
                    group.first()
                    tell(group.result)
        pending = groups
        while pending and time.perf_counter() < deadline:
            pending = [one for one in pending if not one.done and one.result.ran < cases]
            for group in pending:
                if time.perf_counter() < deadline:
                    group.step()
                    tell(group.result)


def _results(plan: Plan, groups: list[Group], why_not: str) -> list[RuleResult]:
    """The results of checks, as far as they ran; the others are told why they did not."""
    for group in groups:
        if group.result.status == NOT_RUN and not group.result.reason:
            group.result.reason = f"not run: {why_not}"
    plan.mark(groups)
    results = [group.result for group in groups]
    return apply_expected([*results, *_uncovered(plan, groups)], plan.subject.expected)


def apply_expected(
    results: list[RuleResult], expected: Iterable[ExpectedFailure]
) -> list[RuleResult]:
    """Turn failures that are expected into that, and unexpected successes into failures."""
    for one in expected:
        for result in results:
            if (result.primitive, result.check) != (one.primitive, one.check):
                continue
            if result.status == FAILED and one.label in ("", result.sample):
                result.status = EXPECTED
                result.reason = f"{one.reason} ({result.reason})"
            elif result.status == PASSED and (not one.label or result.ran == result.planned):
                result.status = FAILED
                result.reason = (
                    f"passes, but is expected to fail ({one.reason}); remove the ExpectedFailure."
                )
    return results


def _uncovered(plan: Plan, groups: list[Group]) -> Iterator[RuleResult]:
    """A failure for each rule that no check said anything about, though nothing kept it from it."""
    ran: set[tuple[Primitive, str]] = set()
    # Where evaluation is wrong, what a sample exercises is not known.
    wrong = {
        group.primitive
        for group in groups
        if group.result.status == FAILED and group.result.kind in EVALUATION
    }
    reasons: dict[tuple[Primitive, str], list[str]] = {}
    for group in groups:
        key = (group.primitive, group.check.kind)
        if group.check.rank >= LAST:
            continue
        if group.result.status not in (SKIPPED, UNCHECKED):
            ran.add(key)
        elif group.reasons:
            reasons.setdefault(key, []).append(group.result.reason)
    for (primitive, kind), why in reasons.items():
        rule = plan.rule_of(primitive, kind)
        if primitive in wrong or (primitive, kind) in ran or kind not in CANONICAL or rule is None:
            continue
        if rule.is_present and rule.derived is None:
            text = f"no sample exercises the rule: {'; '.join(sorted(set(why)))}. Add a sample "
            text += "that does, or state in the definition that the rule is absent."
            if not any(case.operands for case in plan.cases[primitive]):
                text = f"the rule is never called, because {primitive.name} has no operands; state "
                text += f"that in the definition: {kind}.absent('it has no operand')."
            yield RuleResult(
                primitive.name,
                kind,
                f"coverage of {kind}",
                FAILED,
                reason=text,
                rule=describe_rule(primitive, kind),
            )


def check_subject(
    subject: Subject,
    *,
    budget: float = 60.0,
    seed: int = 0,
    time_limit: float = 10.0,
    cases: float = math.inf,
    progress: Progress | None = None,
) -> RuleReport:
    """Check the rules of a subject and report; see ``check_plugin``.

    With ``cases`` each check stops after it said something about so many of them.
    """
    start = time.perf_counter()
    plan = make_plan(subject, seed=seed, time_limit=time_limit)
    containers = container_results(subject.types, subject.containers)
    groups = groups_of(plan, subject.primitives)
    left = budget - (time.perf_counter() - start)

    def report(found: list[RuleResult]) -> RuleReport:
        seconds = time.perf_counter() - start
        results = [*plan.problems, *containers, *found]
        return RuleReport(subject.name, seed, budget, seconds, plan.compiler, results)

    return run_and_report(plan, groups, left, report, cases, progress)


def run_one(
    case: Case, check: str, time_limit: float = 10.0, own: Iterable[RuleCheck] = ()
) -> None:
    """Run one check, of the suite or of third parties' own, on one case."""
    subject = Subject("", {case.primitive: None}, ())
    plan = make_plan(subject, seed=case.seed, time_limit=time_limit)
    plan.cases[case.primitive] = [case]
    packages = {one.name: one for one in checks_of_packages()}
    known = CHECKS | {one.name: made_check(one) for one in own} | packages
    if check not in known:
        raise ValueError(f"there is no check {check!r}; there are {', '.join(map(repr, known))}.")
    group = Group(plan, case.primitive, known[check])
    with checking():
        while not group.done:
            group.step()
    if group.result.status != PASSED:
        raise Mismatch(str(group.result))
