"""The picture of the demo: the loss curve, some predictions, and the hardest images.

It is drawn with matplotlib, which the extra ``bindax[demo]`` installs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from bindax.demo.program import Findings

ROWS, COLUMNS = 4, 7


def draw(findings: Findings, path: Path) -> None:
    """Write the picture.

    Args:
        findings: what to draw.
        path: of the file; its suffix (`.png`, `.svg`, `.pdf`) says the format.
    """
    # A figure of its own, not pyplot's: no window system is asked for, and no global state is left.
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    halves = figure.subfigures(1, 2, width_ratios=(1, 1.35), squeeze=False)
    _draw_curves(halves[0, 0].subplots(), findings)
    halves[0, 1].suptitle("Test images: digit and prediction")
    grid = halves[0, 1].subplots(ROWS, COLUMNS)
    samples = np.arange((ROWS - 1) * COLUMNS)
    hardest = findings.hardest[:COLUMNS]
    for axes, position in zip(grid.flat, [*samples, *hardest], strict=True):
        _draw_image(axes, findings, position)
    grid[-1, 0].set_ylabel("hardest", fontsize=11)
    figure.savefig(path, dpi=120)


def _draw_curves(axes: Axes, findings: Findings) -> None:
    epochs = np.arange(1, len(findings.losses) + 1)
    axes.set_title("Training")
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss", color="tab:blue")
    axes.semilogy(epochs, findings.losses, color="tab:blue")
    axes.grid(alpha=0.3)
    accuracy = axes.twinx()
    accuracy.set_ylabel("test accuracy in %", color="tab:orange")
    accuracy.plot(epochs, 100 * np.asarray(findings.accuracies), color="tab:orange")
    accuracy.set_ylim(top=100)


def _draw_image(axes: Axes, findings: Findings, position: int) -> None:
    label, prediction = findings.test.labels[position], findings.predictions[position]
    axes.imshow(findings.test.images[position].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    axes.set_xticks([])
    axes.set_yticks([])
    color = "tab:green" if label == prediction else "tab:red"
    axes.set_title(f"{label} → {prediction}", color=color, fontsize=11)
