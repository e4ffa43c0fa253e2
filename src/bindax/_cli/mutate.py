"""`bindax mutate PLUGIN`: would the samples of a plugin notice a mistake in its rules?"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from bindax._cli import _complete
from bindax._cli._output import (
    INTERRUPTED,
    SECONDS,
    STYLES,
    Failure,
    Work,
    console,
    example,
    json_option,
    print_json,
)

if TYPE_CHECKING:
    from bindax_mutation import Mutant


@click.command(epilog=example("bindax mutate special --count 20"))
@click.argument("plugin", shell_complete=_complete.plugins)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    help="How many mutants to try, drawn by the seed; else all.",
)
@click.option("--seed", default=0, help="Seed of mutants and samples.")
@click.option("--seconds", type=SECONDS, default=6.0, help="How long to look for one mistake.")
@click.option("--primitive", "primitives", multiple=True, help="A primitive to look at; repeat it.")
@click.option("--text", is_flag=True, help="Change the text of functions that rules reach.")
@json_option
def mutate(
    plugin: str,
    count: int | None,
    seed: int,
    seconds: float,
    primitives: tuple[str, ...],
    text: bool,
    as_json: bool,
) -> None:
    """Damage the rules of PLUGIN one at a time, and count the mistakes that checks notice.

    Signs, factors, axes, dtypes, batches, terms, zeros, residuals and branches are damaged. What
    survives is a gap in the samples, or equivalent; a plugin says so with EquivalentMutant. The
    exit code is 1 when a mistake goes unnoticed.

    With --text, constants are off by one, operators and operands exchanged and comparisons turned,
    in 80 places unless --count is given; equivalent ones survive, and the exit code is 0.

    After Ctrl-C, what was tried before is reported, and the exit code is 130.
    """
    try:
        from bindax_mutation import MutationReport, mutate_plugin, mutate_text
    except ModuleNotFoundError as error:
        raise Failure(f"install the package bindax-mutation: {error}.") from error

    count = 80 if text and count is None else count
    start = time.perf_counter()
    with Work(count) as work:
        progress = _Progress(work, shown=not as_json)
        options: dict[str, Any] = {
            "seed": seed,
            "seconds": seconds,
            "primitives": primitives,
            "progress": progress.tell,
        }
        run: Any = mutate_text if text else mutate_plugin
        try:
            report, is_whole = run(plugin, count=count, **options), True
        except KeyboardInterrupt:
            spent = time.perf_counter() - start
            report, is_whole = MutationReport(plugin, seed, spent, progress.mutants), False
    if as_json:
        print_json({**report.as_dict(), "interrupted": not is_whole})
    else:
        console().print(report.summary, style="green" if report.ok else "red", markup=False)
    if not is_whole:
        click.echo("interrupted: this is what was tried before", err=True)
        sys.exit(INTERRUPTED)
    if not report.ok and not text:
        sys.exit(1)


class _Progress:
    """Collects mutants, and prints those that were not simply noticed as soon as it is known."""

    def __init__(self, work: Work, shown: bool) -> None:
        self._work = work
        self._shown = shown
        self.mutants: list[Mutant] = []

    def tell(self, mutant: Mutant) -> None:
        """Take one more mutant."""
        self.mutants.append(mutant)
        if mutant.status != "killed" and self._shown:
            style = STYLES["problem"] if mutant.status == "survived" else "dim"
            self._work.print(str(mutant), style)
        survived = sum(one.status == "survived" for one in self.mutants)
        text = f"{len(self.mutants)} mistakes tried, {survived} unnoticed"
        self._work.update(len(self.mutants), text)
