"""The tables of a program on a mesh, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bindax_inspect.divided.held import Held
from bindax_inspect.divided.mesh_report import LineShare, MeshReport
from bindax_inspect.report.by_line import code_of
from bindax_inspect.report.units import count, duration, size

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

MOST_ROWS = 20
_REPEATED = 1.05  # what is worth a remark: rounding of uneven parts is not


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
    parts += [Text(text, style="yellow") for text in remarks(report)]
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


def remarks(report: MeshReport) -> list[str]:
    """Return what a user should look at: repeated work, copies, and too little memory."""
    found = []
    devices = report.mesh.size
    if report.repeated > _REPEATED:
        worst = max(
            (one for one in report.lines if one.whole),
            key=lambda one: one.each - one.whole / devices,
        )
        found.append(
            f"repeated: the devices compute {report.repeated:.1f} times what the program needs, "
            f"most of it in {worst.line}, where each does 1/{worst.whole / worst.each:.3g} of the "
            f"work, not 1/{devices}. Divide its operands along more axes of the mesh."
        )
    copied = [
        one
        for one in (*report.arguments, *report.results)
        if one.copies == devices > 1 and one.bytes > report.memory.total / 20
    ]
    if copied:
        largest = max(copied, key=lambda one: one.bytes)
        found.append(
            f"copied: every device holds the whole of {largest.name}, {largest.type}"
            + (f", and of {len(copied) - 1} more large arrays" if len(copied) > 1 else "")
            + f": {size(sum(one.bytes for one in copied))} of {size(report.memory.total)}."
        )
    if not report.fits:
        found.append(
            f"too large: a device of the kind {report.device.name} has "
            f"{size(report.device.memory)} of memory."
        )
    return found


def _lines(shares: Sequence[LineShare], devices: int, width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("line", "operations", "repeated", "sent", "exchanges", "code"):
        right = name in ("operations", "repeated", "sent")
        found.add_column(name, justify="right" if right else "left", no_wrap=True)
    for one in shares:
        line = one.line
        place = f"{Path(line.file).name}:{line.number}" if line.number else str(line)
        repeated = one.each * devices / one.whole if one.whole else 0.0
        found.add_row(
            place,
            count(one.each),
            f"{repeated:.1f}x" if repeated > _REPEATED else "",
            size(one.sent) if one.sent else "",
            ", ".join(one.exchanges),
            Text(code_of(line), style="dim"),
        )
    return found


def _arrays(report: MeshReport) -> Table:
    from rich import box
    from rich.table import Table

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("array", "type", "divided", "on each device", "copies"):
        right = name in ("on each device", "copies")
        found.add_column(name, justify="right" if right else "left", no_wrap=True)
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
