"""Rows of the alternating benchmark: a task, written once for either library."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from benchmarks.measure import Sampler, repeated

Task: TypeAlias = Callable[[], Any]
Prepare: TypeAlias = Callable[[ModuleType], Task]

BURST = 0.001
"""The seconds of one burst of a task that is repeated: less than what a scheduler gives at once."""
BURSTS = 4
"""The bursts of a sample, of which the shortest counts."""
STATUS = Path("/proc/self/status")
PEAK = Path("/proc/self/clear_refs")


class Row(NamedTuple):
    """A row: how either library is measured, and what its ratio should not exceed.

    Attributes:
        sampler: from a library to what takes one sample of it.
        most: the ratio that is asked for; None where none is.
        unit: of the samples: seconds, or ``B`` for bytes.
        is_long: whether the row is left to the full selection.
        is_call: whether it calls compiled functions or walks trees, which an accelerator does.
    """

    sampler: Callable[[ModuleType], Sampler]
    most: float | None = None
    unit: str = "s"
    is_long: bool = False
    is_call: bool = False


def warm(
    prepare: Prepare, most: float | None = None, *, is_long: bool = False, is_call: bool = True
) -> Row:
    """Make the row of a task that is repeated, prepared once."""

    def sampler(library: ModuleType) -> Sampler:
        task = _anew(library, prepare)
        gc.freeze()  # what is there already need not be looked through before each burst
        burst = repeated(task, BURST)
        return lambda: min(burst() for _ in range(BURSTS))

    return Row(sampler, most, is_long=is_long, is_call=is_call)


def first(prepare: Prepare, most: float | None = None, *, is_long: bool = False) -> Row:
    """Make the row of a task that is prepared anew, with nothing compiled, for each sample."""

    def sampler(library: ModuleType) -> Sampler:
        def sample() -> float:
            task = _anew(library, prepare)
            started = time.perf_counter()
            task()
            return time.perf_counter() - started

        return sample

    return Row(sampler, most, is_long=is_long)


def peak(prepare: Prepare, *, is_long: bool = False) -> Row:
    """Make the row of the most bytes that the process has resident during a first call."""

    def sampler(library: ModuleType) -> Sampler:
        def sample() -> float:
            task = _anew(library, prepare)
            PEAK.write_text("5", encoding="utf-8")  # the peak is what is resident now
            task()
            return float(_status("VmHWM"))

        return sample

    return Row(sampler, unit="B", is_long=is_long)


def _anew(library: ModuleType, prepare: Prepare) -> Task:
    gc.unfreeze()
    library.clear_caches()
    task = prepare(library)
    gc.collect()
    return task


def _status(name: str) -> int:
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def wait(library: ModuleType, outs: Any) -> Any:
    """Wait until all arrays of a tree are computed."""
    for leaf in library.tree.leaves(outs):
        leaf.block_until_ready()
    return outs
