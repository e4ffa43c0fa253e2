"""Printing records as tables for people and as JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows; a cell that names a status is coloured by it."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        # Text, so that brackets in names are not taken for markup.
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    console().print(table)


def place(record: Mapping[str, Any]) -> tuple[str, str]:
    """Distribution and version, and file and line, of a record."""
    distribution = record["distribution"]
    owner = "" if distribution is None else f"{distribution} {record['version']}"
    file = record["file"]
    return owner, "" if file is None else f"{file}:{record['line']}"
