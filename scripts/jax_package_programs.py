"""Run a program for each package written for JAX, with JAX and on bindax, and write the page.

``python scripts/jax_package_programs.py --python PYTHON [PROGRAM ...]`` runs the programs of
``tests/jax_packages``, in processes of PYTHON, an environment with the packages, JAX and bindax in
it. Results are kept in ``docs/jax_package_programs.json``, so that programs can be run one by one;
``docs/jax_package_programs.md`` is written from it. The long programs of ``jax_long_programs.py``
run as the others do. What stops a program is in the page. What
``tests/jax_programs/run.py`` wrote to ``--reports``, as ``PROGRAM.jax.json`` and
``PROGRAM.bindax.json``, is used in place of a run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import jax_long_programs
import numpy as np

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests/jax_packages"
PAGE = ROOT / "docs/jax_package_programs.md"
RESULTS = ROOT / "docs/jax_package_programs.json"

INTRODUCTION = """\
# A program for each package

Written by `scripts/jax_package_programs.py`: a program of ours for each package, after what its
own documentation shows, run with JAX and on bindax by [the alias](jax_programs.md). The
difference is the largest one of all numbers that a program returns, relative to the largest
number of the array or to 0.001. Seconds are of the program and the import of the package,
megabytes the peak of the process, taken beside other work: they show the order of magnitude.
[Samples of the packages' own tests](jax_packages.md) have a page of their own.
"""

NOTES: dict[str, str] = {
    "pennylane_circuit": "pennylane 0.45.1 needs a JAX before 0.8; JAX 0.7.1 gave the numbers",
    "quax_lora": "quax brings an interpreter of its own in the private form of JAX's",
    "scico_total_variation": "scico 0.0.7 declares JAX 0.8.1; it runs with 0.12.0.1",
    "transformers_bert": "the last releases of transformers with models in Flax are 4.x",
}
"""By program, what its row does not say."""
KEYS = ("seconds", "megabytes")


def distributions() -> dict[str, str]:
    """By program, the distribution that it is about, as the test of the programs has them."""
    names = runpy.run_path(str(ROOT / "tests/test_jax_packages.py"))
    return {
        program: names["DISTRIBUTIONS"].get(package, package)
        for program, package in names["PACKAGES"].items()
        if not program.endswith("_cases")
    }


def run(python: str, program: str, on_bindax: bool, reports: Path) -> dict[str, Any]:
    """Run a program once; gives its numbers or its error, the seconds and the peak of memory."""
    report = reports / f"{program}.{'bindax' if on_bindax else 'jax'}.json"
    if report.exists():
        return _named(program, json.loads(report.read_text(encoding="utf-8")))
    alias = ["-m", "bindax.jax"] if on_bindax else []
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "found.json"
        runner = ROOT / "tests/jax_programs/run.py"
        command = [python, "-W", "ignore", *alias, str(runner), str(PROGRAMS), str(out), program]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
        with Path(scratch, "errors").open("wb") as errors:
            child = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=errors
            )
            _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0  # it is waited for already
        said = Path(scratch, "errors").read_text(encoding="utf-8").split("\n")
        found = {program: {"error": next(filter(None, said[::-1]), "no output"), "seconds": 0.0}}
        found = json.loads(out.read_text(encoding="utf-8")) if out.exists() else found
    return {**_named(program, found), "megabytes": usage.ru_maxrss >> 10}


def _named(program: str, found: dict[str, Any]) -> dict[str, Any]:
    """The result of a program among those of a run, with an error if there is none."""
    row: dict[str, Any] = found.get(program, {"error": "the process ended", "seconds": 0.0})
    if "missing" in row:
        row["error"] = f"ModuleNotFoundError: {row.pop('missing')}"
    return row


def difference(mine: list[Any], reference: list[Any]) -> float | str:
    """The largest relative difference of numbers, or what else is different."""
    if len(mine) != len(reference):
        return f"{len(mine)} results in place of {len(reference)}"
    largest = 0.0
    for x, y in zip(mine, reference, strict=True):
        if isinstance(y, str):
            if x != y:
                return "another text"
        elif np.shape(x) != np.shape(y):
            return "another shape"
        elif np.size(y):
            a, b = np.array(x, float), np.array(y, float)
            if not np.array_equal(np.isnan(a), np.isnan(b)):
                return "nan elsewhere"
            scale = max(float(np.nanmax(np.abs(b), initial=0)), 1e-3)
            largest = max(largest, float(np.nanmax(np.abs(a - b), initial=0)) / scale)
    return largest


def row_of(program: str, distribution: str, python: str, reports: Path) -> dict[str, Any]:
    """The row of a program: the version of its package, both runs, their difference."""
    ask = f"from importlib.metadata import version; print(version({distribution!r}))"
    version = subprocess.check_output([python, "-c", ask], text=True).strip()
    theirs, mine = (run(python, program, on_bindax, reports) for on_bindax in (False, True))
    row: dict[str, Any] = {"package": distribution, "version": version}
    row["date"] = date.today().isoformat()
    row["jax"] = {key: theirs[key] for key in KEYS if key in theirs}
    row["here"] = {key: mine[key] for key in KEYS if key in mine}
    for side, found in (("jax", theirs), ("here", mine)):
        if "error" in found:
            row[side]["error"] = _first_line(found["error"])
    if "values" in mine:
        stored = json.loads((PROGRAMS / "answers.json").read_text(encoding="utf-8"))
        reference = theirs.get("values", stored.get(program, {}).get("values", []))
        row["difference"] = difference(mine["values"], reference)
    return row


def _first_line(text: str) -> str:
    line = text.splitlines()[0].replace("|", "\\|").replace("`", "'")
    return re.sub(r"/\S*/site-packages/", "", line)[:240]


def verdict(row: dict[str, Any]) -> str:
    """The difference of a row as the page has it, or why there is none."""
    found = row.get("difference")
    if isinstance(found, float):
        return "none" if found == 0 else f"{found:.0e}"
    return str(found or "stops")


def agrees(row: dict[str, Any]) -> bool:
    """Tell whether a program gives what it gives on JAX, or that to rounding."""
    found = row.get("difference")
    return isinstance(found, float) and found < 1e-3


def page(rows: dict[str, Any]) -> str:
    """The text of the page."""
    good = sum(map(agrees, rows.values()))
    packages = sorted(rows.items(), key=lambda item: (item[1]["package"], item[0]))
    lines = [
        INTRODUCTION,
        f"Of {len(rows)} programs, {good} give what they give on JAX, or that to rounding.",
        "",
        "| package | version | program | run on | difference | s here | with JAX | MB here | JAX |",
        "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for program, row in packages:
        here, jax = row["here"], row["jax"]
        lines.append(
            f"| {row['package']} | {row['version']} | `{program}` | {row['date']} | "
            f"{verdict(row)} | {here['seconds']} | {jax['seconds']} | "
            f"{here.get('megabytes', '')} | {jax.get('megabytes', '')} |"
        )
    stopped = [
        f"- `{program}` {where}: `{row[side]['error']}`"
        for program, row in packages
        for side, where in (("here", "on bindax"), ("jax", "on this JAX"))
        if "error" in row[side]
    ]
    lines += ["", "## What stops programs", "", *(stopped or ["Nothing."])]
    notes = [f"- `{program}`: {NOTES[program]}." for program in NOTES if program in rows]
    lines += ["", "## Notes", "", *notes]
    lines += jax_long_programs.section(jax_long_programs.stored())
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the programs that are named, or all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--reports", type=Path, default=Path("build/jax_package_programs"))
    parser.add_argument("--kept", action="store_true", help="run long programs on bindax alone")
    parser.add_argument("--page", action="store_true", help="write the page, and run nothing")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    rows: dict[str, Any] = (
        json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    )
    known = distributions()
    everything = (*known, *jax_long_programs.PACKAGES)
    for program in () if options.page else options.programs or everything:
        if program in jax_long_programs.PACKAGES:
            kept = jax_long_programs.stored().get(program) if options.kept else None
            long = {program: jax_long_programs.row_of(program, options.python, kept)}
            jax_long_programs.store(jax_long_programs.stored() | long)
            print(program, long[program], flush=True)
            continue
        rows[program] = row_of(program, known[program], options.python, options.reports)
        RESULTS.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(program, rows[program], flush=True)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
