"""``check_backend``: the verdict on one backend."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from bindax_core.extend import find_backend
from bindax_testing._backends._plan import BackendPlan, Chosen, plan_of
from bindax_testing._backends._report import BackendReport
from bindax_testing._backends._values import SPECIAL, SPECIAL_ENDING, Values
from bindax_testing._results import FAILED, RuleResult
from bindax_testing._runner import Progress, groups_of, run_and_report


def check_backend(
    name: str,
    *,
    primitives: Collection[str] | None = None,
    checks: Collection[str] | None = None,
    programs: int | Collection[int] = 20,
    units: Mapping[str, float] | None = None,
    unsupported: Collection[str] | None = None,
    differences: Mapping[str, str] | None = None,
    seed: int = 0,
    budget: float = 300.0,
    time_limit: float = 30.0,
    progress: Progress | None = None,
) -> BackendReport:
    """Check that a backend computes what primitives and programs mean, and keeps its contract.

    All primitives of installed packages are compiled by the backend, in each dtype of their
    samples, and compared with evaluation: types, special values, units in the last place. So are
    programs, and buffers, layouts, donation, errors, threads, effects, collectives, random numbers.
    A primitive that is not supported raises an error that names it and the backend.

    Args:
        name: the name of the backend.
        primitives: the names of the primitives to check; all where it is None. Where they are
            given, programs and the interface are checked only as ``checks`` says so.
        checks: the names of the checks to run, such as those of dtypes; all where it is None.
        programs: how many generated programs are run, or their numbers.
        units: other bounds than those of the table, as ``{"lgamma": 64.0, "sin float32": 9.0}``,
            besides those in the attribute ``units`` of the backend.
        unsupported: the primitives and dtypes that it does not support, and no other primitives;
            where it is None, the attribute ``unsupported`` of the backend, else any may.
        differences: results known to be others, as ``{"atan2: special values": "it may be nan"}``,
            besides those in ``differences`` of the backend; one that does not occur is a failure.
        seed: what values are drawn from.
        budget: the seconds that it may take; the report is OK only if they were enough.
        time_limit: the seconds that one check of one case may take.
        progress: called with the ``RuleResult`` of a check after each of its cases.

    Returns:
        A report, whose failures name the primitive and come with a program that repeats them.

    Raises:
        BackendError: when there is no such backend.
        ValueError: when there is no primitive or check of a name that is given.
        CheckInterrupted: when Ctrl-C was pressed; it has the report of what was checked before.

    >>> check_backend("numpy", primitives=["add"], checks=["float32"]).ok
    True
    """
    start = time.perf_counter()
    backend = find_backend(name)
    stated = getattr(backend, "unsupported", None) if unsupported is None else unsupported
    values = _values(backend, name, units or {}, differences or {}, frozenset(stated or ()))
    chosen = Chosen(primitives, checks, programs)
    plan = plan_of(name, chosen, values, seed=seed, time_limit=time_limit)
    _require_names(plan, chosen)
    groups = groups_of(plan, plan.cases)
    left = budget - (time.perf_counter() - start)
    report = partial(_report, plan, budget, start, None if stated is None else frozenset(stated))
    return run_and_report(plan, groups, left, report, progress=progress)


def _values(
    backend: Any,
    name: str,
    units: Mapping[str, float],
    differences: Mapping[str, str],
    unsupported: frozenset[str],
) -> Values:
    """The comparison with the reference, by what the backend and the caller state."""
    return Values(
        name,
        {**getattr(backend, "units", {}), **units},
        {**getattr(backend, "differences", {}), **differences},
        unsupported,
    )


def _report(
    plan: BackendPlan,
    budget: float,
    start: float,
    stated: frozenset[str] | None,
    results: list[RuleResult],
) -> BackendReport:
    values = plan.values
    if stated is not None:
        _require_stated(plan, stated, results)
    _require_differences(plan, results)
    return BackendReport(
        plan.subject.name,
        plan.seed,
        budget,
        time.perf_counter() - start,
        plan.compiler,
        [*plan.problems, *results],
        [one.name for one in plan.primitives],
        [values.measured[key] for key in sorted(values.measured)],
        dict(sorted(values.refused.items())),
        {key: values.differences[key] for key in sorted(values.differing)},
    )


def _require_stated(plan: BackendPlan, stated: frozenset[str], results: list[RuleResult]) -> None:
    """Turn what is supported or not, and is not stated so, into failures."""
    refused = plan.values.refused
    partly = {one.primitive for one in results if one.ran + one.inapplicable < one.planned}
    for one in results:
        if one.primitive in refused and one.primitive not in stated and one.status == "skipped":
            one.status = FAILED
            one.reason = f"it should be supported, but is {refused[one.primitive]}"
        elif (
            one.primitive in stated - refused.keys() - partly  # another case may be refused
            and one.status == "passed"
        ):
            one.status = FAILED
            one.reason = "it is stated not to be supported, but is; remove it from `unsupported`."


def _require_differences(plan: BackendPlan, results: list[RuleResult]) -> None:
    """Turn results that are as they should be, and are stated to differ, into failures."""
    values = plan.values
    for stated in values.differences.keys() - values.differing:
        subject, special, _ = stated.partition(SPECIAL_ENDING)
        name, _, dtype = subject.partition(" ")
        checks = {SPECIAL} if special else {dtype} if dtype else plan.dtypes
        for one in results:
            is_whole = one.ran + one.inapplicable == one.planned
            concerns = one.primitive == name and one.check in checks
            if concerns and is_whole and one.status != FAILED:
                one.status = FAILED
                one.reason = (
                    f"{subject} is stated to differ ({values.differences[stated]}), but does not; "
                    f"remove {stated!r} from `differences`."
                )


def _require_names(plan: BackendPlan, chosen: Chosen) -> None:
    """Raise for the name of a primitive or check that there is not."""
    known = [one.name for one in plan.primitives]
    for name in chosen.primitives or ():
        if name not in known:
            raise ValueError(f"no installed package has a primitive {name!r}; see `bindax rules`.")
    checks = sorted({name for one in plan.cases for name in plan.names_of(one)})
    for name in chosen.checks or ():
        if name not in checks:
            listed = ", ".join(map(repr, checks))
            raise ValueError(f"there is no check {name!r}; there are {listed}.")
