"""Tables and a picture: the record of ``scripts/mesh_scaling.py``, and the kinds of devices."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bindax_inspect.divided.hardware import STANDARD
from bindax_inspect.report.units import duration, size

RECORD = Path(__file__).resolve().parent / "mesh_scaling.json"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 360, 70, 42, 16, 150
COLORS = {1: "#2f6fb0", 2: "#3f8f5b", 4: "#d9772b", 8: "#c2413b", 16: "#7d5ba6"}
INK, SOFT, LINE = "#1f2933", "#5b6770", "#dddddd"


def record() -> list[dict[str, Any]]:
    """Return what is known of each mesh."""
    found: list[dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def devices(one: dict[str, Any]) -> int:
    """Return the number of devices of a mesh."""
    return int(one["data"] * one["model"])


def least(one: dict[str, Any]) -> float:
    """Return the least time of a step."""
    return float(max(one["seconds"].values()))


def best(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mesh with the least time, of those that fit, for each number of devices."""
    fastest: dict[int, dict[str, Any]] = {}
    for one in found:
        other = fastest.get(devices(one))
        if one["fits"] and (other is None or _order(one) < _order(other)):
            fastest[devices(one)] = one
    return [fastest[count] for count in sorted(fastest)]


def _order(one: dict[str, Any]) -> tuple[float, float]:
    return least(one), sum(one["seconds"].values())


def efficiency(one: dict[str, Any], first: dict[str, Any]) -> float:
    """Return how much faster a mesh is than the first one, for each device."""
    return least(first) * devices(first) / (least(one) * devices(one))


def mesh_scaling() -> str:
    """Return the table of the best mesh for each number of devices."""
    columns = (
        *("devices", "best mesh: data x model", "a device holds", "sends", "computes for"),
        *("exchanges for", "a step takes at least", "of the speed of 8, each"),
    )
    chosen = best(record())
    rows = []
    for one in chosen:
        parts = one["seconds"]
        rows.append(
            [
                f"{devices(one):,}",
                f"{one['data']} x {one['model']}",
                *(size(one["bytes"]), size(one["sent"])),
                *(duration(parts["operations"]), duration(parts["exchanges"])),
                f"**{duration(least(one))}**",
                f"{efficiency(one, chosen[0]):.0%}",
            ]
        )
    lines = [columns, ["---:"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def kinds_of_devices() -> str:
    """Return the table of the kinds of devices."""
    columns = (
        *("kind", "memory", "memory a second", "operations a second", "link a second", "domain"),
        *("network a second", "source"),
    )
    rows = []
    for name, kind in sorted(STANDARD.items()):
        rates = ", ".join(f"{dtype} {rate / 1e12:g} T" for dtype, rate in kind.operations.items())
        numbers = (kind.memory, kind.bandwidth, kind.link, kind.network)
        memory, bandwidth, link, network = (f"{number / 1e9:g} GB" for number in numbers)
        domain = f"{kind.domain:,}"
        rows.append([f"`{name}`", memory, bandwidth, rates, link, domain, network, kind.source])
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --------------------------------------------------------------------------------- the picture


def picture() -> str:
    """Draw the least time of a step over the number of devices, as SVG."""
    found = record()
    chosen = best(found)
    counts = sorted({devices(one) for one in found})
    times = [least(one) for one in found]
    ideal = [least(chosen[0]) * counts[0] / count for count in counts]
    scale = _Scale(counts, [*times, *ideal])
    marks = [
        *_axes(scale),
        *_curve(scale, list(zip(counts, ideal, strict=True)), SOFT, dashed=True),
    ]
    for model, color in COLORS.items():
        own = [(devices(one), least(one)) for one in found if one["model"] == model]
        marks += _curve(scale, own, color)
    for one in chosen:
        x, y = scale.x(devices(one)), scale.y(least(one))
        color = COLORS[one["model"]]
        marks.append(_ring(x, y, color))
    body = "\n".join([*marks, *_legend()])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11" role="img">\n'
        f"<title>The least time of a step of a transformer, by the number of devices</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


class _Scale:
    """Both axes, which are logarithmic."""

    def __init__(self, counts: Sequence[int], times: Sequence[float]) -> None:
        self.counts = counts
        self.low, self.high = min(times) * 0.9, max(times) * 1.1

    def x(self, count: float) -> float:
        share = math.log(count / self.counts[0]) / math.log(self.counts[-1] / self.counts[0])
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, time: float) -> float:
        share = math.log(time / self.low) / math.log(self.high / self.low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)


def _axes(scale: _Scale) -> Iterator[str]:
    for count in scale.counts:
        x = scale.x(count)
        yield f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{HEIGHT - BOTTOM}" stroke="{LINE}"/>'
        yield _text(x, HEIGHT - BOTTOM + 16, f"{count:,}", INK, "middle")
    yield _text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 8, "devices", SOFT, "middle")
    for power in range(math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high)) + 1):
        y = scale.y(10.0**power)
        yield f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="{LINE}"/>'
        yield _text(LEFT - 8, y + 4, f"{10.0 ** (power + 3):g} ms", INK, "end")


def _ring(x: float, y: float, color: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="5" fill="white" stroke="{color}" stroke-width="2"/>'


def _legend() -> Iterator[str]:
    entries = [(f"model {model}", color) for model, color in COLORS.items()]
    left = WIDTH - RIGHT + 24
    for i, (text, color) in enumerate([*entries, ("all at full speed", SOFT)]):
        y = TOP + 12 + 18 * i
        dash = "" if color in COLORS.values() else ' stroke-dasharray="5 4"'
        yield (
            f'<line x1="{left - 16}" y1="{y - 4}" x2="{left - 2}" y2="{y - 4}" stroke="{color}" '
            f'stroke-width="2"{dash}/>'
        )
        yield _text(left + 4, y, text, INK)
    y = TOP + 12 + 18 * (len(entries) + 1)
    yield _ring(left - 9, y - 4, INK)
    yield _text(left + 4, y, "the best mesh", INK)


def _text(x: float, y: float, text: str, color: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{color}" text-anchor="{anchor}">{text}</text>'


def _curve(
    scale: _Scale, points: Sequence[tuple[int, float]], color: str, *, dashed: bool = False
) -> Iterator[str]:
    path = " ".join(f"{scale.x(count)},{scale.y(time)}" for count, time in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    yield f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"{dash}/>'
    if not dashed:
        for count, time in points:
            yield f'<circle cx="{scale.x(count)}" cy="{scale.y(time)}" r="2.5" fill="{color}"/>'
