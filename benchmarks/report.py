"""What is made of the results: a table, a JSON file and a plot."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.measure import Result
from benchmarks.units import difference, quantity

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
DISTRIBUTIONS = ("bindax", "jax", "jaxlib", "numpy")


def environment() -> dict[str, str]:
    """Describe what the times depend on."""
    described = {
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.2f}",
    }
    return described | {name: version(name) for name in DISTRIBUTIONS}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def table(results: Sequence[Result], failures: dict[str, str], cores: int) -> Table:
    """Tabulate the ratios beside what they should be."""
    where = {0: "all cores", 1: "one core"}.get(cores, f"{cores} cores")
    title = f"Time (or memory) of bindax divided by that of JAX ({where}, medians)"
    printed = Table(title=title, box=SIMPLE_HEAD)
    printed.add_column("")
    for column in ("bindax", "beside", "ratio", "target", "then"):
        printed.add_column(column, justify="right", no_wrap=True, min_width=6)
    for result in results:
        case = result.case
        color = "green" if result.reached else "red"
        measured = difference(result.added) if case.difference else f"{result.ratio:.3f}"
        limits = [
            difference(limit) if case.difference else f"{limit:g}"
            for limit in (case.target, case.goal)
        ]
        printed.add_row(
            case.name,
            quantity(median(result.bindax), case.unit),
            quantity(median(result.reference), case.unit),
            f"[{color}]{measured}[/]",
            *(f"≤ {limit}" for limit in limits),
        )
    for name, reason in failures.items():
        printed.add_row(name, "[red]failed[/]", "", "", "")
        printed.caption = f"{printed.caption or ''}{name}: {reason}\n"
    return printed


def as_json(results: Sequence[Result], failures: dict[str, str]) -> str:
    """Write down everything that was measured."""
    measured: list[dict[str, Any]] = [
        {
            "name": result.case.name,
            "beside": result.case.against,
            "units_per_task": result.case.per,
            "unit": result.case.unit,
            "ratio": result.ratio,
            "ratio_quartiles": result.spread,
            "target": result.case.target,
            "then": result.case.goal,
            "bindax_samples": result.bindax,
            "reference_samples": result.reference,
        }
        for result in results
    ]
    document = {"environment": environment(), "results": measured, "failures": failures}
    return json.dumps(document, indent=2)


def plot(results: Sequence[Result], path: Path) -> None:
    """Draw the ratios as bars, on a logarithmic axis, with a mark at each target."""
    results = [result for result in results if not result.case.difference]
    figure = Figure(figsize=(9, 1.4 + 0.32 * len(results)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    positions = range(len(results))
    ratios = [result.ratio for result in results]
    targets = [result.case.target for result in results]
    reached = ["tab:green" if result.reached else "tab:red" for result in results]
    axes.set_xscale("log")
    from_equal = [ratio - 1 for ratio in ratios]
    axes.barh(positions, from_equal, left=1, color=reached, height=0.6)
    for position, ratio in zip(positions, ratios, strict=True):
        left = ratio < 1
        axes.annotate(
            f"{ratio:.2g}",
            (ratio, position),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
        )
    axes.plot(targets, positions, "k|", markersize=12, label="first target")
    axes.axvline(1.0, color="black", linewidth=0.8)
    limits = (min([*ratios, *targets, 1]) / 1.5, max([*ratios, *targets, 1]) * 1.5)
    axes.set_xlim(*limits)
    ticks = [tick for tick in TICKS if limits[0] < tick < limits[1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(positions, [result.case.name for result in results])
    axes.invert_yaxis()
    axes.set_xlabel("bindax / JAX (left of 1: bindax needs less)")
    figure.legend(loc="outside upper right")
    figure.savefig(path, dpi=120)
