"""The suite's public functions: check a plugin, in its own tests or anywhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from bindax_core import find_primitive
from bindax_core.errors import PluginError
from bindax_core.extend import Primitive
from bindax_testing._cases import Case, cases_of
from bindax_testing._containers import container_results
from bindax_testing._plan import Plan, make_plan
from bindax_testing._pytrees._run import CHECKS as PYTREE_CHECKS
from bindax_testing._results import UNCHECKED, CheckInterrupted, RuleReport, RuleResult
from bindax_testing._runner import Progress, check_subject, groups_of, run_groups, run_one
from bindax_testing._subjects import subject_of, subject_with
from bindax_testing._transformations._run import check_names, check_transformation


def check_plugin(
    name: str,
    *,
    budget: float = 60.0,
    seed: int = 0,
    time_limit: float = 10.0,
    samples: Iterable[Any] = (),
    progress: Progress | None = None,
) -> RuleReport:
    """Check the rules of an installed plugin, its containers and its transformations.

    Rules have to agree with each other and with the math, containers with the contract of pytrees;
    rules of kinds of third parties are checked by the checks that those give.

    Args:
        name: the plugin or its distribution.
        budget: the seconds that it may take. Every check runs on one case of every primitive as
            far as they last, then on more; the report says what was left out. A check that ran on
            no case is not proved, so that the report is not OK.
        seed: what samples are drawn from, and chosen by.
        time_limit: the seconds that one check of one case may take.
        samples: samples and expected failures besides those of the plugin's ``bindax_samples``.
        progress: called with the ``RuleResult`` of a check after each of its cases.

    Returns:
        A report, which names the rule that is wrong and prints a test that repeats the failure.

    Raises:
        PluginError: when no such plugin is installed, or it does not load.
        CheckInterrupted: when Ctrl-C was pressed; it has the report of what was checked before.
    """
    start = time.perf_counter()
    found = subject_of(name, samples)
    report = check_subject(
        found, budget=budget, seed=seed, time_limit=time_limit, progress=progress
    )
    for one in found.transformations:
        left = max(budget - (time.perf_counter() - start), 0.0)
        try:
            more: RuleReport = check_transformation(
                one, budget=left, seed=seed, time_limit=time_limit, progress=progress
            )
        except CheckInterrupted as error:
            raise CheckInterrupted(_with(report, error.report)) from error
        report = _with(report, more)
    return report


def _with(report: RuleReport, more: RuleReport) -> RuleReport:
    """A report with the results of another one."""
    return attrs.evolve(
        report,
        results=[*report.results, *more.results],
        seconds=report.seconds + more.seconds,
    )


def check_rules(
    primitives: Primitive | Iterable[Primitive],
    samples: Iterable[Any],
    *,
    budget: float = 60.0,
    seed: int = 0,
    time_limit: float = 10.0,
) -> RuleReport:
    """Check the rules of primitives that no plugin offers, such as those of a notebook.

    Args:
        primitives: a primitive, or several.
        samples: made by ``sample``, ``elementwise`` and ``ExpectedFailure``.
        budget: as for ``check_plugin``.
        seed: as for ``check_plugin``.
        time_limit: as for ``check_plugin``.

    >>> import numpy as np
    >>> from bindax_core.extend import primitive, rules
    >>> from bindax_testing import array, sample
    >>> twice_p = primitive(
    ...     "documentation.twice_a",
    ...     rules.impl(lambda x: 2 * x),
    ...     rules.abstract_eval(lambda x: x),
    ...     rules.jvp(lambda primals, tangents: (twice_p.bind(*primals), twice_p.bind(*tangents))),
    ...     rules.vmap(lambda size, operands, dims: (twice_p.bind(*operands), dims[0])),
    ...     rules.transpose(lambda cotangent, x: [twice_p.bind(cotangent)]),
    ...     rules.lowering["stablehlo"].absent("an example"),
    ... )
    >>> report = check_rules(twice_p, [sample(twice_p, array((3,)))], budget=10)
    >>> report.ok, isinstance(report, RuleReport), isinstance(report.results[0], RuleResult)
    (True, True, True)
    """
    found = subject_with(primitives, samples)
    return check_subject(found, budget=budget, seed=seed, time_limit=time_limit)


def check_primitive(
    primitive: Primitive | str,
    check: str,
    draws: Sequence[Sequence[Any]],
    params: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    time_limit: float = 10.0,
    no_derivative: Sequence[int] = (),
) -> None:
    """Run one check on given operands; what failure reports print as a test.

    Args:
        primitive: the primitive or its name.
        check: the name of the check.
        draws: some lists of operands of the same types; the first one is the one that matters,
            checks of batches use the others too.
        params: the parameters.
        seed: what random directions are drawn from.
        time_limit: the seconds that it may take.
        no_derivative: the positions of operands that have no derivative.

    Raises:
        AssertionError: when a rule is wrong; the message names it.

    >>> import numpy as np
    >>> from bindax_core.extend import primitive, rules
    >>> same_p = primitive(
    ...     "documentation.same",
    ...     rules.impl(lambda x: x),
    ...     rules.abstract_eval(lambda x: x),
    ...     rules.jvp(lambda primals, tangents: (same_p.bind(*primals), same_p.bind(*tangents))),
    ...     rules.vmap(lambda size, operands, dims: (same_p.bind(*operands), dims[0])),
    ...     rules.transpose(lambda cotangent, x: [cotangent]),
    ...     rules.lowering["stablehlo"].absent("an example"),
    ... )
    >>> check_primitive(same_p, "types", [[np.ones(3)]])  # raises AssertionError where it fails
    """
    found = find_primitive(primitive) if isinstance(primitive, str) else primitive
    case = Case(found, draws, dict(params or {}), seed=seed, no_derivative=tuple(no_derivative))
    run_one(case, check, time_limit)


def check_sample(plugin: str, label: str, check: str, *, seed: int = 0) -> None:
    """Run one check on every case of a sample of a plugin, named by its label.

    Raises:
        AssertionError: when a rule is wrong; the message names it.
    """
    found = subject_of(plugin)
    sample = next((one for one in found.samples if one.label == label), None)
    if sample is None:
        raise PluginError(f"the plugin {plugin!r} has no sample with the label {label!r}.")
    for case in cases_of(sample, found.kinds, seed):
        if case.primitive in found.kinds:
            run_one(case, check, own=found.checks)


@lru_cache(maxsize=8)
def plan_of(name: str, seed: int, time_limit: float) -> Plan:
    """The plan of a plugin, made once in a process: tracing the samples takes a while."""
    return make_plan(subject_of(name), seed=seed, time_limit=time_limit)


def check_one_of(
    name: str, primitive: str, check: str | None, seconds: float, seed: int, time_limit: float
) -> list[RuleResult]:
    """The results for one thing that a plugin brings, or one check; without a name, for samples."""
    plan = plan_of(name, seed, time_limit)
    if not primitive:
        return [one for one in plan.problems if not one.primitive]
    if primitive in plan.subject.container_names:
        return [
            result
            for result in container_results(plan.subject.types, plan.subject.containers)
            if result.primitive == primitive and check in (None, result.check)
        ]
    for one in plan.subject.transformations:
        if one.name == primitive:
            wanted = [check] if check else None
            report = check_transformation(
                one, checks=wanted, seed=seed, budget=seconds, time_limit=time_limit
            )
            return list(report.results)
    (chosen,) = [p for p in plan.subject.primitives if p.name == primitive]
    groups = groups_of(plan, [chosen])
    kept = [group for group in groups if check in (None, group.check.name)]
    results = run_groups(plan, kept, seconds)
    if check is not None:
        # A rule that only other checks exercise is theirs to report.
        results = [result for result in results if result.check == check]
    own = [one for one in plan.problems if one.primitive == primitive]
    return [*own, *results] if check is None or kept[0].check.rank == 0 else results


def checks_of(name: str) -> list[tuple[str, str]]:
    """All that a plugin brings, by name, each with the names of its checks."""
    found = subject_of(name)
    plan = Plan(found, 0, 0.0, None)  # nothing is run
    checks = [(p.name, check.name) for p in found.primitives for check in plan.checks_of(p)]
    checks += [(kind, check) for kind in found.container_names for check in PYTREE_CHECKS]
    names = check_names() if found.transformations else []
    return checks + [(one.name, check) for one in found.transformations for check in names]


def conformance(
    plugin: str, *, budget: float = 60.0, seed: int = 0, time_limit: float = 10.0
) -> Callable[..., None]:
    """A test function that checks a plugin, one test for each thing that it brings.

    A plugin's ``tests/test_conformance.py`` is::

        from bindax_testing import conformance

        test_rules = conformance("softsign")

    Args:
        plugin: the plugin or its distribution, installed.
        budget: the seconds that all tests together may take, shared evenly.
        seed: what samples are drawn from, and chosen by.
        time_limit: the seconds that one check of one case may take.

    Raises:
        PluginError: when no such plugin is installed, or it does not load.
    """
    import pytest

    found = subject_of(plugin)
    names = [*(primitive.name for primitive in found.primitives), *found.container_names]
    names += [one.name for one in found.transformations]
    share = budget / max(len(names), 1)

    @pytest.mark.parametrize("primitive", ["", *names], ids=["samples", *names])
    def test_rules(primitive: str) -> None:
        results = check_one_of(plugin, primitive, None, share, seed, time_limit)
        failures = [result for result in results if result.is_wrong]
        failures.sort(key=lambda result: bool(result.follows))
        if failures:
            pytest.fail("\n\n".join(map(str, failures)), pytrace=False)
        unchecked = [str(result) for result in results if result.status == UNCHECKED]
        sys.stdout.write("".join(f"{text}\n" for text in unchecked))  # shown by pytest -rP

    return test_rules
