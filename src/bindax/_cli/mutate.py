"""`bindax mutate PLUGIN`: would the samples of a plugin notice a mistake in its rules?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from bindax._cli._output import SECONDS, STYLES, console, json_option, print_json

if TYPE_CHECKING:
    from bindax_mutation import Mutant


@click.command()
@click.argument("plugin")
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
    """
    try:
        from bindax_mutation import mutate_plugin, mutate_text
    except ModuleNotFoundError as error:
        raise click.ClickException(f"install the package bindax-mutation: {error}.") from error

    options: dict[str, Any] = {
        "seed": seed,
        "seconds": seconds,
        "primitives": primitives,
        "progress": None if as_json else _show,
    }
    if text:
        report = mutate_text(plugin, count=80 if count is None else count, **options)
    else:
        report = mutate_plugin(plugin, count=count, **options)
    if as_json:
        print_json(report.as_dict())
    else:
        console().print(report.summary, style="green" if report.ok else "red", markup=False)
    if not report.ok and not text:
        sys.exit(1)


def _show(mutant: Mutant) -> None:
    """Print what was not simply noticed, as soon as it is known."""
    if mutant.status != "killed":
        style = STYLES["problem"] if mutant.status == "survived" else "dim"
        console().print(str(mutant), style=style, markup=False, highlight=False)
