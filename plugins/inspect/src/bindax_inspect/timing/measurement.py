"""Measurement of a compiled program: its profile by XLA, mapped back to equations.

The time of an instruction is its own: a loop has not the time of what it runs. A fusion's time goes
to the equations that it computes, in proportion to their operations.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from bindax_core.extend import BackendError
from bindax_inspect.compiled.compilation import Compiled
from bindax_inspect.compiled.hlo import Instruction
from bindax_inspect.program.equations import Program

LONGEST = 0.5
"""The seconds after which no other run is started."""
_MOST_EVENTS = 40_000
_HOST_EVENTS = {
    "host_tracer_level": 2,
    "python_tracer_level": 0,
    "enable_hlo_proto": False,
}


class Event(NamedTuple):
    """The run of one instruction.

    Attributes:
        instruction: its name.
        thread: the name of the thread that ran it.
        start: when it began, in nanoseconds.
        duration: how long it took, in nanoseconds.
        own: the same without what ran inside of it.
    """

    instruction: str
    thread: str
    start: float
    duration: float
    own: float


class Time(NamedTuple):
    """The measured time of one call of a program, on average, in seconds.

    Attributes:
        wall: from the call to the results.
        busy: the sum over all instructions and threads.
        by_equation: the time of each equation, by number.
        unattributed: the time of instructions that belong to no equation.
        runs: how many calls were measured.
        events: the runs of instructions.
    """

    wall: float
    busy: float
    by_equation: dict[int, float]
    unattributed: float
    runs: int
    events: tuple[Event, ...]

    @property
    def attributed(self) -> float:
        """The part of the busy time that belongs to equations, from 0 to 1."""
        return 1.0 - self.unattributed / self.busy if self.busy else 1.0


def measure(compiled: Compiled, operands: Sequence[Any], runs: int) -> Time:
    """Run a compiled program several times, and give the time of its equations.

    Args:
        compiled: the program, compiled with marks.
        operands: the operands.
        runs: the most runs; fewer where they take long.

    Raises:
        BackendError: when the backend has no profiler.
    """
    profiler = getattr(compiled.backend, "profiler", None)
    if profiler is None:
        raise BackendError(f"the backend {compiled.backend.name!r} has no profiler.")
    instructions = {one.name: one for one in compiled.module.instructions()}
    runs = max(1, min(runs, _MOST_EVENTS // max(len(instructions), 1)))
    _wait(compiled.executable(*operands))
    session = profiler.start(_HOST_EVENTS)
    start, done = time.perf_counter(), 0
    try:
        while done < runs and (done == 0 or time.perf_counter() - start < LONGEST):
            _wait(compiled.executable(*operands))
            done += 1
        wall = (time.perf_counter() - start) / done
    finally:
        data = session.stop_and_get_profile_data()
    with warnings.catch_warnings():
        # Types of jaxlib are made meanwhile, for which Python 3.13 warns; where such a warning is
        # an error, it ends the process.
        warnings.simplefilter("ignore", DeprecationWarning)
        events = tuple(_events(data, compiled.module.name))
    if instructions and not events:
        raise BackendError("the profile of the backend has no instruction of the program.")
    by_equation: dict[int, float] = defaultdict(float)
    unattributed = 0.0
    for event in events:
        shares = _shares(compiled.program, instructions.get(event.instruction))
        seconds = event.own / done / 1e9
        for number, share in shares.items():
            by_equation[number] += share * seconds
        unattributed += 0.0 if shares else seconds
    busy = sum(by_equation.values()) + unattributed
    return Time(wall, busy, dict(by_equation), unattributed, done, events)


def _wait(results: Sequence[Any]) -> None:
    for x in results:
        getattr(x, "block_until_ready", lambda: None)()


def _events(data: Any, name: str) -> Iterator[Event]:
    """Yield the runs of the instructions of a module."""
    for plane in data.planes:
        for line in plane.lines:
            found = [
                (event.start_ns, event.duration_ns, stats["hlo_op"])
                for event in line.events
                if not event.name.startswith(("Threadpool", "end: "))
                and "hlo_op" in (stats := dict(event.stats))
                and stats.get("hlo_module") == name
            ]
            yield from _with_own_times(sorted(found, key=lambda one: (one[0], -one[1])), line.name)


def _with_own_times(found: list[tuple[float, float, str]], thread: str) -> Iterator[Event]:
    """Yield events of one thread, the time of those inside taken from those around."""
    own = [duration for _, duration, _ in found]
    around: list[int] = []
    for i, (start, duration, _) in enumerate(found):
        while around and found[around[-1]][0] + found[around[-1]][1] <= start:
            around.pop()
        if around:
            own[around[-1]] -= duration
        around.append(i)
    for (start, duration, name), rest in zip(found, own, strict=True):
        yield Event(name, thread, start, duration, max(rest, 0.0))


def _shares(program: Program, instruction: Instruction | None) -> dict[int, float]:
    """The parts of an instruction's time that belong to equations."""
    if instruction is None or not instruction.equations:
        return {}
    weights = {n: 1.0 + program.equations[n].cost.operations for n in instruction.equations}
    total = sum(weights.values())
    return {number: weight / total for number, weight in weights.items()}
