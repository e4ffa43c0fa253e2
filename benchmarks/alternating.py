"""`uv run python -m benchmarks.alternating`: lasting processes that take turns in short bursts.

Whole runs of one process after the other differ by a factor of two on a machine with other work.
Bursts of milliseconds that follow each other see the same machine, so their ratio says something.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from statistics import quantiles
from typing import Any, NamedTuple

import click

from benchmarks.everyday import TASKS
from benchmarks.measure import Sampler, repeated

BURST = 0.004
"""The seconds of one burst."""


class Ratios(NamedTuple):
    """The times of one task in both processes: smallest ones, and ratios of neighbouring bursts."""

    name: str
    own: float
    other: float
    ratios: list[float]

    @property
    def of_minima(self) -> float:
        """The ratio of the smallest times: what else runs only adds."""
        return self.own / self.other

    def line(self, added: str = "") -> str:
        """The row of the table, with words that are added to the name."""
        low, middle, high = quantiles(self.ratios, n=4, method="inclusive")
        name = self.name + added
        return (
            f"{name:45} {1e6 * self.own:9.2f} {1e6 * self.other:9.2f} {self.of_minima:7.2f} "
            f"{middle:7.2f} ({low:.2f} to {high:.2f})  {TASKS[self.name][1]:.1f}"
        )


def serve(library: str) -> None:
    """Answer each name of a task on the standard input with the seconds of one burst of it."""
    package = import_module(library)
    tasks: dict[str, Sampler] = {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in tasks:
            tasks.clear()  # of one task at a time
            tasks[name] = repeated(TASKS[name][0](package), BURST)
        try:
            answer = repr(tasks[name]())
        except Exception as error:
            answer = f"{type(error).__name__}: {error}".partition("\n")[0]
        print(answer, file=answers, flush=True)


class Worker:
    """A lasting process that measures one library."""

    def __init__(self, library: str, core: int | None, path: str = "") -> None:
        command = [sys.executable, "-m", "benchmarks.alternating", "--serve", library]
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
        if path:
            environment["PYTHONPATH"] = os.pathsep.join([path, environment.get("PYTHONPATH", "")])
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def burst(self, name: str) -> float:
        """The seconds of one execution of a task, averaged over a burst."""
        streams: Any = self.process
        print(name, file=streams.stdin, flush=True)
        answer = streams.stdout.readline()
        try:
            return float(answer)
        except ValueError:
            raise RuntimeError(answer.strip() or "the process has ended") from None

    def close(self) -> None:
        """Let the process end."""
        self.process.communicate()


@contextmanager
def workers(
    libraries: tuple[str, ...], core: int | None, accelerator: str | None = None
) -> Iterator[list[Worker]]:
    """One process for each library, on one core together so that they see the same machine.

    With the directory of an installed accelerator, there is one more that uses it, at the end.
    """
    started = [Worker(library, core) for library in libraries]
    if accelerator:
        started.append(Worker("bindax", core, accelerator))
    try:
        yield started
    finally:
        for worker in started:
            worker.close()


def alternate(started: list[Worker], name: str, rounds: int) -> list[Ratios]:
    """Take turns, each time in the other direction; the ratios are to the second process."""
    times: list[list[float]] = [[] for _ in started]
    for worker in started:
        worker.burst(name)
        worker.burst(name)
    for number in range(rounds):
        order = range(len(started))
        for which in order if number % 2 else reversed(order):
            times[which].append(started[which].burst(name))
    first, other, *more = times
    return [
        Ratios(name, min(own), min(other), [a / b for a, b in zip(own, other, strict=True)])
        for own in (first, *more)
    ]


@click.command()
@click.option("--only", multiple=True, help="Only tasks whose name contains this; repeatable.")
@click.option("--rounds", default=40, show_default=True, help="Bursts of each library.")
@click.option("--core", type=int, default=None, help="The processor core of both.")
@click.option("--beside", default="jax", show_default=True, help="The library to compare with.")
@click.option("--accelerator", help="A directory with bindax-accelerator, for rows with it.")
@click.option("--serve", "served", hidden=True)
def main(
    only: tuple[str, ...],
    rounds: int,
    core: int | None,
    beside: str,
    accelerator: str | None,
    served: str,
) -> None:
    """Measure the calls of everyday use beside JAX."""
    if served:
        serve(served)
        return
    click.echo(
        f"{'':45} {'bindax µs':>9} {beside + ' µs':>9} {'minima':>7} {'median':>7} (quartiles)"
    )
    with workers(("bindax", beside), core, accelerator) as started:
        for name in TASKS:
            if not only or any(word in name for word in only):
                try:
                    rows = alternate(started, name, rounds)
                except RuntimeError as error:
                    click.echo(f"{name:45} failed: {error}")
                    continue
                for row, added in zip(rows, ("", ", accelerator"), strict=False):
                    click.echo(row.line(added))


if __name__ == "__main__":
    main()
