"""The plan: the cases of each primitive, made from samples under a time limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from types import CodeType
from typing import Any

import attrs
import numpy as np

from bindax_core import config
from bindax_core.extend import Primitive, Rule, describe_rule, find_backend, rule_kinds
from bindax_testing._blame import Culprit, codes_of, culprit_of, own_frames, rules_by_code
from bindax_testing._cases import Case, cases_of
from bindax_testing._checks import CHECKS, Check
from bindax_testing._checks._base import LAST, why_not_called
from bindax_testing._compare import Mismatch
from bindax_testing._consequences import mark_consequences, suspect_evaluation
from bindax_testing._functions._extensions import FunctionCheck, extensions
from bindax_testing._limits import TimeLimitExceeded, run_limited
from bindax_testing._refusals import refusal_result
from bindax_testing._repeat import as_test
from bindax_testing._results import FAILED, SKIPPED, RuleResult
from bindax_testing._samples import RuleCheck, Sample
from bindax_testing._shrink import shrunk
from bindax_testing._subjects import Subject

_TIMEOUTS = 3


@attrs.define(eq=False)
class Plan:
    """The cases of a subject in the order in which they are tried, and what cannot be used.

    Primitives with a wrong rule are unsound: what is made of them outside is not looked at.
    Primitives that did not come back in time are stuck, with the rule kind and the reason to leave
    them alone.
    """

    subject: Subject
    seed: int
    time_limit: float  # of a single check of a case, in seconds
    compiler: str | None
    cases: dict[Primitive, list[Case]] = attrs.field(factory=dict)
    problems: list[RuleResult] = attrs.field(factory=list)
    rules: dict[CodeType, list[Culprit]] = attrs.field(factory=dict)  # by their functions
    stuck: dict[Primitive, tuple[str, str]] = attrs.field(factory=dict)
    unsound: set[Any] = attrs.field(factory=set)

    def note_stuck(self, culprit: Culprit) -> None:
        """Remember that a rule did not come back."""
        reason = f"{self.describe(culprit)} did not end in time"
        self.stuck.setdefault(culprit.primitive, (culprit.kind, reason))

    def checks_of(self, primitive: Primitive) -> list[Check]:
        """The checks that concern a primitive, in the order of reports."""
        kinds = self.subject.kinds[primitive]
        own = [
            made_check(one)
            for one in self.subject.checks
            if one.kind in rule_kinds and primitive in rule_kinds[one.kind].functions
        ]
        known = (*CHECKS.values(), *own, *checks_of_packages())
        checks = [c for c in known if kinds is None or c.kind in kinds]
        if not any(one.reference for one in self.subject.samples):
            checks = [c for c in checks if c.name != "reference"]
        return sorted(checks, key=lambda check: check.rank)

    def cases_for(self, primitive: Any, check: Check) -> Sequence[Any]:
        """The cases that a check runs on."""
        return [one for case in self.cases[primitive] for one in check.cases(case)]

    def why_not(self, primitive: Any, check: Check) -> str | None:
        """The reason why a check says nothing about a primitive; None where it does."""
        return why_not_called(primitive) or check.why_not(primitive, self.compiler)

    def rule_of(self, primitive: Any, kind: str) -> Rule | None:
        """The rule of a kind that a primitive has."""
        return rule_kinds[kind].rule_of(primitive)

    def describe(self, culprit: Culprit) -> str:
        """The rule to blame, with its place."""
        return describe_rule(*culprit)

    def blamed(
        self, culprit: Culprit, case: Any, check: Check, error: Exception
    ) -> tuple[str, str]:
        """The rule kind to blame for a failure, and the rule with its place."""
        return culprit.kind, self.describe(culprit)

    def program(self, case: Any, check: Check) -> str:
        """A program that repeats a failure."""
        subject = self.subject
        return check.setup + as_test(
            case,
            check.name,
            subject.name,
            installed=subject.installed,
            by_label=check.name not in CHECKS or check.name == "reference",
        )

    def smaller(self, primitive: Any, case: Any, check: Check, fails: Callable[[Any], bool]) -> Any:
        """The smallest case that fails in the same way, as far as that is found in time."""
        return shrunk(case, self.cases_for(primitive, check), fails)

    def mark(self, groups: Sequence[Any]) -> None:
        """Say of failures which others they follow from."""
        mark_consequences(groups)
        suspect_evaluation(groups)

    def telling(self, primitive: Primitive) -> list[Check]:
        """The checks that say something about a primitive."""
        checks = [c for c in self.checks_of(primitive) if c.rank < LAST]
        return [c for c in checks if c.why_not(primitive, self.compiler) is None]


def checks_of_packages() -> list[Check]:
    """The checks of packages that are for primitives as well, such as that they can be exported."""
    given = [one for one in extensions() if isinstance(one, FunctionCheck) and one.rule]
    made = [made_check(RuleCheck(one.rule, one.name, one.run)) for one in given]
    return [attrs.evolve(check, rank=LAST) for check in made]


def made_check(one: RuleCheck) -> Check:
    """The check that a third party gives for rules of its own kind."""

    def run(case: Case, compiler: str | None) -> None:
        try:
            one.run(case)
        except Mismatch:
            raise
        except AssertionError as error:
            raise Mismatch(str(error) or f"the check {one.name!r} failed.") from error

    return Check(one.name, one.kind, run, rank=2)


def checking() -> AbstractContextManager[None]:
    """The settings that checks run under: derived rules are fine, tracebacks are complete.

    What is not compiled on purpose is evaluated by the ``impl`` rules.
    """
    return config.override(
        derived_rules="silent", check_rules=False, traceback="full", backend="numpy"
    )


def make_plan(subject: Subject, *, seed: int = 0, time_limit: float = 10.0) -> Plan:
    """Trace the samples of a subject and collect the cases."""
    backend = find_backend(config.backend).name
    plan = Plan(subject, seed, time_limit, None if backend == "numpy" else backend)
    plan.rules = rules_by_code(subject.primitives)
    plan.cases = {primitive: [] for primitive in subject.primitives}
    for text in subject.problems:
        plan.problems.append(RuleResult("", "samples", "samples", FAILED, reason=text))
    if subject.nothing:
        plan.problems.append(RuleResult("", "rules", "rules", SKIPPED, reason=subject.nothing))
    with checking():
        refused = [refusal_result(one, seed, time_limit) for one in subject.refusals]
    plan.problems += refused
    seen: set[object] = set()
    timeouts = 0
    for sample in subject.samples:
        if timeouts >= _TIMEOUTS or sample.function in plan.stuck:
            continue
        try:
            with checking():
                found = partial(list[Case], cases_of(sample, subject.kinds, seed))
                collected = run_limited(found, time_limit)
            for case in collected:
                key = _key(case, sample)
                if case.primitive in plan.cases and key not in seen:
                    seen.add(key)
                    plan.cases[case.primitive].append(case)
        except Exception as error:
            timeouts += isinstance(error, TimeLimitExceeded)
            plan.problems.append(_sample_problem(plan, sample, error))
    for primitive, cases in plan.cases.items():
        rng = np.random.default_rng([seed, zlib.crc32(primitive.name.encode())])
        order = rng.permutation(len(cases))
        shuffled = [cases[i] for i in order]
        # First what tells most: cases with elements and axes.
        shuffled.sort(key=lambda case: -min(case.size, 2))
        plan.cases[primitive] = shuffled
    return plan


def _key(case: Case, sample: Sample) -> object:
    """The same for cases that say the same; samples of one operation differ in their values."""
    avals = tuple(case.avals)
    key = (case.primitive, avals, repr(case.params), tuple(case.skip))
    own = avals == tuple(operand.aval for operand in sample.operands)
    return (key, case.label) if own or case.primitive.multiple_results else key


def _sample_problem(plan: Plan, sample: Sample, error: Exception) -> RuleResult:
    """A sample that cannot be used is a failure; of a rule, where one was running."""
    is_bound = isinstance(sample.function, Primitive)
    default = Culprit(sample.function if is_bound else Primitive.__new__(Primitive), "samples")
    culprit = culprit_of(codes_of(error), plan.rules, default)
    reason = f"the sample {sample.label!r} cannot be evaluated: {type(error).__name__}: {error}"
    if culprit is default and not is_bound:
        return RuleResult("", "samples", "samples", FAILED, reason=reason, sample=sample.label)
    if isinstance(error, TimeLimitExceeded):
        plan.note_stuck(culprit)
    return RuleResult(
        culprit.primitive.name,
        culprit.kind,
        f"samples: {sample.label}",
        FAILED,
        reason=reason,
        rule=describe_rule(*culprit),
        sample=sample.label,
        traceback="" if isinstance(error, TimeLimitExceeded) else own_frames(error),
    )
