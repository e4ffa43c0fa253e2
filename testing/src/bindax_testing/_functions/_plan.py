"""The plan of the checks of a function: its calls, what they leave out, and blame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from bindax_core import config
from bindax_core.errors import MissingRuleError
from bindax_core.extend import Rule, find_backend, is_differentiable, typeof
from bindax_testing._blame import EVALUATION, Culprit
from bindax_testing._checks import Check
from bindax_testing._checks._derivatives import is_smooth, tangents_of, widened
from bindax_testing._compare import Mismatch, NotApplicable, real_size, rounded_to
from bindax_testing._functions._blame import is_refusal, place_of
from bindax_testing._functions._call import Function, FunctionCall
from bindax_testing._functions._checks import FUNCTION, function_checks, is_as_given
from bindax_testing._functions._extensions import FunctionCheck
from bindax_testing._functions._parts import Part, narrowest, parts_of
from bindax_testing._functions._programs import program_of
from bindax_testing._functions._source import Source
from bindax_testing._limits import TimeLimitExceeded, run_limited
from bindax_testing._plan import Plan, checking, made_check
from bindax_testing._results import FAILED
from bindax_testing._samples import RuleCheck
from bindax_testing._subjects import Subject
from bindax_transforms import jvp, make_jaxpr, vjp, vmap

FORWARD = ("jvp", "linearize", "second order", "special points")
SECOND = ("second order", "second order in reverse mode", "symmetry", "special points")
REVERSE = ("reverse", "second order in reverse mode")
BATCHES = (
    "vmap",
    "batch sizes",
    "nested vmap",
    "vmap special values",
    "vmap of others",
    "derivatives of vmap",
)


@attrs.define(eq=False)
class FunctionPlan(Plan):
    """The calls of one function in the order in which they are tried."""

    function: Function | None = None
    source: Source | None = None
    doubles: dict[int, Any] = attrs.field(factory=dict)
    own: Sequence[FunctionCheck] = ()
    wanted: Collection[str] | None = None  # the names of checks, None for all

    def restrict(
        self,
        own: Sequence[FunctionCheck],
        wanted: Collection[str] | None,
        skip: Mapping[str, str],
        linear: bool | Sequence[int],
    ) -> None:
        """Say which checks run, those of packages among them, and what the function claims."""
        self.own, self.wanted = own, wanted

        def made(call: Any) -> Any:
            claims = _linear_leaves(call.function, linear)
            return attrs.evolve(call, skip={**call.skip, **skip}, linear=claims)

        self.cases = {function: list(map(made, calls)) for function, calls in self.cases.items()}
        self.doubles = {i: made(call) for i, call in self.doubles.items()}

    def checks_of(self, primitive: Any) -> list[Check]:
        """The checks of functions, those of packages included."""
        made = [_made_check(one) for one in self.own]
        found = [attrs.evolve(one, run=_or_nearby(one)) for one in (*function_checks(), *made)]
        return [one for one in found if self.wanted is None or one.name in self.wanted]

    def cases_for(self, primitive: Any, check: Check) -> Sequence[Any]:
        """The calls as given, or in double precision where the check asks for that."""
        given = self.cases[primitive]
        if self._is_as_given(check):
            return given
        return [self.doubles.get(i, call) for i, call in enumerate(given)]

    def _is_as_given(self, check: Check) -> bool:
        """Tell whether a check gets calls as they are, and not in double precision."""
        named = [one for one in self.own if one.name == check.name]
        return is_as_given(check.name) or any(not one.in_double for one in named)

    def smaller(self, primitive: Any, case: Any, check: Check, fails: Callable[[Any], bool]) -> Any:
        """The smallest call that fails in the same way; of strategies, one that they give."""
        if not case.is_drawn or self.source is None:
            return super().smaller(primitive, case, check, fails)

        def tried(call: FunctionCall) -> FunctionCall:
            with suppress(NotApplicable):
                return call if self._is_as_given(check) else widened(call)  # type: ignore[return-value]
            return call

        found = self.source.smallest(case, lambda call: fails(tried(call)))
        return case if found is None else tried(found)

    def why_not(self, primitive: Any, check: Check) -> str | None:
        """The reason why a check says nothing: there is no compiler."""
        if check.name.startswith("compiled") and self.compiler is None:
            return "no compiling backend is installed"
        return None

    def rule_of(self, primitive: Any, kind: str) -> Rule | None:
        """No rule: functions have none."""
        return None

    def note_stuck(self, culprit: Culprit) -> None:
        """Remember what did not come back; where it is the function itself, nothing can be said."""
        kind = EVALUATION[0] if culprit.kind == FUNCTION else culprit.kind
        super().note_stuck(Culprit(culprit.primitive, kind))

    def describe(self, culprit: Culprit) -> str:
        """The function, with its place."""
        if isinstance(culprit.primitive, Function):
            return culprit.primitive.place
        return super().describe(culprit)

    def blamed(
        self, culprit: Culprit, case: Any, check: Check, error: Exception
    ) -> tuple[str, str]:
        """The rule or function behind the failure, with its place."""
        return place_of(case, check, error, self.compiler, self.time_limit)

    def program(self, case: Any, check: Check) -> str:
        """A program that repeats a failure."""
        setup = next((one.setup for one in self.own if one.name == check.name), "")
        return setup + program_of(case, check.name)

    def mark(self, groups: Sequence[Any]) -> None:
        """Say that what fails because of the same rule follows from the most basic failure."""
        failed = [one for one in groups if one.result.status == FAILED]
        place = failed[0].primitive.place if failed else ""

        def order(group: Any) -> tuple[bool, int, bool]:
            own = group.result.rule.startswith(place)
            return own, group.check.rank, group.check.name in SECOND

        failed.sort(key=order)
        causes: list[Any] = []
        for group in failed:
            own = group.result.rule.startswith(place)
            cause = next((c for c in causes if own or c.result.rule == group.result.rule), None)
            if cause is None:
                causes.append(group)
            else:
                result = cause.result
                group.result.follows = f"{result.primitive}, {result.check}: {result.rule}"


def _made_check(one: FunctionCheck) -> Check:
    """The check that a package gives."""
    run: Callable[[Any], None] = one.run
    return attrs.evolve(made_check(RuleCheck(FUNCTION, one.name, run)), rank=4)


_SECOND_BY_DIFFERENCES = ("second order", "second order in reverse mode", "symmetry")
_BY_DIFFERENCES = ("jvp", "reverse", *_SECOND_BY_DIFFERENCES)
"""Checks that say nothing where a function has no derivative."""
_BY_VALUES = (*FORWARD, *REVERSE, "complex step")
"""Checks that compare derivatives with what values say of them."""


def _or_nearby(check: Check) -> Callable[[Any, str | None], None]:
    """A check that looks at operands nearby where it says nothing of those given, as at a kink."""
    run = _unless_stopped(check)
    if check.name not in _BY_DIFFERENCES:
        return run

    def either(call: FunctionCall, compiler: str | None) -> None:
        try:
            run(call, compiler)
        except NotApplicable as reason:
            near = call.nearby()
            if near is None:
                raise
            try:
                run(near, compiler)
            except Mismatch as error:
                text = f"{error} That is a little off the operands, where the check can compare."
                raise Mismatch(text, error.kind) from error.__cause__
            except Exception:  # the function may not take such operands
                raise reason from None

    return either


def _unless_stopped(check: Check) -> Callable[[Any, str | None], None]:
    """A check that says nothing where derivatives are not those of the values on purpose.

    These are derivatives through ``stop_gradient``, and second ones for which a rule of bindax has
    no formula, or where there is not even a first one, as at equal eigenvalues.
    """

    def run(call: Any, compiler: str | None) -> None:
        try:
            check.run(call, compiler)
        except Mismatch:
            stopped = check.name in _BY_VALUES and _stops(call)
            if stopped:
                raise NotApplicable(f"its values go through stop_gradient, at {stopped}") from None
            if check.name in _SECOND_BY_DIFFERENCES and not is_smooth(call):
                raise NotApplicable("it has no derivative at these operands") from None
            size = narrowest(call)
            if size >= min((real_size(aval.dtype) for aval in _inexact(call)), default=8):
                raise
            with rounded_to(size):  # as in the products of a model in mixed precision
                check.run(call, compiler)
        except TypeError as error:
            if check.name in SECOND and is_refusal(error):
                raise NotApplicable(str(error)) from error
            raise

    return run


def _inexact(call: FunctionCall) -> list[Any]:
    """The types of its operands and results that are real or complex numbers."""
    found = [*call.avals, *map(typeof, call.call(*call.operands))]
    return [aval for aval in found if is_differentiable(aval.dtype)]


def _stops(call: Any) -> str:
    """The line of a ``stop_gradient`` that a function goes through; empty without one."""
    if not isinstance(call, FunctionCall):
        return ""
    names = {"stop_gradient"}
    return next((p.site for p in parts_of(call) if p.eqn.primitive.name in names), "")


def plan_of(source: Source, *, seed: int, time_limit: float, budget: float) -> FunctionPlan:
    """The plan for a function on some calls.

    Of a function that does not return in time there are the calls as they are: checks say that.
    """
    backend = find_backend(config.backend).name
    calls = source.calls()
    function = calls[0].function
    subject = Subject(function.name, {}, ())
    compiler = None if backend == "numpy" else backend
    plan = FunctionPlan(subject, seed, time_limit, compiler, function=function, source=source)
    doubles: dict[int, Any] = {}
    with checking(), suppress(TimeLimitExceeded):
        for call in calls:
            run_limited(partial(_call_with_others, call), time_limit)
        calls, doubles = run_limited(partial(_prepared, calls), budget)
    plan.cases, plan.doubles = {function: calls}, doubles  # type: ignore[dict-item]
    return plan


def _linear_leaves(function: Function, linear: bool | Sequence[int]) -> tuple[int, ...]:
    """The positions of the flat operands in which the function is said to be linear."""
    if linear is False:
        return ()
    numbers = [i for i in range(len(function.paths)) if i not in function.statics]
    paths = [function.paths[i] for i in numbers]
    if linear is True:
        return tuple(range(len(paths)))
    wanted = tuple(f"args[{i}]" for i in linear)
    return tuple(i for i, path in enumerate(paths) if path.startswith(wanted))


def _prepared(calls: Sequence[FunctionCall]) -> tuple[list[FunctionCall], dict[int, Any]]:
    """The calls without what the function has no rules for, and in double precision."""
    made = [_without(call, dict(left_out_of(call))) for call in calls]
    doubles = {}
    for i, call in enumerate(made):
        with suppress(NotApplicable):
            doubles[i] = widened(call)
    return made, doubles


def _call_with_others(call: FunctionCall) -> None:
    """Make another call first: a function that remembers it gives away that it does."""
    try:
        call.call(*call.draws[-1])
    except Exception:  # the checks say what is wrong
        return


def _without(call: FunctionCall, left_out: Mapping[str, str]) -> FunctionCall:
    """The call without what a function has no rules for."""
    skip = {**left_out, **call.skip}
    positions = tuple(range(len(call.operands))) if "no derivative" in left_out else ()
    return attrs.evolve(call, skip=skip, no_derivative=positions)


def left_out_of(call: FunctionCall) -> Iterator[tuple[str, str]]:
    """The checks that a function has no rules for, each with the reason."""
    try:
        parts = parts_of(call)
    except Exception:  # the checks say what is wrong
        return
    yield from _no_batches(call, parts)
    if call.positions:
        yield from _no_derivatives(call, parts)


def _no_batches(call: FunctionCall, parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if part.eqn.params.get("vmap_method", "") is None:
            why = f"{part.eqn.primitive.name} was given no vmap_method, at {part.site}"
            yield from dict.fromkeys(BATCHES, why).items()
            return
    try:
        make_jaxpr(vmap(call.call, in_axes=None, axis_size=2))(*call.operands)
    except MissingRuleError as error:
        yield from dict.fromkeys(BATCHES, str(error)).items()
    except Exception:
        return


def _no_derivatives(call: FunctionCall, parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    positions = call.positions
    primals = [call.operands[i] for i in positions]

    def part(*given: Any) -> list[Any]:
        full = list(call.operands)
        for i, x in zip(positions, given, strict=True):
            full[i] = x
        return call.call(*full)

    forward = reverse = ""
    try:
        jvp(part, primals, tangents_of(call, positions))
    except MissingRuleError as error:
        forward = str(error).partition(". ")[0]
    except TypeError:
        if any(one.eqn.primitive.name == "custom_vjp_call" for one in parts):
            forward = "a custom_vjp function has no derivative in forward mode"
    except Exception:  # the checks say what is wrong
        forward = ""
    try:
        make_jaxpr(lambda *xs: vjp(part, *xs)[1](part(*xs)))(*primals)
    except MissingRuleError as error:
        reverse = str(error).partition(". ")[0]
    except Exception:  # the checks say what is wrong
        reverse = ""
    if forward and reverse:
        yield "no derivative", reverse
    yield from dict.fromkeys(FORWARD if forward else (), forward).items()
    yield from dict.fromkeys(REVERSE if reverse else (), reverse).items()
