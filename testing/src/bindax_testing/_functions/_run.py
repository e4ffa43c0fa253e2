"""``check_function``: the verdict on one function."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from bindax_testing._functions._checks import function_checks
from bindax_testing._functions._extensions import FunctionAdapter, FunctionCheck, extensions
from bindax_testing._functions._plan import FunctionPlan, plan_of
from bindax_testing._functions._report import FunctionReport
from bindax_testing._functions._source import Source
from bindax_testing._results import RuleResult
from bindax_testing._runner import Progress, groups_of, run_and_report


def check_function(
    function: Callable[..., Any],
    *args: Any,
    linear: bool | Sequence[int] = False,
    checks: Collection[str] | None = None,
    skip: Mapping[str, str] | None = None,
    seed: int = 0,
    budget: float = 60.0,
    time_limit: float = 10.0,
    progress: Progress | None = None,
) -> FunctionReport:
    """Check that a function and all that is made of it by transformations agree.

    Its derivatives are compared with differences of its values and with each other, ``vmap`` with
    a loop, ``jit`` with eager evaluation, and it is run inside of loops, branches and checkpoints.
    It has to be pure. Checks run in double precision where the function allows that.

    Args:
        function: any function of arrays and trees of arrays, or an object that is called, such as
            a module.
        args: its arguments: values, or strategies of hypothesis for some of them.
        linear: whether it is said to be linear in all of its arguments; or the positions of the
            arguments in which it is.
        checks: the names of the checks to run; all of them where it is None.
        skip: checks to leave out, by name, each with the reason.
        seed: what random directions are drawn from.
        budget: the seconds that it may take; the report is OK only if they were enough.
        time_limit: the seconds that a single check may take.
        progress: called with the ``RuleResult`` of a check after each of its cases.

    Returns:
        A report, whose failures say what is wrong, which function at which line is to blame, and
        come with a program that repeats them. What was not checked is in it with the reason.

    Raises:
        ValueError: when there is no check of a name that is given.
        CheckInterrupted: when Ctrl-C was pressed; it has the report of what was checked before.

    >>> from bindax_transforms import custom_vjp
    >>> @custom_vjp
    ... def double(x):
    ...     return x + x
    >>> double.defvjp(lambda x: (x + x, None), lambda _, ct: (ct,))
    >>> report = check_function(double, 1.5, checks=["reverse"])
    >>> report.ok
    False
    >>> report.failures[0].rule
    'the bwd rule <lambda> (...), or the residuals of ..., of the custom_vjp function double (...)'
    """
    start = time.perf_counter()
    given: Any = extensions()
    own = [one for one in given if isinstance(one, FunctionCheck)]
    _require_known([*(checks or ()), *(skip or ())], own)
    adapters = [x for x in given if isinstance(x, FunctionAdapter)]
    source = Source(function, args, seed, adapters)
    plan = plan_of(source, seed=seed, time_limit=time_limit, budget=budget)
    plan.restrict(own, checks, skip or {}, linear)
    left = budget - (time.perf_counter() - start)
    report = partial(_report, plan, budget, start)
    return run_and_report(plan, groups_of(plan, [plan.function]), left, report, progress=progress)


def _report(
    plan: FunctionPlan, budget: float, start: float, results: list[RuleResult]
) -> FunctionReport:
    seconds = time.perf_counter() - start
    return FunctionReport(plan.subject.name, plan.seed, budget, seconds, plan.compiler, results)


def _require_known(names: Iterable[str], own: Iterable[FunctionCheck]) -> None:
    """Raise for the name of a check that there is not."""
    known = [one.name for one in function_checks()] + [one.name for one in own]
    for name in names:
        if name not in known:
            raise ValueError(
                f"there is no check {name!r}; there are {', '.join(map(repr, known))}."
            )
