"""Records a trace of a short training, and draws it: ``python docs/pictures/trace.py``.

The data are those of ``perfetto_trace.json.gz``, the file that Perfetto opens; the drawing is ours.
The times are those of the machine that it runs on.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from draw import BLUE, GREEN, INK, LINE, ORANGE, PAPER, SOFT
from matplotlib.figure import Figure

import bindax
import bindax.numpy as jnp
from bindax import profiler

SHOWN = {"python": "Python, and what it calls", "XLAPjRtCpuClient": "XLA: runs the program"}


def record(directory: Path) -> list[dict[str, Any]]:
    """The events of three steps of a training."""

    def loss(weights: Any, x: Any) -> Any:
        with bindax.named_scope("hidden"):
            hidden = jnp.tanh(x @ weights[0])
        with bindax.named_scope("output"):
            return ((hidden @ weights[1]) ** 2).mean()

    @bindax.jit
    def update(weights: Any, x: Any) -> Any:
        slopes = bindax.grad(loss)(weights, x)
        return [w - 0.1 * slope for w, slope in zip(weights, slopes, strict=True)]

    random = np.random.default_rng(0)
    weights = [random.normal(size=size).astype("float32") for size in ((256, 512), (512, 8))]
    x = random.normal(size=(256, 256)).astype("float32")
    weights = bindax.block_until_ready(update(weights, x))
    options = profiler.ProfileOptions(python_tracer_level=0, host_tracer_level=2)
    with profiler.trace(directory, create_perfetto_trace=True, profiler_options=options):
        for step in range(3):
            with profiler.StepTraceAnnotation("train", step_num=step):
                with profiler.TraceAnnotation("load"):
                    x = random.normal(size=x.shape).astype("float32")
                weights = bindax.block_until_ready(update(weights, x))
    (file,) = directory.glob("plugins/profile/*/perfetto_trace.json.gz")
    events: list[dict[str, Any]] = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return events


def rows(events: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The events that are long enough to be seen, by thread."""
    threads = {e["tid"]: e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    found = []
    total = max(e["ts"] + e["dur"] for e in events if e.get("ph") == "X")
    for tid, name in threads.items():
        label = next((text for part, text in SHOWN.items() if part in name), "XLA: a helper")
        spans = [e for e in events if e.get("ph") == "X" and e["tid"] == tid and e["dur"] > 5]
        if sum(e["dur"] for e in spans) > 0.02 * total:
            found.append((label, sorted(spans, key=lambda e: (e["ts"], -e["dur"]))))
    return sorted(found, key=lambda row: (not row[0].startswith("P"), row[0]))


def draw(events: list[dict[str, Any]], path: Path) -> None:
    """Draw a timeline: a lane for each thread, and a level for what is inside of what."""
    figure = Figure(figsize=(10, 4), facecolor=PAPER)
    axes = figure.add_axes((0.19, 0.13, 0.79, 0.83), facecolor=PAPER)
    bottom, marks = 0.0, []
    lanes = rows(events)
    total = max(span["ts"] + span["dur"] for _, spans in lanes for span in spans) / 1e3
    for label, spans in lanes:
        ends: list[float] = []
        for span in spans:
            start, width = span["ts"] / 1e3, span["dur"] / 1e3
            ends = [end for end in ends if end > start]
            level = len(ends)
            ends.append(start + width)
            args = span.get("args", {})
            color = ORANGE if "step_num" in args or span["name"] == "load" else BLUE
            color = GREEN if "hlo_op" in args else color
            axes.barh(bottom - level, width, 0.9, start, color=color, alpha=0.75, edgecolor=PAPER)
            name = span["name"].rpartition("::")[2]
            name = f"{name} {args['step_num']}" if "step_num" in args else name
            if width > 0.0068 * total * (len(name) + 1):
                at = (start + 0.003 * total, bottom - level)
                axes.text(*at, name, va="center", color=INK, fontsize=6.5)
            span["level"] = level
        depth = 1 + max(span["level"] for span in spans)
        marks.append((bottom - (depth - 1) / 2, label))
        bottom -= depth + 0.6
        axes.axhline(bottom + 0.8, color=LINE, linewidth=0.8)
    axes.set_yticks([at for at, _ in marks], [label for _, label in marks], color=INK, fontsize=8)
    axes.set_xlim(0, 1.01 * total)
    axes.set_xlabel("time in ms", color=SOFT, fontsize=8)
    axes.tick_params(axis="both", length=0, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, metadata={"Date": None}, dpi=150)


if __name__ == "__main__":
    mpl.rcParams.update({"svg.hashsalt": "bindax", "svg.fonttype": "none"})
    with tempfile.TemporaryDirectory() as folder:
        recorded = record(Path(folder))
    draw(recorded, Path(__file__).with_name("trace.png"))
