"""`uv run python -m benchmarks`: measure, print the ratios, write them down and draw them."""

from __future__ import annotations

import os

# Read by the libraries when they are imported.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import sys
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from benchmarks.measure import Case, Result, measure
from benchmarks.report import as_json, environment, plot, table

MODULES = (
    "startup",
    "eager",
    "plugins",
    "transformations",
    "staging",
    "calls",
    "compiled",
    "devices",
    "control_flow",
    "memory",
    "inspection",
    "trees",
)


def collect(only: tuple[str, ...], failures: dict[str, str]) -> list[Case]:
    """Return the cases of all modules, or those with a word; note what cannot be set up."""
    found: list[Case] = []
    for name in MODULES:
        try:
            found.extend(import_module(f"benchmarks.{name}").cases())
        except Exception as error:
            failures[name] = describe(error)
    return [case for case in found if not only or any(word in case.name for word in only)]


def restrict(cores: int) -> None:
    """Leave the process so many cores, 0 for all, before any library starts its threads.

    XLA has no setting that holds for all of its threads; to take the cores away holds for all.
    """
    if not cores:
        return
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(cores)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def describe(error: Exception) -> str:
    """Say in one line what went wrong."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


@click.command()
@click.option("--quick", is_flag=True, help="One sample of each, to see that everything runs.")
@click.option("--only", multiple=True, help="Only cases whose name contains this; repeatable.")
@click.option(
    "--cores",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Cores to run on; 0 for all.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("benchmarks/results"),
    show_default=True,
    help="The directory for benchmarks.json and benchmarks.png.",
)
def main(quick: bool, only: tuple[str, ...], cores: int, output: Path) -> None:
    """Measure bindax beside JAX."""
    restrict(cores)
    console = Console()
    console.print(", ".join(f"{name} {value}" for name, value in environment().items()))
    results: list[Result] = []
    failures: dict[str, str] = {}
    cases = collect(only, failures)
    for case in track(cases, "measuring", console=console, transient=True):
        try:
            results.append(measure(case, 1, 0.0) if quick else measure(case, 15, 30.0))
        except Exception as error:
            failures[case.name] = describe(error)
    console.print(table(results, failures, cores))
    output.mkdir(parents=True, exist_ok=True)
    (output / "benchmarks.json").write_text(as_json(results, failures), encoding="utf-8")
    if results:
        plot(results, output / "benchmarks.png")
    console.print(f"written to {output}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
