"""Where the time goes from a call of a compiled function to the bytes of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.everyday import EIGHT, _doubled, _parameters
from benchmarks.rows import Row, Task, warm
from benchmarks.worker import Worker

ARGUMENTS: dict[str, Any] = {
    "one array": EIGHT,
    "dict of 5": _parameters(5),
    "dict of 100": _parameters(100),
    "one array of 4 MB": np.linspace(0.1, 0.9, 1_000_000, dtype=np.float32),
}
"""The arguments of the calls that are taken apart."""
PARTS = ("bytes", "call", "run", "runtime", "structure")
ROUNDS = 30
STAGES = (
    "flatten the arguments, find the program",
    "compare types, hand buffers to the runtime, wrap the results",
    "start the program in XLA's runtime",
    "put the structure of the result together",
    "wait for the results, give their bytes to NumPy",
)


def part(library: ModuleType, arguments: str, name: str) -> Task:
    """A part of a call of a function that doubles the leaves of its argument."""
    double = library.jit(_doubled(library))
    tree = double(ARGUMENTS[arguments])
    double(tree)
    (entry,) = double._shared.entries.values()
    leaves = library.tree.leaves(tree)
    outs = entry.run_known(leaves)
    tasks: dict[str, Callable[[], Any]] = {
        "bytes": lambda: [np.asarray(x) for x in library.tree.leaves(double(tree))],
        "call": lambda: double(tree),
        "run": lambda: entry.run_known(leaves),
        "runtime": _runtime(double.lower(tree).compile(), leaves),
        "structure": lambda: entry.unflatten(outs),
    }
    return tasks[name]


def _runtime(compiled: Any, leaves: list[Any]) -> Task:
    """The call of the loaded program alone, whose results nobody looks at."""
    executable = compiled._made
    buffers = type(leaves[0]).buffers_on(leaves, executable._backend)
    loaded = compiled.runtime_executable()
    return lambda: loaded.execute_sharded(buffers)


def stage_rows() -> Iterator[tuple[str, Row]]:
    """Yield the parts of the calls, which are measured in bindax alone."""
    for arguments in ARGUMENTS:
        for name in PARTS:
            prepare = partial(_of, arguments, name)
            yield f"stage, {arguments}, {name}", warm(prepare)


def _of(arguments: str, name: str, library: ModuleType) -> Task:
    return part(library, arguments, name)


def stages(core: int | None) -> dict[str, list[float]]:
    """Measure the seconds of each stage for each of the arguments, from smallest times."""
    worker = Worker("bindax", core)
    try:
        found = {}
        for arguments in ARGUMENTS:
            least = [
                min(worker.burst(f"stage, {arguments}, {name}") for _ in range(ROUNDS))
                for name in PARTS
            ]
            total, call, run, runtime, structure = least
            found[arguments] = [
                call - run - structure,
                run - runtime,
                runtime,
                structure,
                total - call,
            ]
        return found
    finally:
        worker.close()
