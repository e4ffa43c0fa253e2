"""`uv run python -m benchmarks.alternating`: two lasting processes that take turns in short bursts.

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

    def line(self) -> str:
        """The row of the table."""
        low, middle, high = quantiles(self.ratios, n=4, method="inclusive")
        return (
            f"{self.name:32} {1e6 * self.own:9.2f} {1e6 * self.other:9.2f} {self.of_minima:7.2f} "
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

    def __init__(self, library: str, core: int | None) -> None:
        command = [sys.executable, "-m", "benchmarks.alternating", "--serve", library]
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
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
def workers(libraries: tuple[str, ...], core: int | None) -> Iterator[list[Worker]]:
    """One process for each library, on one core together so that they see the same machine."""
    started = [Worker(library, core) for library in libraries]
    try:
        yield started
    finally:
        for worker in started:
            worker.close()


def alternate(pair: list[Worker], name: str, rounds: int) -> Ratios:
    """Take turns; which of the two begins alternates too."""
    times: tuple[list[float], list[float]] = [], []
    for worker in pair:
        worker.burst(name)
        worker.burst(name)
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            times[which].append(pair[which].burst(name))
    own, other = times
    return Ratios(name, min(own), min(other), [a / b for a, b in zip(own, other, strict=True)])


@click.command()
@click.option("--only", multiple=True, help="Only tasks whose name contains this; repeatable.")
@click.option("--rounds", default=40, show_default=True, help="Bursts of each library.")
@click.option("--core", type=int, default=None, help="The processor core of both.")
@click.option("--beside", default="jax", show_default=True, help="The library to compare with.")
@click.option("--serve", "served", hidden=True)
def main(only: tuple[str, ...], rounds: int, core: int | None, beside: str, served: str) -> None:
    """Measure the calls of everyday use beside JAX."""
    if served:
        serve(served)
        return
    click.echo(
        f"{'':32} {'bindax µs':>9} {beside + ' µs':>9} {'minima':>7} {'median':>7} (quartiles)"
    )
    with workers(("bindax", beside), core) as pair:
        for name in TASKS:
            if not only or any(word in name for word in only):
                try:
                    click.echo(alternate(pair, name, rounds).line())
                except RuntimeError as error:
                    click.echo(f"{name:32} failed: {error}")


if __name__ == "__main__":
    main()
