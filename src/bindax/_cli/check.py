"""`bindax check PLUGIN`: do the rules of a plugin agree with each other and with the math?

`bindax check --backend NAME`: does a backend compute what they mean?
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bindax._cli import _complete
from bindax._cli._output import (
    INTERRUPTED,
    SECONDS,
    STYLES,
    NewFile,
    Work,
    console,
    example,
    json_option,
    print_json,
)

if TYPE_CHECKING:
    from bindax_testing import RuleReport, RuleResult

_FILE = NewFile()


@click.command(epilog=example("bindax check lax_basic --budget 30 --html report.html"))
@click.argument("plugin", default="", shell_complete=_complete.plugins)
@click.option(
    "--backend",
    default="",
    metavar="NAME",
    shell_complete=_complete.backends,
    help="Check a backend and no plugin.",
)
@click.option(
    "--budget", type=click.FloatRange(min=0.0), help="Seconds it may take: 60, of a backend 600."
)
@click.option("--seed", default=0, help="Seed of samples and of their choice.")
@click.option("--time-limit", type=SECONDS, default=10.0, help="Seconds for a single check.")
@click.option("--args", "arguments", default="", help="Arguments of a function, as in a call.")
@click.option("--html", type=_FILE, help="Write a page with a matrix to look at.")
@click.option("--junit", type=_FILE, help="Write JUnit XML.")
@json_option
def check(
    plugin: str,
    backend: str,
    budget: float | None,
    seed: int,
    time_limit: float,
    arguments: str,
    html: Path | None,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Check the rules of PLUGIN on its samples, or a function: FILE.py:NAME.

    Abstract evaluation, evaluation, derivatives, transposes, batching, staging and lowering of each
    primitive are compared with each other and with differences of values. Each failure comes with
    a test that repeats it. Of a function of a program, called with --args, derivatives, batches and
    compiled forms are compared in the same way; FILE.py:NAME may be a transformation, made by
    bindax_testing.transformation. With --backend all primitives and generated programs are compared
    with evaluation, and the interface of the backend is checked. The exit code is 1 when something
    fails. After Ctrl-C, what was checked before is reported, and the exit code is 130.
    """
    try:
        from bindax_testing import CheckInterrupted
    except ModuleNotFoundError as error:
        raise click.ClickException(
            "bindax check needs the package bindax-testing: pip install bindax-testing."
        ) from error

    if bool(plugin) == bool(backend):
        raise click.UsageError("give a plugin, a function FILE.py:NAME, or --backend NAME.")
    budget = (600.0 if backend else 60.0) if budget is None else budget
    with Work(budget) as work:
        progress = _Progress(plugin or backend, work)
        options: dict[str, Any] = {"budget": budget, "seed": seed, "time_limit": time_limit}
        try:
            report = _report(plugin, backend, arguments, progress=progress.tell, **options)
        except CheckInterrupted as interruption:
            report, is_whole = interruption.report, False
        else:
            is_whole = True
    if html is not None:
        html.write_text(report.as_html(), encoding="utf-8")
    if junit is not None:
        junit.write_text(report.as_junit(), encoding="utf-8")
    if as_json:
        print_json({**report.as_dict(), "interrupted": not is_whole})
    else:
        _print(report)
    if not is_whole:
        click.echo("interrupted: this is what was checked before", err=True)
        sys.exit(INTERRUPTED)
    if not report.ok:
        sys.exit(1)


def _report(name: str, backend: str, arguments: str, **options: Any) -> RuleReport:
    from bindax_testing import check_backend, check_function_of_file, check_plugin

    if backend:
        return check_backend(backend, **options)
    if ".py:" not in name:
        return check_plugin(name, **options)
    try:
        return check_function_of_file(name, arguments, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


class _Progress:
    """Counts cases and failures, for the line on the terminal."""

    def __init__(self, plugin: str, work: Work) -> None:
        self._plugin = plugin
        self._work = work
        self._start = time.perf_counter()
        self._cases = 0
        self._failed: set[tuple[str, str]] = set()

    def tell(self, result: RuleResult) -> None:
        """Count a case."""
        self._cases += 1
        if result.status == "failed":
            self._failed.add((result.primitive, result.check))
        text = f"{self._plugin}: {self._cases} cases, {len(self._failed)} failures"
        self._work.update(time.perf_counter() - self._start, text)


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
