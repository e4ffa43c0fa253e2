"""The tables of a program on a mesh, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bindax_inspect.divided.held import Held
from bindax_inspect.divided.remarks import REPEATED
from bindax_inspect.report.by_line import code_of
from bindax_inspect.report.units import count, duration, size

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from bindax_inspect.divided.mesh_report import LineShare, MeshReport

MOST_ROWS = 20
_GAP = 3  # the columns of the terminal between two of the table
_LEAST = 12  # the least columns that code is shown in


def table(report: MeshReport, width: int) -> Group:
    """Return what is printed of a report, for a console of ``rich``.

    Args:
        report: the report.
        width: the columns of the terminal, which lines of code are cut to.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[Text | Table] = [Text(summary(report), style="bold")]
    parts += [Text(line) for line in (_memory(report), _time(report))]
    parts += [_lines(report.lines[:MOST_ROWS], report.mesh.size, width), _arrays(report)]
    parts += [Text(text, style="yellow") for text in report.remarks]
    parts += [Text(f"missing: {reason}", style="yellow") for reason in report.missing]
    return Group(*parts)


def summary(report: MeshReport) -> str:
    """Return the first line: what runs where."""
    axes = " x ".join(f"{name} {length}" for name, length in report.mesh.shape_tuple)
    number = report.mesh.size
    return f"{report.name} on {number:,} devices of the kind {report.device.name}: {axes}"


def _memory(report: MeshReport) -> str:
    memory = report.memory
    parts = [f"{size(memory.arguments)} of arguments", f"{size(memory.results)} of results"]
    parts += [f"{size(memory.reused)} of them in the same place"] if memory.reused else []
    if memory.temporaries is not None:
        parts.append(f"{size(memory.temporaries)} in between")
    total = f"{size(memory.total)} of {size(report.device.memory)}"
    return f"a device holds {total}: {', '.join(parts)}"


def _time(report: MeshReport) -> str:
    bound = report.bound
    parts = [
        f"{duration(bound.operations)} for {count(report.operations)} operations",
        f"{duration(bound.memory)} to read and write its memory once",
        f"{duration(bound.exchanges)} to send {size(report.sent)}",
    ]
    return f"a call takes {duration(bound.least)} at least: {', '.join(parts)}"


def _lines(shares: Sequence[LineShare], devices: int, width: int) -> Table:
    from rich.text import Text

    names = ["line", "operations", "repeated", "sent", "exchanges"]
    rows = [_cells(one, devices) for one in shares]
    widths = [max([len(name), *(len(row[i]) for row in rows)]) for i, name in enumerate(names)]
    left = width - sum(widths) - _GAP * len(names)
    found = _table(names, ("operations", "repeated", "sent"))
    if left >= _LEAST:
        found.add_column("code", no_wrap=True)
    for one, cells in zip(shares, rows, strict=True):
        code = code_of(one.line)
        code = code if len(code) <= left else code[: left - 1] + "…"
        found.add_row(*cells, *([Text(code, style="dim")] if left >= _LEAST else []))
    return found


def _cells(one: LineShare, devices: int) -> list[str]:
    line = one.line
    place = f"{Path(line.file).name}:{line.number}" if line.number else str(line)
    repeated = one.each * devices / one.whole if one.whole else 0.0
    most = one.exchanges[:1]
    more = f" +{len(one.exchanges) - 1}" if len(one.exchanges) > 1 else ""
    return [
        place,
        count(one.each),
        f"{repeated:.1f}x" if repeated > REPEATED else "",
        size(one.sent) if one.sent else "",
        "".join(most) + more,
    ]


def _table(names: Sequence[str], right: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in names:
        found.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    return found


def _arrays(report: MeshReport) -> Table:
    names = ("array", "type", "divided", "on each device", "copies")
    found = _table(names, names[3:])
    every = sorted((*report.arguments, *report.results), key=lambda one: -one.bytes)
    for one in every[:MOST_ROWS]:
        copies = f"{one.copies:g}" if one.copies > 1 else ""
        found.add_row(one.name, one.type, _divided(one), size(one.bytes), copies)
    if len(every) > MOST_ROWS:
        rest = every[MOST_ROWS:]
        found.add_row(f"{len(rest)} more", "", "", size(sum(one.bytes for one in rest)), "")
    return found


def _divided(one: Held) -> str:
    return "" if one.spec is None else repr(one.spec)
