"""The table of a report in a terminal: a row for each of the user's lines."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bindax_inspect.report.by_line import LineRecord, Split
from bindax_inspect.report.units import count, duration, size

if TYPE_CHECKING:
    from rich.console import Group

    from bindax_inspect.report.report import Report

MOST_ROWS = 30


def table(report: Report) -> Group:
    """Return what is printed of a report, for a console of ``rich``."""
    from rich.console import Group
    from rich.text import Text

    records = report.lines
    parts = [Text(summary(report), style="bold"), _rows(report, records[:MOST_ROWS])]
    if len(records) > MOST_ROWS:
        parts.append(Text(f"{len(records) - MOST_ROWS} more lines are in report.lines."))
    parts += [Text(f"missing: {reason}", style="yellow") for reason in report.missing]
    return Group(*parts)


def summary(report: Report) -> str:
    """Return the sums over the whole program."""
    program, cost, memory, time = report.program, report.cost, report.memory, report.time
    number = len(program.equations)
    parts = [
        f"{program.name}: {number:,} equation" + "s" * (number != 1),
        f"{count(cost.operations)} operations",
        f"{size(cost.bytes)} moved",
        f"{size(memory.peak)} at the peak",
    ]
    if memory.kept_bytes:
        parts.append(f"{size(memory.kept_bytes)} kept for the backward pass")
    if time is not None:
        parts.append(f"{duration(time.wall)} a call, {time.attributed:.0%} of it by line")
    return ", ".join(parts)


def _rows(report: Report, records: Sequence[LineRecord]) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    timed = report.time is not None
    found.add_column("line", no_wrap=True)
    for name in (
        *(("time", "") if timed else ()),
        "operations",
        "backward",
        "moved",
        "at the peak",
    ):
        found.add_column(name, justify="right" if name else "left", no_wrap=True)
    found.add_column("code", no_wrap=True, overflow="ellipsis")
    longest = max((one.seconds.total for one in records), default=0.0)
    for one in records:
        cells = [Text(_short(one))]
        if timed:
            cells += [Text(duration(one.seconds.total)), _bar(one.seconds, longest)]
        cells += [
            Text(count(one.operations.total)),
            Text(_share(one.operations)),
            Text(size(one.bytes.total)),
            Text(size(one.alive.total)),
            Text(linecache.getline(one.line.file, one.line.number).strip(), style="dim"),
        ]
        found.add_row(*cells)
    return found


def _short(one: LineRecord) -> str:
    line = one.line
    return f"{Path(line.file).name}:{line.number}" if line.number else str(line)


def _share(split: Split) -> str:
    """The backward part in percent; nothing where there is none."""
    return f"{split.backward / split.total:.0%}" if split.backward else ""


def _bar(split: Split, longest: float, width: int = 12) -> object:
    from rich.text import Text

    if not longest:
        return Text("")
    forward = round(width * split.forward / longest)
    backward = round(width * split.backward / longest)
    return Text.assemble(("█" * forward, "cyan"), ("█" * backward, "magenta"))
