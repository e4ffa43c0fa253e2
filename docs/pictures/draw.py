"""Draws the pictures of the guides: ``python docs/pictures/draw.py``.

Each picture is a card with a background of its own, so that it is legible on light and dark pages.
The same version of matplotlib draws the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

PAPER, INK, SOFT, LINE = "#fbfaf7", "#1f2933", "#5b6770", "#c9ced3"
BLUE, ORANGE, GREEN, RED, PURPLE = "#2f6fb0", "#d9772b", "#3f8f5b", "#c2413b", "#7d5ba6"
MONO = "DejaVu Sans Mono"
STYLE = {
    "svg.hashsalt": "bindax",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": LINE,
}

Point = tuple[float, float]


def card(width: float, height: float) -> tuple[Figure, Any]:
    """A figure with a rounded background, and axes over it in units of a tenth of an inch."""
    figure = Figure(figsize=(width / 10, height / 10))
    figure.patch.set_alpha(0)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    outline = "round,pad=0,rounding_size=1.6"
    axes.add_patch(
        FancyBboxPatch(
            (0.3, 0.3), width - 0.6, height - 0.6, outline, facecolor=PAPER, edgecolor=LINE
        )
    )
    return figure, axes


def box(
    axes: Any,
    at: Point,
    size: Point,
    text: str,
    color: str,
    *,
    mono: bool = False,
    fill: float = 0.13,
) -> None:
    """A rounded box with its centre at a point, and a text in it."""
    (x, y), (width, height) = at, size
    corner = (x - width / 2, y - height / 2)
    outline = "round,pad=0,rounding_size=0.8"
    for face, edge, alpha in ((color, "none", fill), ("none", color, 1.0)):
        axes.add_patch(
            FancyBboxPatch(
                corner, width, height, outline, facecolor=face, edgecolor=edge, alpha=alpha, lw=1.3
            )
        )
    family = {"family": MONO} if mono else {}
    axes.text(x, y, text, ha="center", va="center", linespacing=1.35, **family)


def arrow(axes: Any, start: Point, end: Point, color: str = SOFT, *, bend: float = 0.0) -> None:
    """An arrow between two points."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            lw=1.5,
            color=color,
            shrinkA=0,
            shrinkB=0,
            connectionstyle=f"arc3,rad={bend}",
        )
    )


def label(axes: Any, at: Point, text: str, color: str = SOFT, **options: Any) -> None:
    """A text at a point, centred unless told otherwise."""
    axes.text(*at, text, color=color, **{"ha": "center", "va": "center", **options})


def cells(
    axes: Any, corner: Point, values: Sequence[Sequence[str]], colors: Any, size: float = 3.0
) -> None:
    """A grid of cells, each with a text and a colour (or None); the corner is the upper left."""
    left, top = corner
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            color = colors(i, j)
            at = (left + j * size, top - (i + 1) * size)
            face = {"facecolor": "white"} if color is None else {"facecolor": color, "alpha": 0.28}
            axes.add_patch(Rectangle(at, size, size, edgecolor="none", **face))
            axes.add_patch(Rectangle(at, size, size, facecolor="none", edgecolor=SOFT, lw=0.8))
            label(axes, (at[0] + size / 2, at[1] + size / 2), value, INK, fontsize=9, family=MONO)


def interpreters() -> Figure:
    """Which interpreter asks which rule."""
    figure, axes = card(82, 38)
    box(axes, (11, 19), (15, 6), "echo_p.bind\n(x, w, delay=1)", INK, mono=True, fill=0.05)
    label(axes, (11, 13.6), "every operation\npasses here", fontsize=9, va="top")
    rows = [
        ("evaluation", "impl", "an array", BLUE),
        ("make_jaxpr, jit", "abstract_eval", "a typed equation", PURPLE),
        ("jvp, linearize", "jvp", "value and tangent", ORANGE),
        ("vmap", "vmap", "a batch of values", GREEN),
        ("vjp, grad: backwards", "transpose", "cotangents", RED),
        ("a compiler", 'lowering["stablehlo"]', "operations", SOFT),
    ]
    for i, (who, rule, gives, color) in enumerate(rows):
        y = 31.2 - 5.2 * i
        arrow(axes, (18.7, 19), (24.4, y), color)
        box(axes, (33, y), (17, 3.8), who, color, fill=0.0)
        arrow(axes, (41.6, y), (44.6, y), color)
        box(axes, (54.4, y), (19.6, 3.8), rule, color, mono=True)
        arrow(axes, (64.3, y), (66.8, y), color)
        label(axes, (67.6, y), gives, INK, ha="left", fontsize=9)
    label(axes, (33, 35.2), "interpreter", fontsize=9)
    label(axes, (54.4, 35.2), "asks the rule", fontsize=9)
    label(axes, (67.6, 35.2), "gets", ha="left", fontsize=9)
    return figure


def impl() -> Figure:
    """A sound, its late copy, and the sum."""
    figure, _ = card(82, 23)
    time = np.arange(24)
    sound = np.where(time < 12, np.exp(-0.22 * time) * np.sin(1.1 * time + 0.6), 0.0)
    late = np.concatenate([np.zeros(9), sound[:-9]])
    parts = [
        ("x", sound, BLUE),
        ("w * late(x)", 0.5 * late, ORANGE),
        ("y", sound + 0.5 * late, GREEN),
    ]
    for i, (name, values, color) in enumerate(parts):
        axes = figure.add_axes((0.04 + 0.335 * i, 0.14, 0.25, 0.62))
        axes.vlines(time, 0, values, color=color, lw=1.6)
        axes.plot(time, values, "o", color=color, ms=3.6)
        axes.axhline(0, color=LINE, lw=1, zorder=0)
        axes.set(ylim=(-0.75, 1.0))
        axes.axis("off")
        figure.text(
            0.165 + 0.335 * i, 0.87, name, ha="center", va="center", family=MONO, color=color
        )
    for i, sign in enumerate("+="):
        figure.text(0.332 + 0.335 * i, 0.41, sign, ha="center", va="center", size=17, color=SOFT)
    return figure


def abstract_eval() -> Figure:
    """Types in, a type out; and what is wrong."""
    figure, axes = card(82, 24)
    for y, types, good in (
        (17.2, ("float32[8,4]", "float32[8]"), True),
        (6.8, ("float32[8,4]", "float32[3]"), False),
    ):
        color = PURPLE if good else RED
        for offset, text in zip((2.1, -2.1), types, strict=True):
            wrong = not good and text == "float32[3]"
            box(axes, (14, y + offset), (18, 3.5), text, RED if wrong else PURPLE, mono=True)
            arrow(axes, (23.3, y + offset), (28.3, y + 0.4 * offset), RED if wrong else PURPLE)
        box(axes, (35, y), (13, 4.6), "type_of", color, mono=True, fill=0.05)
        arrow(axes, (41.8, y), (46.6, y), color)
        if good:
            box(axes, (56, y), (18, 3.5), "float32[8,4]", PURPLE, mono=True)
            label(axes, (66.2, y), "no number was\ncomputed", ha="left", fontsize=9)
        else:
            text = "TypeError: echo needs one\nstrength for each sound, …"
            label(axes, (47.4, y), text, RED, ha="left", fontsize=9, family=MONO, linespacing=1.4)
    return figure


def jvp() -> Figure:
    """A grid of operands, its image, and one tangent in both."""
    figure, page = card(82, 34)

    def image(x0: Any, w: Any) -> tuple[Any, Any]:
        return x0, 0.5 + w * x0

    at, along = np.array([1.05, 0.55]), np.array([0.42, 0.36])
    pushed = np.array([along[0], at[1] * along[0] + along[1] * at[0]])
    curve = np.linspace(-1.0, 1.15, 40)
    path = (at[0] + along[0] * curve, at[1] + along[1] * curve)
    ticks, fine = np.linspace(0.2, 1.8, 9), np.linspace(0.2, 1.8, 30)
    ups = np.linspace(0.0, 1.2, 7)
    fine_ups = np.linspace(0.0, 1.2, 30)
    places = [
        ((0.07, 0.14, 0.34, 0.66), lambda a, b: (a, b), at, along, ("x0", "w")),
        ((0.59, 0.14, 0.34, 0.66), image, np.array(image(*at)), pushed, ("y0", "y1")),
    ]
    for rect, mapped, point, tangent, names in places:
        axes = figure.add_axes(rect)
        axes.axis("off")
        for tick in ticks:
            axes.plot(*mapped(np.full_like(fine_ups, tick), fine_ups), color=LINE, lw=0.9)
        for up in ups:
            axes.plot(*mapped(fine, np.full_like(fine, up)), color=LINE, lw=0.9)
        axes.plot(*mapped(*path), color=BLUE, lw=1.6)
        axes.annotate(
            "",
            point + tangent,
            point,
            arrowprops={
                "arrowstyle": "-|>",
                "color": ORANGE,
                "lw": 2.4,
                "shrinkA": 0,
                "shrinkB": 0,
                "mutation_scale": 15,
            },
        )
        axes.plot(*point, "o", color=INK, ms=6)
        axes.text(
            0.5,
            -0.1,
            names[0],
            transform=axes.transAxes,
            ha="center",
            va="center",
            family=MONO,
            color=SOFT,
        )
        axes.text(
            -0.07,
            0.5,
            names[1],
            transform=axes.transAxes,
            ha="center",
            va="center",
            family=MONO,
            color=SOFT,
        )
    arrow(page, (34.5, 16.5), (42.9, 16.5))
    label(page, (38.7, 19), "echo", INK, family=MONO)
    label(page, (38.7, 13.6), "tangent\nto tangent", ORANGE, fontsize=9)
    label(page, (20, 30.2), "operands, with a tangent")
    label(page, (62.5, 30.2), "results, with its image")
    return figure


def vmap() -> Figure:
    """The batch axes move to the front; the result has one there."""
    figure, axes = card(82, 31)
    hues = (BLUE, ORANGE, GREEN)
    label(axes, (11.5, 27.4), "operands, dims = (1, None)", fontsize=9)
    sound = [[f"{i}{j}" for j in range(3)] for i in range(4)]
    cells(axes, (7, 24), sound, lambda i, j: hues[j])
    label(axes, (4.4, 18), "time", rotation=90, fontsize=9)
    label(axes, (11.5, 10.6), "batch", fontsize=9)
    label(axes, (17.4, 18), "x", INK, ha="left", family=MONO)
    cells(axes, (10, 7.6), [["w"]], lambda i, j: None)
    label(axes, (17.4, 6.1), "w", INK, ha="left", family=MONO)
    arrow(axes, (21, 18), (27.4, 18))
    label(axes, (24.2, 20.2), "moved", fontsize=9)
    label(axes, (34.5, 8.1), "repeated", fontsize=9)
    turned = [[f"{i}{j}" for i in range(4)] for j in range(3)]
    cells(axes, (30, 22.5), turned, lambda i, j: hues[i])
    cells(axes, (49.4, 22.5), [["w"]] * 3, lambda i, j: hues[i])
    axes.plot((21, 50.9, 50.9), (6.1, 6.1, 9), color=SOFT, lw=1.5)
    arrow(axes, (50.9, 8.9), (50.9, 13.1))
    label(axes, (45.7, 18), "and", fontsize=9)
    label(axes, (42, 27.4), "batch axis in front", fontsize=9)
    arrow(axes, (54.4, 18), (60.2, 18))
    label(axes, (57.3, 20.2), "echo", INK, fontsize=9, family=MONO)
    result = [[f"y{j}{i}" for i in range(4)] for j in range(3)]
    cells(axes, (62.4, 22.5), result, lambda i, j: hues[i])
    label(axes, (68.4, 27.4), "result, dim = 0", fontsize=9)
    label(axes, (68.4, 11.3), "time", fontsize=9)
    label(axes, (76.2, 18), "batch", rotation=90, fontsize=9)
    return figure


def transpose() -> Figure:
    """An echo as a matrix, its transpose, and the dot-product test with numbers."""
    figure, axes = card(82, 37)
    size, half = 4, 0.5
    forward = np.eye(size) + half * np.eye(size, k=-1)
    x, c = np.array([1.0, 0.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0, 2.0])

    def column(left: float, top: float, values: Any, color: str, name: str) -> None:
        cells(axes, (left, top), [[f"{v:g}"] for v in values], lambda i, j: color)
        label(axes, (left + 1.5, top + 1.7), name, INK, fontsize=9, family=MONO)

    def grid(left: float, top: float, matrix: Any, name: str) -> None:
        text = [["·" if v == 0 else ("w" if v == half else "1") for v in row] for row in matrix]
        shade = {1.0: SOFT, half: PURPLE}
        cells(axes, (left, top), text, lambda i, j: shade.get(float(matrix[i, j])))
        label(axes, (left + 6, top + 1.7), name, INK, fontsize=9, family=MONO)

    top = 27.6
    for left, matrix, operand, names, colors, title in (
        (8, forward, x, ("A", "x", "A x"), (BLUE, GREEN), "forwards: an echo comes later"),
        (48, forward.T, c, ("Aᵀ", "c", "Aᵀ c"), (RED, ORANGE), "transposed: an echo comes earlier"),
    ):
        label(axes, (left + 14, 33.4), title)
        grid(left, top, matrix, names[0])
        column(left + 14.4, top, operand, colors[0], names[1])
        label(axes, (left + 20.2, top - 6), "=", fontsize=13)
        column(left + 23, top, matrix @ operand, colors[1], names[2])
    left_product, right_product = c @ (forward @ x), (forward.T @ c) @ x
    label(axes, (22, 9), f"<c, A x> = {left_product:g}", INK, family=MONO)
    label(axes, (62, 9), f"<Aᵀ c, x> = {right_product:g}", INK, family=MONO)
    label(axes, (42, 9), "=", GREEN, fontsize=17, weight="bold")
    label(axes, (42, 4.6), "the dot-product test, w = 0.5", fontsize=9)
    return figure


def lowering() -> Figure:
    """One equation, and the operations that it becomes."""
    figure, axes = card(82, 27)
    for y, name in ((18.6, "x"), (8.6, "w")):
        box(axes, (6, y), (4.2, 4), name, INK, mono=True, fill=0.05)
    box(axes, (24, 18.6), (15, 4), "pad", BLUE, mono=True)
    box(axes, (24, 8.6), (15, 4), "broadcast_in_dim", BLUE, mono=True)
    box(axes, (44, 13), (13, 4), "multiply", BLUE, mono=True)
    box(axes, (61, 13), (9, 4), "add", BLUE, mono=True)
    box(axes, (75, 13), (4.2, 4), "y", INK, mono=True, fill=0.05)
    arrow(axes, (8.3, 18.6), (16.2, 18.6))
    arrow(axes, (8.3, 8.6), (16.2, 8.6))
    arrow(axes, (31.8, 18.6), (40, 15.3))
    arrow(axes, (31.8, 8.6), (40, 10.8))
    arrow(axes, (50.7, 13), (56.2, 13))
    arrow(axes, (65.7, 13), (72.6, 13))
    axes.plot((6, 6, 61), (20.7, 23.4, 23.4), color=SOFT, lw=1.5)
    arrow(axes, (61, 23.4), (61, 15.3))
    label(axes, (12.2, 20.2), "float32[4]", fontsize=8, family=MONO)
    label(axes, (12.2, 10.2), "float32[]", fontsize=8, family=MONO)
    label(axes, (36.5, 18.6), "late(x)", fontsize=9)
    label(axes, (61, 4), "all in the dialect stablehlo: XLA fuses them", fontsize=9)
    return figure


PICTURES: tuple[Callable[[], Figure], ...] = (
    interpreters,
    impl,
    abstract_eval,
    jvp,
    vmap,
    transpose,
    lowering,
)


def draw(
    folder: Path, suffix: str = "svg", pictures: Sequence[Callable[[], Figure]] = PICTURES
) -> list[Path]:
    """Draw pictures into a folder, by default all; gives the files."""
    files = []
    with mpl.rc_context(STYLE):
        for picture in pictures:
            file = folder / f"{picture.__name__}.{suffix}"
            metadata = {"Date": None} if suffix == "svg" else {}
            picture().savefig(file, dpi=130, metadata=metadata)
            files.append(file)
    return files


if __name__ == "__main__":
    draw(*([Path(sys.argv[1]), *sys.argv[2:]] if sys.argv[1:] else [Path(__file__).parent]))
