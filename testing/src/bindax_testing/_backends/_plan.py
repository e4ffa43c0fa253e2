"""The plan of the checks of a backend: what runs on what, and what is to blame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import attrs

from bindax_core.errors import RuleOutputError
from bindax_core.extend import Primitive, Rule, describe_rule, find_backend
from bindax_core.rules import effects
from bindax_diagnosis import PluginContents, installed_plugins, plugin_contents
from bindax_testing._backends._execution import BackendCall, BackendCheck
from bindax_testing._backends._interface import OWN
from bindax_testing._backends._programs import (
    EFFECTS,
    GENERATED,
    INSTALLED,
    BackendProgram,
    GeneratedCall,
    WrongStep,
    check_effects,
    check_generated,
    check_program,
    pool_of,
)
from bindax_testing._backends._values import FALLBACK, SPECIAL, Values, dtype_of
from bindax_testing._blame import Culprit
from bindax_testing._cases import Case
from bindax_testing._checks import Check
from bindax_testing._checks._base import why_not_called
from bindax_testing._functions._extensions import extensions
from bindax_testing._functions._parts import parts_of
from bindax_testing._limits import run_limited
from bindax_testing._plan import Plan, make_plan
from bindax_testing._results import FAILED, RuleResult
from bindax_testing._samples import Sample
from bindax_testing._subjects import samples_of, subject
from bindax_testing._transformations._programs import programs
from bindax_testing._transformations._subject import TransformationProgram

KIND = "backend"
"""The kind of what is to blame where no rule is."""
VALUES = "values"
"""The check of a primitive that no sample reaches."""
_SECONDS = 4.0


@attrs.frozen(eq=False)
class Family:
    """A name for programs, as primitives have one."""

    name: str


PROGRAMS = Family("programs")


@attrs.define(eq=False)
class BackendPlan(Plan):
    """The primitives, programs and interface of one backend."""

    given: BackendCall = attrs.field(default=None)
    values: Values = attrs.field(default=None)
    own: Sequence[BackendCheck] = ()
    wanted: Collection[str] | None = None  # the names of checks, None for all

    @property
    def primitives(self) -> list[Primitive]:
        """The primitives among what is checked."""
        every: list[Any] = list(self.cases)
        return [one for one in every if isinstance(one, Primitive)]

    @property
    def dtypes(self) -> set[str]:
        """The names of the checks of ordinary values: the dtypes that samples have."""
        return {dtype_of(case) for one in self.primitives for case in self.cases[one]}

    def checks_of(self, primitive: Any) -> list[Check]:
        """The checks of a primitive, of programs, or of the backend itself."""
        if isinstance(primitive, Primitive):
            found = self._checks_of_values(primitive)
        elif primitive is PROGRAMS:
            found = [
                Check(INSTALLED, KIND, check_program, 3),
                Check(EFFECTS, KIND, check_effects, 3),
                Check(GENERATED, KIND, check_generated, 4),
            ]
        else:
            found = [Check(one.name, KIND, partial(_run_own, one), 0) for one in self.own]
        return [one for one in found if self.wanted is None or one.name in self.wanted]

    def names_of(self, primitive: Any) -> list[str]:
        """The names of all checks, those that are not wanted among them."""
        return [one.name for one in attrs.evolve(self, wanted=None).checks_of(primitive)]

    def _checks_of_values(self, primitive: Primitive) -> list[Check]:
        """One check for each dtype that samples have, and those of special values and fallbacks."""
        if why_not_called(primitive) is not None or not self.cases[primitive]:
            return [Check(VALUES, KIND, self.values.run, 1)]
        dtypes = sorted({dtype_of(case) for case in self.cases[primitive]})
        return [
            *(Check(name, KIND, self.values.run, 1) for name in dtypes),
            Check(FALLBACK, KIND, self.values.no_fallback, 2),
            Check(SPECIAL, KIND, self.values.special, 2),
        ]

    def cases_for(self, primitive: Any, check: Check) -> Sequence[Any]:
        """The cases of a dtype, the programs of a check; one alone for fallbacks."""
        every: Sequence[Any] = self.cases[primitive]
        if not isinstance(primitive, Primitive):
            is_generated = check.name == GENERATED
            if primitive is not PROGRAMS:
                return every
            found = [one for one in every if isinstance(one, GeneratedCall) == is_generated]
            if check.name == EFFECTS:
                found = [one for one in found if one.given.log is not None]
            return found
        if check.name == FALLBACK:
            return every[:1]
        return [x for x in every if check.name == SPECIAL or dtype_of(x) == check.name]

    def why_not(self, primitive: Any, check: Check) -> str | None:
        """The reason why a check says nothing."""
        if isinstance(primitive, Primitive):
            reason = why_not_called(primitive)
            if reason is not None:
                return reason
            if not self.cases[primitive]:
                return "no sample of an installed package reaches it"
        elif not self.cases_for(primitive, check):
            return "no installed package has a program for it"
        return None

    def rule_of(self, primitive: Any, kind: str) -> Rule | None:
        """No rule that has to be reached."""
        return None

    # -------------------------------------------------------------------------------- blame

    def describe(self, culprit: Culprit) -> str:
        """The backend, with the rule or the primitive that it gets wrong."""
        subject: Any = culprit.primitive
        if not isinstance(subject, Primitive):
            return place_of(self.given.name)
        if culprit.kind != KIND:
            return f"{describe_rule(*culprit)}, on {place_of(self.given.name)}"
        return place_of(self.given.name, culprit.primitive.name)

    def blamed(
        self, culprit: Culprit, case: Any, check: Check, error: Exception
    ) -> tuple[str, str]:
        """The primitive that the backend gets wrong, or the rule that raised."""
        if isinstance(error, RuleOutputError) and error.primitive is not None:
            culprit = Culprit(error.primitive, error.kind)
        if isinstance(error, WrongStep):
            return KIND, place_of(self.given.name, error.primitive)
        if isinstance(case, BackendProgram):
            return KIND, place_of(self.given.name, self._failing_primitive(case))
        return culprit.kind, self.describe(culprit)

    def _failing_primitive(self, program: BackendProgram) -> str:
        """The first primitive of a program that is wrong by itself; empty where none is."""
        for part in parts_of(program):
            try:
                run_limited(partial(self.values.run, part.case, None), _SECONDS)
            except AssertionError:
                return part.eqn.primitive.name
            except Exception:  # which has another reason than the program's
                continue
        return ""

    def program(self, case: Any, check: Check) -> str:
        """A program that repeats a failure."""
        name = self.given.name
        primitives = [case.primitive.name] if isinstance(case, Case) else []
        only = f"primitives={primitives!r}, " if primitives else ""
        only += f"checks=[{check.name!r}]"
        if isinstance(case, GeneratedCall):
            only += f", programs=[{case.number}]"
        offered = any(name in one["offers"].get("backends", ()) for one in installed_plugins())
        missing = f"# No package offers {name!r}: register it here, before the test.\n\n"
        test = "".join(c if c.isalnum() else "_" for c in "_".join([name, *primitives, check.name]))
        return (
            f"from bindax_testing import check_backend\n\n"
            f"{'' if offered or name == 'numpy' else missing}\n"
            f"def test_{test}():\n"
            f"    report = check_backend(\n        {name!r}, {only}, seed={self.seed}\n    )\n"
            f"    report.raise_if_failed()\n"
        )

    def mark(self, groups: Sequence[Any]) -> None:
        """Say of failures of one primitive, and of programs with it, that they have one cause."""
        failed = [one for one in groups if one.result.status == FAILED]
        failed.sort(key=lambda one: one.check.rank)
        causes: dict[str, RuleResult] = {}
        for group in failed:
            result = group.result
            cause = causes.setdefault(result.rule, result)
            if cause is not result:
                result.follows = f"{cause.primitive}, {cause.check}: {cause.rule}"


def _run_own(one: BackendCheck, call: BackendCall, compiler: str | None) -> None:
    one.run(call)


def place_of(name: str, primitive: str = "") -> str:
    """A backend with its class, and the primitive that it gets wrong."""
    kind = type(find_backend(name))
    at = f", at {primitive}" if primitive else ""
    return f"the backend {name!r} ({kind.__module__}.{kind.__qualname__}){at}"


# -------------------------------------------------------------------------------------- plans


@attrs.frozen
class Chosen:
    """The choice of primitives and checks by name, all where it is None, and of programs."""

    primitives: Collection[str] | None
    checks: Collection[str] | None
    programs: int | Collection[int]  # how many generated ones, or their numbers

    @property
    def numbers(self) -> Collection[int]:
        """The numbers of the generated programs."""
        given = self.programs
        return range(given) if isinstance(given, int) else sorted(given)


def plan_of(
    name: str, chosen: Chosen, values: Values, *, seed: int, time_limit: float
) -> BackendPlan:
    """The plan for a backend, with the samples and programs of installed packages."""
    primitives, wanted = chosen.primitives, chosen.checks
    alone = bool(primitives) and not wanted  # and nothing but primitives
    more = () if alone else extensions()
    own = [*OWN, *(one for one in more if isinstance(one, BackendCheck))]
    others = {INSTALLED, EFFECTS, *(one.name for one in own)}
    if primitives is None and wanted is not None and others.issuperset(wanted):
        primitives = ()  # no check is about one
    plan = _plan_of_primitives(name, seed, time_limit, primitives)
    plan.values, plan.wanted, plan.own = values, wanted, own
    plan.given = BackendCall(name, seed)
    if primitives and others.union([GENERATED]).isdisjoint(wanted or ()):
        return plan
    made = [*programs(), *(one for one in more if isinstance(one, TransformationProgram))]
    cases: dict[Any, list[Any]] = {**plan.cases, plan.given: [plan.given]}
    cases[PROGRAMS] = [
        BackendProgram(name, one, (one.operands,), one.label, seed=seed) for one in made
    ]
    pool = partial(_pool, plan)
    cases[PROGRAMS] += [GeneratedCall(name, seed, number=i, pool=pool) for i in chosen.numbers]
    plan.cases = cases
    return plan


def _pool(plan: BackendPlan) -> list[Case]:
    """The cases that generated programs are made of: pure ones that the backend gets right."""
    usable = [p for p in plan.primitives if effects.find(p) is None]
    right = {p: [x for x in plan.cases[p] if not plan.values.difference(x)] for p in usable}
    return pool_of(right, plan.values.refused)


def _plan_of_primitives(
    name: str, seed: int, time_limit: float, names: Collection[str] | None
) -> BackendPlan:
    """The plan of the primitives of all installed packages, or of some, without own checks."""
    chosen = None if names is None else tuple(sorted(names))
    made = _traced(seed, time_limit, chosen)
    fields = attrs.asdict(made, recurse=False)
    copies = {"problems": list(made.problems), "stuck": dict(made.stuck), "unsound": set()}
    named = attrs.evolve(made.subject, name=name)
    return BackendPlan(**{**fields, **copies, "compiler": name, "subject": named})


@lru_cache(maxsize=4)
def _traced(seed: int, time_limit: float, names: tuple[str, ...] | None) -> Plan:
    """The plan of primitives for any backend, made once: tracing the samples takes a while."""
    kinds: dict[Primitive, None] = {}
    samples: list[Sample] = []
    for plugin in _plugins(names):
        some = [one for one in plugin.primitives if names is None or one.name in names]
        kinds |= dict.fromkeys(some)
        samples += [x for x in samples_of(plugin)[0] if _concerns(x, some)]
    # Packages do not know the labels of others.
    made = attrs.evolve(subject("", kinds, samples), problems=())
    return make_plan(made, seed=seed, time_limit=time_limit)


def _concerns(sample: Any, some: Collection[Primitive]) -> bool:
    """Tell whether something that a package gives is a sample that may reach some primitives."""
    if not isinstance(sample, Sample):
        return False
    return not isinstance(sample.function, Primitive) or sample.function in some


def _plugins(names: Collection[str] | None) -> Iterator[PluginContents]:
    """Yield the plugins that offer primitives, or some of them; they are loaded."""
    for record in installed_plugins():
        offered = record["offers"].get("primitives", ())
        if any(names is None or name in names for name in offered):
            yield from plugin_contents(record["plugin"])
