"""`python -m benchmarks.history RESULTS HISTORY`: keep measurements, and name what got slower.

The history is a file with a JSON object in each line, for one run. Runs on shared machines differ
by more than the code does, so what is kept and compared are ratios to the reference, which ran at
the same time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click

SLOWER = 1.25
"""Factor by which a ratio exceeds the former ones when it is named."""
RUNS = 5
"""Number of former runs, whose median a ratio is compared with."""


def entry(document: Mapping[str, Any], revision: str) -> dict[str, Any]:
    """Return what is kept of one run: the machine, the revision and the ratios."""
    ratios = {one["name"]: round(one["ratio"], 4) for one in document["results"]}
    return {"revision": revision, "environment": document["environment"], "ratios": ratios}


def slower(history: Sequence[Mapping[str, Any]], latest: Mapping[str, Any]) -> dict[str, float]:
    """Return the cases whose ratio grew, and by what factor, against the median of the last runs.

    A case is compared when it was measured in as many runs as the median is of.

    >>> before = [{"ratios": {"sin": 1.0, "cos": 2.0}}] * 5
    >>> slower(before, {"ratios": {"sin": 1.5, "cos": 2.1, "new": 9.0}})
    {'sin': 1.5}
    """
    grown = {}
    for name, ratio in latest["ratios"].items():
        before = [run["ratios"][name] for run in history if name in run["ratios"]][-RUNS:]
        if len(before) == RUNS and ratio > SLOWER * median(before):
            grown[name] = round(ratio / median(before), 2)
    return grown


@click.command()
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("history", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--revision", default="", help="The commit that was measured.")
def main(results: Path, history: Path, revision: str) -> None:
    """Append RESULTS, a benchmarks.json, to HISTORY; the exit code is 1 when a case got slower."""
    latest = entry(json.loads(results.read_text("utf-8")), revision)
    lines = history.read_text("utf-8").splitlines() if history.exists() else []
    grown = slower([json.loads(line) for line in lines], latest)
    with history.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(latest) + "\n")
    for name, factor in grown.items():
        click.echo(f"{name}: {factor:.2f} times the ratio of the last {RUNS} runs")
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
