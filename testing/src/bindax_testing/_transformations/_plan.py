"""The plan of the checks of a transformation: its programs, what is left out, and blame."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs

from bindax_core import config
from bindax_core.errors import MissingRuleError, RuleOutputError
from bindax_core.extend import (
    Primitive,
    Rule,
    Var,
    code_of,
    describe_rule,
    find_backend,
    rule_kinds,
    subjaxprs,
)
from bindax_testing._blame import Culprit, codes_called, codes_of, culprit_of, rules_by_code
from bindax_testing._checks import Check
from bindax_testing._checks._base import of_some
from bindax_testing._compare import Mismatch, NotApplicable
from bindax_testing._functions._extensions import extensions
from bindax_testing._functions._parts import Part, parts_of
from bindax_testing._functions._programs import made_elsewhere
from bindax_testing._limits import run_limited
from bindax_testing._plan import Plan
from bindax_testing._results import FAILED
from bindax_testing._subjects import BUILT_IN, Subject
from bindax_testing._transformations._checks import (
    INSIDE,
    KIND,
    ProgramCheck,
    checks_of_transformations,
)
from bindax_testing._transformations._programs import primitive_programs, programs
from bindax_testing._transformations._subject import (
    Program,
    TransformationProgram,
    TransformationSample,
    given_programs,
)

PRIMITIVE = "primitive"
"""The check of one primitive: its result is what it is without the transformation."""
_SECONDS = 4.0
_NO_RULE = re.compile(r"(\S+) has no (\S+) rule")
_STANDARD = frozenset({*BUILT_IN, "lowering.stablehlo"})
"""Kinds of rules that are none of a transformation of a third party."""


@attrs.define(eq=False)
class TransformationPlan(Plan):
    """The programs of one transformation, and the primitives one by one."""

    given: TransformationSample | None = None
    known: Sequence[ProgramCheck] = ()
    wanted: Collection[str] | None = None  # the names of checks, None for all
    missing: dict[str, str] = attrs.field(factory=dict)  # primitives without a rule

    def checks_of(self, primitive: Any) -> list[Check]:
        """The checks of the transformation, or the one of a primitive."""
        found = [one.check for one in self.known]
        if isinstance(primitive, Primitive):
            found = [attrs.evolve(_named(found, "values"), name=PRIMITIVE, rank=4)]
        found.sort(key=lambda check: check.rank)
        made = [attrs.evolve(one, run=self._with_rules(one)) for one in found]
        return [one for one in made if self.wanted is None or one.name in self.wanted]

    def cases_for(self, primitive: Any, check: Check) -> Sequence[Any]:
        """The programs that a check runs on."""
        every: Sequence[Any] = self.cases[primitive]
        found = [one for one in self.known if one.check.name == check.name]
        return found[0].programs(every) if found else every

    def why_not(self, primitive: Any, check: Check) -> str | None:
        """The reason why a check says nothing: it is left out, or no package has what it needs."""
        skip: Mapping[str, str] = {} if self.given is None else self.given.skip
        left_out = skip.get(primitive.name) or skip.get(check.name)
        if left_out is None and not self.cases_for(primitive, check):
            return "no installed package has a function for it"
        return left_out

    def rule_of(self, primitive: Any, kind: str) -> Rule | None:
        """No rule that has to be reached."""
        return None

    def describe(self, culprit: Culprit) -> str:
        """The transformation, or the rule, with its place."""
        given: Any = culprit.primitive
        if isinstance(given, TransformationSample):
            return given.place
        place = "" if self.given is None else self.given.place
        return place if culprit.kind == KIND else describe_rule(*culprit)

    def blamed(
        self, culprit: Culprit, case: Any, check: Check, error: Exception
    ) -> tuple[str, str]:
        """The rule behind a failure, or the transformation at the operation that it gets wrong."""
        return _blamed(case, check, error)

    def program(self, case: Any, check: Check) -> str:
        """A program that repeats a failure."""
        return program_of(case.given, check.name, case.seed)

    def mark(self, groups: Sequence[Any]) -> None:
        """Say that what fails because of the same rule, or after it, is a consequence."""
        failed = [one for one in groups if one.result.status == FAILED]
        failed.sort(key=lambda one: one.check.rank)
        causes: list[Any] = []
        for group in failed:
            cause = next((one for one in causes if _follows(group, one)), None)
            if cause is None:
                causes.append(group)
            else:
                result = cause.result
                group.result.follows = f"{result.primitive}, {result.check}: {result.rule}"

    def _with_rules(self, check: Check) -> Callable[[Any, str | None], None]:
        """A check that says nothing about what the transformation has no rule for."""

        def run(program: Any, compiler: str | None) -> None:
            try:
                check.run(program, compiler)
            except MissingRuleError as error:
                text = str(error).partition(". ")[0]
                found = _NO_RULE.match(text)
                if found is None or found[2] not in _STANDARD:
                    self.missing.setdefault(text.partition(" ")[0], text)
                raise NotApplicable(text) from error

        return run


def _follows(group: Any, cause: Any) -> bool:
    """Tell whether a failure follows from another: of one rule, or of wrong values before."""
    if group.result.rule == cause.result.rule:
        return True
    return group.primitive is cause.primitive and cause.check.rank < 2 <= group.check.rank


def _named(checks: Sequence[Check], name: str) -> Check:
    return next(one for one in checks if one.name == name)


def plan_of(
    given: TransformationSample,
    *,
    seed: int,
    time_limit: float,
    wanted: Collection[str] | None,
) -> TransformationPlan:
    """The plan for a transformation, with the programs of installed packages."""
    backend = find_backend(config.backend).name
    subject = Subject(given.name, {}, ())
    plan = TransformationPlan(subject, seed, time_limit, None if backend == "numpy" else backend)
    own = extensions()
    plan.given, plan.wanted = given, wanted
    plan.known = checks_of_transformations(own)
    made = [*programs(), *(one for one in own if isinstance(one, TransformationProgram))]
    cases: dict[Any, list[Any]] = {given: given_programs(given, made, seed)}
    if wanted is None or PRIMITIVE in wanted:
        cases |= {primitive: [one] for primitive, one in primitive_programs(given, seed)}
    plan.cases = cases
    return plan


# ------------------------------------------------------------------------------------- blame


def _blamed(program: Program, check: Check, error: Exception) -> tuple[str, str]:
    """The rule that an error names or went through, else the operation that fails alone."""
    given = program.given
    if isinstance(error, RuleOutputError) and error.primitive is not None:
        return error.kind, describe_rule(error.primitive, error.kind)
    parts = _parts(program)
    default = Culprit(Primitive.__new__(Primitive), KIND)
    if not isinstance(error, Mismatch):
        rules = rules_by_code({part.eqn.primitive for part in parts})
        own = {code: [c for c in found if c.kind not in _STANDARD] for code, found in rules.items()}
        culprit = culprit_of(codes_of(error), own, default)
        if culprit is not default:
            return culprit.kind, describe_rule(*culprit)
    failing = _failing_part(program, parts, check, error)
    if failing is None:
        return KIND, given.place
    primitive = failing.eqn.primitive
    called = codes_called(lambda: _attempt(_alone(program, failing)))
    for name, kind in list(rule_kinds.items()):
        rule = None if name in _STANDARD else kind.rule_of(primitive)
        if rule is not None and code_of(rule.function) in called:
            return name, describe_rule(primitive, name)
    return KIND, f"{given.place}, at {primitive.name}"


def _attempt(program: Program) -> None:
    with suppress(Exception):  # it fails: that is why one looks
        program.leaves(*program.operands)


def _parts(program: Program) -> list[Part]:
    """The operations of a program; none of the operations inside of others."""
    try:
        found: list[Part] = run_limited(lambda: parts_of(program), _SECONDS)
    except Exception:  # what fails may be the function itself
        return []
    return [one for one in found if not one.depth]


def _failing_part(
    program: Program, parts: Sequence[Part], check: Check, error: Exception
) -> Part | None:
    """The first operation that fails the check by itself: programs inside of others last."""
    if check.name == INSIDE:
        return next(filter(_holds_programs, parts), None)
    for part in sorted(parts, key=_holds_programs):
        try:
            run_limited(functools.partial(check.run, _alone(program, part), None), 1.0)
        except (NotApplicable, MissingRuleError):
            continue
        except Exception as raised:
            if type(raised) is type(error):
                return part
    return None


def _holds_programs(part: Part) -> bool:
    return any(True for _ in subjaxprs(part.eqn.params))


def _alone(program: Program, part: Part) -> Program:
    """One operation of a program, as a program; its literals stay literals."""
    case = part.case
    positions = [i for i, atom in enumerate(part.eqn.invars) if isinstance(atom, Var)]
    draws = [[row[i] for i in positions] for row in case.draws]
    function = of_some(case.call, case.operands, positions)
    return attrs.evolve(program, function=function, draws=draws)


def program_of(given: TransformationSample, check: str, seed: int) -> str:
    """A test that repeats a check of a transformation, to paste into a file; or why there is none.

    Args:
        given: the transformation.
        check: the name of the check.
        seed: what values are drawn from.
    """
    lines, name = made_elsewhere(given.transform)
    arguments, default = "", TransformationSample(given.transform)
    for key in ("lift", "known", "value"):
        function = getattr(given, key)
        if name is None or function is getattr(default, key):
            continue
        more, made = made_elsewhere(function)
        if made is None:
            name = None
        lines += more if more not in lines else ""
        arguments += f"    {key}={made},\n"
    if name is None:
        return (
            f"# {given.place}, or a function that was given with it, has no name in a module, and\n"
            f"# the text of the program that made it is not to be had: call check_transformation\n"
            f"# again, with checks=[{check!r}] and seed={seed}.\n"
        )
    skip = f"    skip={dict(given.skip)!r},\n" if given.skip else ""
    system = "import sys\n\n" if "sys.path" in lines else ""
    test = "".join(c if c.isalnum() else "_" for c in f"{given.name}_{check}").lower()
    body = f"{arguments}{skip}    checks=[{check!r}],\n    seed={seed},\n".replace("    ", " " * 8)
    return (
        f"{system}from bindax_testing import check_transformation\n\n{lines}\n\n"
        f"def test_{test}():\n"
        f"    report = check_transformation(\n        {name},\n{body}    )\n"
        f"    report.raise_if_failed()\n"
    )
