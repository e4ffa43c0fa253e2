"""`bindax check PLUGIN`: do the rules of a plugin agree with each other and with the math?"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bindax._cli._output import (
    SECONDS,
    STYLES,
    NewFile,
    console,
    json_option,
    print_json,
)

if TYPE_CHECKING:
    from bindax_testing import RuleReport

_FILE = NewFile()


@click.command()
@click.argument("plugin")
@click.option(
    "--budget", type=click.FloatRange(min=0.0), default=60.0, help="Seconds that it may take."
)
@click.option("--seed", default=0, help="Seed of samples and of their choice.")
@click.option("--time-limit", type=SECONDS, default=10.0, help="Seconds for a single check.")
@click.option("--html", type=_FILE, help="Write a page with a matrix to look at.")
@click.option("--junit", type=_FILE, help="Write JUnit XML.")
@json_option
def check(
    plugin: str,
    budget: float,
    seed: int,
    time_limit: float,
    html: Path | None,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Check the rules of PLUGIN on its samples, and name those that are wrong.

    Abstract evaluation, evaluation, derivatives, transposes, batching, staging and lowering of each
    primitive are compared with each other and with differences of values. Each failure comes with
    a test that repeats it. The exit code is 1 when something fails.
    """
    from bindax_testing import check_plugin

    report = check_plugin(plugin, budget=budget, seed=seed, time_limit=time_limit)
    if html is not None:
        html.write_text(report.as_html(), encoding="utf-8")
    if junit is not None:
        junit.write_text(report.as_junit(), encoding="utf-8")
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    if not report.ok:
        sys.exit(1)


def _print(report: RuleReport) -> None:
    from rich.text import Text

    out = console()
    for result in report.failures:
        first, *rest = str(result).splitlines()
        status, _, text = first.partition(":")
        out.print(Text.assemble((f"{status}:", STYLES["problem"]), (text, "bold")))
        for line in rest:
            out.print(Text(line, style="dim" if line.startswith("    ") else ""))
        out.print()
    for result in report.unchecked:
        out.print(Text(str(result), style=STYLES["missing"]))
    shown = ("passed", "failed", "not checked")
    others = [result for result in report.results if result.status not in shown]
    skipped = Counter(f"{one.status}: {one.reason.partition(' (')[0]}" for one in others)
    for reason, count in skipped.most_common(12):
        out.print(Text(f"{count:5d} {reason}", style="dim"))
    out.print(Text(report.summary, style="green" if report.ok else "red"))
