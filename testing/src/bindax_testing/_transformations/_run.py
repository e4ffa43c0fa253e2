"""``check_transformation``: the verdict on one transformation."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from bindax_testing._functions._extensions import extensions
from bindax_testing._results import RuleResult
from bindax_testing._runner import Progress, groups_of, run_and_report
from bindax_testing._transformations._checks import checks_of_transformations
from bindax_testing._transformations._plan import PRIMITIVE, TransformationPlan, plan_of
from bindax_testing._transformations._report import TransformationReport
from bindax_testing._transformations._subject import Function, TransformationSample


def transformation(
    transform: Callable[[Function], Function],
    *,
    lift: Callable[[Any], Any] | None = None,
    known: Callable[[Any], Any] | None = None,
    value: Callable[[Any], Any] | None = None,
    skip: Mapping[str, str] | None = None,
) -> TransformationSample:
    """Say how a transformation is checked, for the hook ``bindax_samples``.

    Args:
        transform: takes a function of arrays, and returns what it becomes.
        lift: makes of an array the argument that stands for it and nothing more, such as the
            interval from a number to itself. Without it, arrays are given as they are.
        known: makes of an array an argument with what the transformation is about, such as a wider
            interval; without it, as ``lift``.
        value: takes a result of what the function became, and returns that of the function: an
            array, or a list of arrays. Without it, both are the same.
        skip: checks, programs and primitives to leave out, by name, each with the reason.

    >>> transformation(lambda f: f).name
    '<lambda>'
    """
    given = {"lift": lift, "known": known or lift, "value": value, "skip": skip}
    made = {key: one for key, one in given.items() if one is not None}
    return TransformationSample(transform, **made)  # type: ignore[arg-type]


def check_transformation(
    transform: Callable[[Function], Function] | TransformationSample,
    *,
    lift: Callable[[Any], Any] | None = None,
    known: Callable[[Any], Any] | None = None,
    value: Callable[[Any], Any] | None = None,
    skip: Mapping[str, str] | None = None,
    checks: Collection[str] | None = None,
    seed: int = 0,
    budget: float = 60.0,
    time_limit: float = 10.0,
    progress: Progress | None = None,
) -> TransformationReport:
    """Check that what a transformation makes of functions are these functions, in any order.

    Values, types and effects of the transformed function have to be those of the function; what is
    known of results has to be the same with ``jit``, ``vmap``, loops, branches and custom
    derivative rules inside and outside; it keeps no traced values and no state. Primitives that it
    has no rule for are named.

    Args:
        transform: takes a function of arrays, and returns what it becomes; or a
            ``TransformationSample``, which brings the next four.
        lift: as for ``transformation``.
        known: as for ``transformation``.
        value: as for ``transformation``.
        skip: as for ``transformation``.
        checks: the names of the checks to run; all of them where it is None.
        seed: what values and directions are drawn from.
        budget: the seconds that it may take; the report is OK only if they were enough.
        time_limit: the seconds that one check of one function may take.
        progress: called with the ``RuleResult`` of a check after each of its cases.

    Returns:
        A report, whose failures say what is wrong, which rule or transformation at which line is
        to blame, and come with a program that repeats them.

    Raises:
        ValueError: when there is no check of a name that is given.
        CheckInterrupted: when Ctrl-C was pressed; it has the report of what was checked before.

    >>> def rounded(function):
    ...     return lambda *xs: [2 * x for x in function(*xs)]
    >>> report = check_transformation(rounded, checks=["values"])
    >>> report.ok
    False
    >>> report.failures[0].rule
    'rounded (...), at mul'
    """
    start = time.perf_counter()
    given = transform
    if not isinstance(given, TransformationSample):
        given = transformation(given, lift=lift, known=known, value=value, skip=skip)
    _require_known(checks or ())
    plan = plan_of(given, seed=seed, time_limit=time_limit, wanted=checks)

    groups = groups_of(plan, plan.cases)
    left = budget - (time.perf_counter() - start)
    report = partial(_report, plan, budget, start)
    return run_and_report(plan, groups, left, report, progress=progress)


def _report(
    plan: TransformationPlan, budget: float, start: float, results: list[RuleResult]
) -> TransformationReport:
    seconds = time.perf_counter() - start
    return TransformationReport(
        plan.subject.name,
        plan.seed,
        budget,
        seconds,
        plan.compiler,
        results,
        dict(plan.missing),
    )


def check_names() -> list[str]:
    """The names of all checks of transformations."""
    return [one.check.name for one in checks_of_transformations(extensions())] + [PRIMITIVE]


def _require_known(names: Collection[str]) -> None:
    """Raise for the name of a check that there is not."""
    known = check_names()
    for name in names:
        if name not in known:
            raise ValueError(
                f"there is no check {name!r}; there are {', '.join(map(repr, known))}."
            )
