"""The table of a report in a terminal: a row for each of the user's lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bindax_inspect.report.by_line import LineRecord, Split
from bindax_inspect.report.units import count, duration, size

if TYPE_CHECKING:
    from rich.console import Group, JustifyMethod
    from rich.table import Table
    from rich.text import Text

    from bindax_inspect.report.report import Report

MOST_ROWS = 30
_GAP = 3  # the columns of the terminal between two of the table
_LEAST = 12  # the least columns that code is shown in
QUANTITIES = ("operations", "backward", "moved", "at the peak")


def table(report: Report, width: int) -> Group:
    """Return what is printed of a report, for a console of ``rich``.

    Args:
        report: the report.
        width: the columns of the terminal, which lines of code are cut to.
    """
    from rich.console import Group
    from rich.text import Text

    records = report.lines
    parts: list[Text | Table] = [
        Text(f"{report.program.name}: {summary(report)}", style="bold"),
        _rows(report, records[:MOST_ROWS], width),
    ]
    if len(records) > MOST_ROWS:
        parts.append(Text(f"{len(records) - MOST_ROWS} more lines are in report.lines."))
    parts += [Text(text, style="yellow") for text in compilations(report)]
    parts += [Text(f"missing: {reason}", style="yellow") for reason in report.missing]
    return Group(*parts)


def summary(report: Report) -> str:
    """Return the sums over the whole program."""
    program, cost, memory, time = report.program, report.cost, report.memory, report.time
    number = len(program.equations)
    parts = [
        f"{number:,} equation" + "s" * (number != 1),
        f"{count(cost.operations)} operations",
        f"{size(cost.bytes)} moved",
        f"{size(memory.peak)} at the peak",
    ]
    if memory.planned is not None:
        parts[-1] += f" before fusion and {size(memory.planned)} after"
    if memory.kept_bytes:
        parts.append(f"{size(memory.kept_bytes)} kept for the backward pass")
    if time is not None:
        parts.append(f"{duration(time.wall)} a call, {time.attributed:.0%} of it by line")
    return ", ".join(parts)


def compilations(report: Report) -> list[str]:
    """Return what is to be said of the programs that the function was compiled to before."""
    found = report.recompilations
    if found is None or not found.changes:
        return []
    return [f"compiled to {found.programs} programs: {'; '.join(found.changes)}", found.advice]


def _rows(report: Report, records: Sequence[LineRecord], width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    timed = report.time is not None
    longest = max((one.seconds.total for one in records), default=0.0)
    names = ["line", *(("time", "") if timed else ()), *QUANTITIES]
    rows = [_cells(one, longest if timed else None) for one in records]
    widths = [max([len(name), *(len(row[i]) for row in rows)]) for i, name in enumerate(names)]
    if timed and sum(widths) + _GAP * len(names) > width:
        for cells in (names, widths, *rows):
            del cells[2]  # the bar
    left = width - sum(widths) - _GAP * len(names)
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, name in enumerate(names):
        justify: JustifyMethod = "right" if i and name else "left"
        found.add_column(name, justify=justify, no_wrap=True)
    if left >= _LEAST:
        found.add_column("code", no_wrap=True)
        for one, cells in zip(records, rows, strict=True):
            code = one.code if len(one.code) <= left else one.code[: left - 1] + "…"
            cells.append(Text(code, style="dim"))
    for cells in rows:
        found.add_row(*cells)
    return found


def _cells(one: LineRecord, longest: float | None) -> list[Text]:
    """The cells of a row, but for the code; with a time where there is a longest one."""
    from rich.text import Text

    line = one.line
    place = f"{Path(line.file).name}:{line.number}" if line.number else str(line)
    times = [] if longest is None else [Text(duration(one.seconds.total)), _bar(one, longest)]
    return [
        Text(place),
        *times,
        Text(count(one.operations.total)),
        Text(_share(one.operations)),
        Text(size(one.bytes.total)),
        Text(size(one.alive.total)),
    ]


def _share(split: Split) -> str:
    """The backward part in percent; nothing where there is none."""
    return f"{split.backward / split.total:.0%}" if split.backward else ""


def _bar(one: LineRecord, longest: float, width: int = 12) -> Text:
    from rich.text import Text

    parts = [round(width * part / longest) if longest else 0 for part in one.seconds.parts]
    return Text.assemble(("█" * parts[0], "cyan"), ("█" * parts[1], "magenta"))
