"""What a case is, and how its times are taken."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any, NamedTuple, TypeAlias

# One measurement: the seconds that the task took, or what else the case counts.
Sampler: TypeAlias = Callable[[], float]


class Case(NamedTuple):
    """One task, done in two ways.

    Attributes:
        name: of the task.
        bindax: takes one sample of it done by bindax.
        reference: takes one sample of it done by JAX, or by what `against` says.
        target: the ratio to reach first.
        goal: the ratio to reach then.
        per: how many units the task has (equations, say); times are reported for one.
        against: whom bindax is compared with.
        difference: whether targets are for the seconds added to the reference, not for the ratio.
        unit: of the samples: seconds, or ``B`` for bytes.
    """

    name: str
    bindax: Sampler
    reference: Sampler
    target: float
    goal: float
    per: int = 1
    against: str = "JAX"
    difference: bool = False
    unit: str = "s"


class Result(NamedTuple):
    """The samples of a case, in seconds for one unit."""

    case: Case
    bindax: list[float]
    reference: list[float]

    @property
    def ratio(self) -> float:
        """The time of bindax divided by the time of the reference; medians."""
        return median(self.bindax) / median(self.reference)

    @property
    def added(self) -> float:
        """The seconds that bindax takes longer than the reference; minima.

        What else a machine does only adds to a process, and more than what is looked for.
        """
        return min(self.bindax) - min(self.reference)

    @property
    def reached(self) -> bool:
        """Whether the first target is reached."""
        return (self.added if self.case.difference else self.ratio) <= self.case.target

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles of the ratios of single samples."""
        ratios = [b / r for b, r in zip(self.bindax, self.reference, strict=True)]
        if len(ratios) < 2:
            return ratios[0], ratios[0]
        low, _, high = quantiles(ratios, n=4, method="inclusive")
        return low, high


def repeated(function: Callable[[], Any], duration: float = 0.02) -> Sampler:
    """Make a sampler that calls a function as often as the clock needs, and averages."""
    number = 0

    def sample() -> float:
        nonlocal number
        if not number:
            _time(function, 1)  # what happens once, such as compiling, is not part of the task
            number = _calibrate(function, duration)
        return _time(function, number) / number

    return sample


def _calibrate(function: Callable[[], Any], duration: float) -> int:
    number = 1
    while (seconds := _time(function, number)) < duration / 2:
        number = max(2 * number, int(number * duration / max(seconds, 1e-9)))
        number = min(number, 1_000_000)
    return number


def _time(function: Callable[[], Any], number: int) -> float:
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        started = time.perf_counter()
        for _ in range(number):
            function()
        return time.perf_counter() - started
    finally:
        if enabled:
            gc.enable()


def measure(case: Case, rounds: int, patience: float) -> Result:
    """Take the samples of a case, of both ways in turn; fewer do after ``patience`` seconds."""
    result = Result(case, [], [])
    ways = ((case.bindax, result.bindax), (case.reference, result.reference))
    started = time.perf_counter()
    for sampler, _ in ways:
        sampler()
    for number in range(rounds):
        if number and time.perf_counter() - started > patience:
            break
        for sampler, samples in ways if number % 2 == 0 else reversed(ways):
            samples.append(sampler() / case.per)
    return result
