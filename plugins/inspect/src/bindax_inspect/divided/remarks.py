"""Remarks on a report: what a user should look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bindax_inspect.report.units import size

if TYPE_CHECKING:
    from bindax_inspect.divided.mesh_report import MeshReport

REPEATED = 1.05
"""The least repetition that is worth a remark; the rounding of uneven parts is not."""

_LARGE = 0.05
"""The least part of the memory that an array must take to be worth a remark."""


def remarks_on(report: MeshReport) -> list[str]:
    """Return a text for each: work that is repeated, arrays that all hold, too little memory."""
    return [*_repeated(report), *_copied(report), *_too_large(report)]


def _repeated(report: MeshReport) -> Iterator[str]:
    if report.repeated <= REPEATED:
        return
    devices = report.mesh.size
    lines = [one for one in report.lines if one.whole]
    worst = max(lines, key=lambda one: one.each - one.whole / devices)
    yield (
        f"repeated: the devices compute {report.repeated:.1f} times what the program needs, most "
        f"of it in {worst.line}, where each does 1/{worst.whole / worst.each:.3g} of the work, "
        f"not 1/{devices}. Divide its operands along more axes of the mesh."
    )


def _copied(report: MeshReport) -> Iterator[str]:
    total, devices = report.memory.total, report.mesh.size
    every = (*report.arguments, *report.results)
    found = [one for one in every if one.copies == devices > 1 and one.bytes > _LARGE * total]
    if found:
        largest = max(found, key=lambda one: one.bytes)
        others = f", and of {len(found) - 1} more large arrays" if len(found) > 1 else ""
        yield (
            f"copied: every device holds the whole of {largest.name}, {largest.type}{others}: "
            f"{size(sum(one.bytes for one in found))} of {size(total)}."
        )


def _too_large(report: MeshReport) -> Iterator[str]:
    if not report.fits:
        yield (
            f"too large: a device of the kind {report.device.name} has "
            f"{size(report.device.memory)} of memory, and must hold {size(report.memory.total)}."
        )
