"""Printing records as tables for people and as JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    **dict.fromkeys(("loaded", "built in", "registered", "present"), "green"),
    "derived": "cyan",
    "available": "default",
    "absent": "dim",
    **dict.fromkeys(("elsewhere", "missing", "denied", "notice"), "yellow"),
    **dict.fromkeys(("refused", "conflict", "quarantined", "problem"), "red"),
}

SECONDS = click.FloatRange(min=0.0, min_open=True)
"""A time that something may take."""


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""

_LEAST = 16  # the least width of the last column of a table


def example(*lines: str) -> str:
    """Format commands as the last part of a help text."""
    return "\n".join(("\b", "Example:", *(f"  {line}" for line in lines)))


class Failure(click.ClickException):
    """A command that cannot be run as it was given; the message says why."""

    exit_code = 2


def _load_plugins(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Load all plugins, without warnings: the table says what failed, and why."""
    if wanted:
        import warnings

        import bindax_core

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bindax_core.load_plugins()


load_option = click.option(
    "--load",
    is_flag=True,
    expose_value=False,
    callback=_load_plugins,
    help="Load all plugins first; without, none is imported.",
)


class NewFile(click.Path):
    """A file to write, in a directory that is there: it is written when all else is done."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Check the path before anything is computed."""
        path = Path(str(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"{path}: there is no directory {path.parent}.", param, ctx)
        return path


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2))


def console() -> Console:
    """A console as wide as the terminal; what is not a terminal gets whole lines."""
    from rich.console import Console

    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=240)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows; a cell that names a status is coloured by it, and an empty column is left out.

    The last column takes what the others leave of the terminal's width. What is not a terminal gets
    each row as one line.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console()
    if not out.is_terminal:
        rows = [["; ".join(cell.splitlines()) for cell in row] for row in rows]
    shown = [i for i, _ in enumerate(columns) if any(row[i] for row in rows)]
    *first, last = shown or range(len(columns))
    widths = [max(_width(row[i]) for row in (columns, *rows)) for i in first]
    fits = sum(widths) + 2 * len(first) + _LEAST <= out.width
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i in (*first, last):
        table.add_column(columns[i], overflow="fold", no_wrap=fits and i != last)
    for row in rows:
        # Text, so that brackets in names are not taken for markup.
        table.add_row(*(Text(row[i], style=STYLES.get(row[i], "")) for i in (*first, last)))
    out.print(table)


def _width(cell: str) -> int:
    return max(map(len, cell.splitlines()), default=0)


def place(record: Mapping[str, Any]) -> str:
    """Distribution and version of a record and, below, file and line in that distribution."""
    distribution, file = record["distribution"], record["file"]
    owner = "" if distribution is None else f"{distribution} {record['version']}"
    where = "" if file is None else f"{_short(Path(file), distribution)}:{record['line']}"
    return "\n".join(filter(None, (owner, where)))


def _short(file: Path, distribution: str | None) -> Path:
    """The path of a file inside the package of a distribution, or the whole one outside of it."""
    package = (distribution or "").replace("-", "_")
    if file.parent.name.endswith(".dist-info"):
        return Path(file.name)
    if package not in file.parts:
        return file
    start = len(file.parts) - file.parts[::-1].index(package)
    return Path(*file.parts[start:])


class Work:
    """A line on a terminal that says how far work is, while it is done in a ``with`` block.

    Args:
        total: the amount of work, in the unit of ``update``; None when it is not known.
    """

    def __init__(self, total: float | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._out = console()
        # Where output goes into a file, the line is on the terminal all the same.
        terminal = self._out if self._out.is_terminal else Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn())
        hidden = not terminal.is_terminal
        self._line = Progress(*columns, console=terminal, transient=True, disable=hidden)
        self._task = self._line.add_task("", total=total)

    def __enter__(self) -> Work:
        self._line.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._line.stop()

    def update(self, done: float, text: str) -> None:
        """Say how much is done, and what was found so far."""
        self._line.update(self._task, completed=done, description=text)

    def print(self, text: str, style: str) -> None:
        """Print above the line."""
        self._out.print(text, style=style, markup=False, highlight=False)
