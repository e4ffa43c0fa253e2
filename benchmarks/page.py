"""The picture of measured ratios, and the part of the page on performance that has them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.ratios import Ratios
from benchmarks.stages import STAGES
from benchmarks.units import quantity

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "performance.md"
PICTURE = DOCS / "pictures/performance.svg"
LEFT, WIDTH, LINE = 300, 760, 18
LEAST, MOST = 0.02, 20.0
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
WITHIN, BEYOND, PLAIN = "#1b7f4b", "#c0392b", "#4a5a6a"


def picture(measured: Sequence[Ratios]) -> str:
    """Draw each ratio of minima as a dot, with a line from quartile to quartile, as SVG."""
    height = LINE * (len(measured) + 2)
    marks = "\n".join([*_axis(height), *_rows(measured)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="11" role="img">\n'
        f"<title>Time or memory of bindax divided by that of JAX</title>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n{marks}\n</svg>\n'
    )


def _across(ratio: float) -> float:
    """The position of a ratio on the logarithmic axis."""
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return round(LEFT + share * (WIDTH - LEFT - 50), 1)


def _axis(height: int) -> Iterator[str]:
    for tick in TICKS:
        x, color = _across(tick), "#555" if tick == 1 else "#ddd"
        yield f'<line x1="{x}" y1="{LINE}" x2="{x}" y2="{height}" stroke="{color}"/>'
        yield f'<text x="{x}" y="12" text-anchor="middle">{tick:g}</text>'


def _rows(measured: Sequence[Ratios]) -> Iterator[str]:
    for number, row in enumerate(measured):
        y = LINE * (number + 1) + LINE / 2
        low, _, high = row.quartiles
        color = PLAIN if row.most is None else WITHIN if row.of_minima <= row.most else BEYOND
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(row.name)}</text>'
        yield (
            f'<line x1="{_across(low)}" y1="{y}" x2="{_across(high)}" y2="{y}" '
            f'stroke="{color}" stroke-opacity="0.5" stroke-width="4"/>'
        )
        yield f'<circle cx="{_across(row.of_minima)}" cy="{y}" r="3.5" fill="{color}"/>'
        yield f'<text x="{WIDTH - 8}" y="{y + 4}" text-anchor="end">{row.of_minima:.2f}</text>'


def ratio_table(measured: Sequence[Ratios], beside: str) -> str:
    """Tabulate the smallest samples and the ratios, in Markdown."""
    lines = [
        f"| what is timed | bindax | {beside} | ratio of minima | median (quartiles) |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in measured:
        low, middle, high = row.quartiles
        lines.append(
            f"| {row.name} | {quantity(row.own, row.unit)} | {quantity(row.other, row.unit)} "
            f"| {row.of_minima:.2f} | {middle:.2f} ({low:.2f} to {high:.2f}) |"
        )
    return "\n".join(lines)


def stage_table(stages: Mapping[str, Sequence[float]]) -> str:
    """Tabulate the microseconds of each stage of a call, and their sum, in Markdown."""
    lines = [f"| µs | {' | '.join(stages)} |", "|---|" + "---:|" * len(stages)]
    columns = list(stages.values())
    for number, name in enumerate(STAGES):
        cells = [f"{1e6 * max(column[number], 0.0):.1f}" for column in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    sums = [f"{1e6 * sum(column):.1f}" for column in columns]
    return "\n".join([*lines, f"| all | {' | '.join(sums)} |"])


def write_page(
    measured: Sequence[Ratios],
    beside: str,
    stages: Mapping[str, Sequence[float]],
    page: Path = PAGE,
    drawn: Path = PICTURE,
) -> None:
    """Write the measured parts of the page between their marks, and the picture beside it."""
    drawn.write_text(picture(measured), encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    library = f"{beside} {version(beside)}"
    for name, part in (("ratios", ratio_table(measured, library)), ("stages", stage_table(stages))):
        marked = re.compile(f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text, count = marked.subn(lambda found, part=part: f"{found[1]}{part}\n{found[2]}", text)  # type: ignore[misc]
        if count != 1:
            raise ValueError(f"{page.name} needs one part {name!r}: <!-- begin {name} -->.")
    page.write_text(text, encoding="utf-8")
