"""Running the checks on damaged rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import attrs
import numpy as np

from bindax_core.errors import PluginError
from bindax_core.extend import Primitive, RuleKind, rule_kinds, subjaxprs
from bindax_mutation._damages import damages_for
from bindax_mutation._report import EQUIVALENT, KILLED, SURVIVED, Mutant, MutationReport
from bindax_mutation._transformations import Damage
from bindax_testing.extend import (
    Case,
    Check,
    NotApplicable,
    Plan,
    Subject,
    checking,
    make_plan,
    run_limited,
    subject_of,
    subject_with,
)

SECONDS = 6.0
_PATIENCE = 10
"""A factor on the time of a check without a mistake, as the machine may be busy."""
MANY = 12
T = TypeVar("T")
Progress = Callable[[Mutant], None]
Step = tuple[Check, Case]


@attrs.frozen(eq=False)
class Candidate:
    """A damage to a rule; a mutant once the damage was seen to change something."""

    primitive: Primitive
    kind: RuleKind
    damage: Damage


def mutate_plugin(
    name: str,
    *,
    count: int | None = None,
    seed: int = 0,
    primitives: Iterable[str] = (),
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> MutationReport:
    """Damage the rules of a plugin one at a time, and see whether the checks notice.

    A mistake that goes unnoticed is either equivalent, which the plugin states with
    ``EquivalentMutant`` and the reason, or a gap in its samples (or in the checks). The method is
    mutation testing: DeMillo, Lipton, Sayward, *Hints on test data selection*, Computer 11 (1978).

    Args:
        name: the plugin or its distribution, installed.
        count: how many mutants to try, drawn by the seed; all of them when it is None.
        seed: what the mutants and the samples are drawn from.
        primitives: the names of the primitives to look at; all when there are none.
        seconds: how long the checks may compute to find one mistake before it counts as unnoticed.
        progress: called with each ``Mutant`` as it is decided.

    Returns:
        The mutants, each killed (with the check that noticed it), equivalent, or surviving.

    Raises:
        PluginError: when no such plugin is installed, it does not load, or has no primitive of a
            name in ``primitives``.
    """
    found = narrowed(subject_of(name), list(primitives))
    return _mutate(found, count, seed, seconds, progress)


def mutate_rules(
    primitives: Primitive | Iterable[Primitive],
    samples: Iterable[Any],
    *,
    count: int | None = None,
    seed: int = 0,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> MutationReport:
    """Damage the rules of primitives that no plugin offers, such as those of a notebook.

    Args:
        primitives: a primitive, or several.
        samples: made by ``sample``, ``elementwise`` and ``EquivalentMutant``.
        count: as for ``mutate_plugin``.
        seed: as for ``mutate_plugin``.
        seconds: as for ``mutate_plugin``.
        progress: as for ``mutate_plugin``.
    """
    return _mutate(subject_with(primitives, samples), count, seed, seconds, progress)


def _mutate(
    subject: Subject, count: int | None, seed: int, seconds: float, progress: Progress | None
) -> MutationReport:
    start = time.perf_counter()
    plan = make_plan(subject, seed=seed)
    with checking():
        mutants = gathered(
            _candidates(plan), partial(_tried, plan, seconds, {}), count, seed, progress
        )
    seconds = time.perf_counter() - start
    nothing = "" if subject.kinds else f"{subject.name} declares no primitive, and has no rules."
    return MutationReport(subject.name, seed, seconds, mutants, nothing)


def gathered(
    candidates: Sequence[T],
    tried: Callable[[T], Mutant | None],
    count: int | None,
    seed: int,
    progress: Progress | None,
) -> list[Mutant]:
    """The mutants among candidates: so many, drawn by the seed, or all without a count."""
    drawn = np.random.default_rng(seed).permutation(len(candidates)).tolist()
    mutants: list[Mutant] = []
    for i in range(len(candidates)) if count is None else drawn:
        if len(mutants) == count:
            break
        mutant = tried(candidates[i])
        if mutant is not None:
            mutants.append(mutant)
            if progress is not None:
                progress(mutant)
    return mutants


def narrowed(subject: Subject, names: Sequence[str]) -> Subject:
    """The subject with some of its primitives only."""
    if not names:
        return subject
    have = {primitive.name for primitive in subject.primitives}
    for one in names:
        if one not in have:
            raise PluginError(
                f"{subject.name} has no primitive {one!r}; it has {', '.join(sorted(have))}."
            )
    kinds = {p: kinds for p, kinds in subject.kinds.items() if p.name in names}
    return attrs.evolve(subject, kinds=kinds)


def _candidates(plan: Plan) -> list[Candidate]:
    found = []
    for primitive in plan.subject.primitives:
        wanted = plan.subject.kinds[primitive]
        params = [case.params for case in plan.cases[primitive]]
        for kind in list(rule_kinds.values()):
            rule = kind.rule_of(primitive)
            mine = wanted is None or kind.name in wanted
            if mine and rule is not None and rule.is_present and rule.derived is None:
                damages = damages_for(kind, primitive, params)
                found += [Candidate(primitive, kind, damage) for damage in damages]
    return found


def _tried(
    plan: Plan, seconds: float, sound: dict[Step, bool], candidate: Candidate
) -> Mutant | None:
    """Return the fate of a mutant, or None when the damage never changed anything.

    A check that fails without the damage, too, tells nothing: ``sound`` remembers which ones pass.
    """
    patient = attrs.evolve(plan, time_limit=_PATIENCE * plan.time_limit)
    touched = [False]

    def wrap(rule: Any) -> Any:
        def wrong(*args: Any, **params: Any) -> Any:
            # A rule may use its operands up (an iterator of tracers), so the order matters: the
            # damage decides first, and only where it has nothing to change the rule runs as it is.
            out = candidate.damage.apply(partial(rule, **params), args)
            if out is None:
                return rule(*args, **params)
            touched[0] = True
            return out

        return wrong

    primitive, kind = candidate.primitive, candidate.kind
    forget(plan, primitive)
    while True:
        with kind.wrapped(primitive, wrap):
            step, left = _noticed(plan, candidate, touched, seconds, sound)
        forget(plan, primitive)
        if step is None or sound.setdefault(step, not fails(patient, *step)):
            break
    if not touched[0]:
        return None
    mutant = Mutant(primitive.name, kind.name, candidate.damage.name, SURVIVED)
    if step is not None:
        return attrs.evolve(mutant, status=KILLED, check=step[0].name, blamed=step[0].kind)
    for one in plan.subject.equivalent:
        if one.matches(primitive.name, kind.name, candidate.damage.name):
            return attrs.evolve(mutant, status=EQUIVALENT, reason=one.reason)
    return attrs.evolve(mutant, reason=f"{left} steps were left after {seconds:g} s" * bool(left))


def _noticed(
    plan: Plan, candidate: Candidate, touched: list[bool], seconds: float, sound: dict[Step, bool]
) -> tuple[Step | None, int]:
    """The first step that fails, and how many were left when time ran out."""
    deadline = time.process_time() + seconds  # beside other work, too, the same checks are made
    likely, others = _steps(plan, candidate)
    for done, step in enumerate([*likely, *others]):
        if done == len(likely) and not touched[0]:
            return None, 0  # what changed nothing so far is no mutant
        if time.process_time() > deadline:
            return None, len(likely) + len(others) - done
        check, case = step
        if case.skip.get(check.name) is None and sound.get(step, True) and fails(plan, *step):
            return step, 0
    return None, 0


def fails(plan: Plan, check: Check, case: Case) -> bool:
    """Tell whether a check fails on a case."""
    try:
        run_limited(partial(check.run, case, plan.compiler), plan.time_limit)
    except NotApplicable:
        return False
    except Exception:
        return True
    return False


def _steps(plan: Plan, candidate: Candidate) -> tuple[list[Step], list[Step]]:
    """The checks to run, each with a case, and those that come after them.

    First all checks on two cases, then those of the damaged rule's kind on every case, then the
    others on a few more: by then a mistake has been met if it ever is.
    """
    checks = plan.telling(candidate.primitive)
    own = [check for check in checks if check.kind == candidate.kind.name]
    others = [check for check in checks if check.kind != candidate.kind.name]
    cases = plan.cases[candidate.primitive]
    first = [(check, case) for case in cases[:2] for check in (*own, *others)]
    first += [(check, case) for check in own for case in cases[2:]]
    first += [(check, case) for check in others for case in cases[2:MANY]]
    return first, [(check, case) for check in others for case in cases[MANY:]]


def forget(plan: Plan, primitive: Primitive) -> None:
    """Forget what was made with a rule: types, transformed programs and executables."""
    primitive.forget_types()
    for case in plan.cases[primitive]:
        _forget_programs(dict(case.params))


def _forget_programs(params: dict[str, Any]) -> None:
    for _, closed in subjaxprs(params):
        closed.cache.clear()
        for eqn in closed.jaxpr.eqns:
            _forget_programs(eqn.params)
