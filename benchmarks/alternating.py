"""`uv run python -m benchmarks.alternating`: lasting processes that take turns in short bursts.

Whole runs of one process after the other differ by a factor of two on a machine with other work.
Bursts of milliseconds that follow each other see the same machine, so their ratio says something.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

import click

from benchmarks.page import picture, write_page
from benchmarks.ratios import Ratios
from benchmarks.rows import Row
from benchmarks.stages import stage_rows, stages
from benchmarks.worker import Worker, serve

PARTS = ("everyday", "programs", "growth", "startup")
FEWEST = 3
"""The bursts of each process that a ratio needs."""


@cache
def all_rows() -> dict[str, Row]:
    """Return the rows of all parts by name."""
    found: dict[str, Row] = {}
    for part in PARTS:
        found.update(import_module(f"benchmarks.{part}").rows())
    return found


@contextmanager
def workers(
    libraries: tuple[str, ...], core: int | None, accelerator: str | None = None
) -> Iterator[list[Worker]]:
    """One process for each library, on one core together so that they see the same machine.

    With the directory of an installed accelerator, there is one more that uses it, at the end: for
    calls and trees.
    """
    started = [Worker(library, core) for library in libraries]
    if accelerator:
        started.append(Worker("bindax", core, accelerator))
    try:
        yield started
    finally:
        for worker in started:
            worker.close()


def alternate(started: list[Worker], name: str, rounds: int, patience: float) -> list[Ratios]:
    """Take turns, each time in the other direction; the ratios are to the second process.

    After ``patience`` seconds no further round begins, but for the fewest that ratios need.
    """
    row = all_rows()[name]
    started = started if row.is_call else started[:2]
    times: list[list[float]] = [[] for _ in started]
    for worker in started:
        worker.burst(name)
    began = time.monotonic()
    for number in range(rounds):
        if number >= FEWEST and time.monotonic() - began > patience:
            break
        order = range(len(started))
        for which in order if number % 2 else reversed(order):
            times[which].append(started[which].burst(name))
    first, other, *more = times
    return [
        Ratios(
            name + added,
            min(own),
            min(other),
            [a / b for a, b in zip(own, other, strict=True)],
            row.most,
            row.unit,
        )
        for own, added in zip((first, *more), ("", ", accelerator"), strict=False)
    ]


def chosen(only: tuple[str, ...], everything: bool) -> list[str]:
    """Return the names of the rows to measure: named ones, or those of the selection."""
    if only:
        return [name for name in all_rows() if any(word in name for word in only)]
    return [name for name, row in all_rows().items() if everything or not row.is_long]


@click.command()
@click.option("--only", multiple=True, help="Only rows whose name contains this; repeatable.")
@click.option("--all", "everything", is_flag=True, help="All sizes and programs: much longer.")
@click.option("--rounds", default=40, show_default=True, help="The most bursts of each library.")
@click.option("--patience", type=float, help="Seconds for a row; by default 0.6, with --all 20.")
@click.option("--core", type=int, default=None, help="The processor core of both.")
@click.option("--beside", default="jax", show_default=True, help="The library to compare with.")
@click.option("--accelerator", help="A directory with bindax-accelerator, for rows with it.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("benchmarks/results"),
    show_default=True,
    help="The directory for the picture.",
)
@click.option("--page", is_flag=True, help="Write docs/performance.md and its picture as well.")
@click.option("--serve", "served", hidden=True)
def main(
    only: tuple[str, ...],
    everything: bool,
    rounds: int,
    patience: float | None,
    core: int | None,
    beside: str,
    accelerator: str | None,
    output: Path,
    page: bool,
    served: str,
) -> None:
    """Measure calls, growth, whole programs and starts beside JAX."""
    if served:
        serve(served, all_rows() | dict(stage_rows()))
        return
    seconds = (20.0 if everything else 0.6) if patience is None else patience
    columns = f"{'bindax':>11} {beside:>11} {'minima':>7} {'median':>7} (quartiles)  asked for"
    click.echo(f"{'µs, MB':45} {columns}")
    measured: list[Ratios] = []
    failed = False
    with workers(("bindax", beside), core, accelerator) as started:
        for name in chosen(only, everything):
            try:
                found = alternate(started, name, rounds, seconds)
            except RuntimeError as error:
                click.echo(f"{name:45} failed: {error}")
                failed = True
                continue
            measured += found
            for ratios in found:
                click.echo(ratios.line())
    if measured:
        output.mkdir(parents=True, exist_ok=True)
        (output / "alternating.svg").write_text(picture(measured), encoding="utf-8")
    if page and measured:
        write_page(measured, beside, stages(core))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
