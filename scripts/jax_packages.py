"""Run the tests of packages written for JAX, with JAX and on bindax, and write the table of both.

``python scripts/jax_packages.py --sources FOLDER [--python PYTHON] [PACKAGE ...]`` runs, one after
the other, the files that ``jax_package_samples.py`` names: of installed packages, or of source
distributions that were unpacked into FOLDER. Where the distribution has no tests, those of the
package's repository go into its folder ``tests`` (``REPOSITORIES``). Each run is a process of
PYTHON, an environment with the packages, JAX and bindax in it. Results are kept in
``docs/jax_packages.json``, so that packages can be run one by one; ``docs/jax_packages.md`` is
written from it. Reports of pytest are kept in ``--reports``; one of JAX that is there already is
used again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from jax_package_samples import KNOWN, REPOSITORIES, SAMPLES, SIZES

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/jax_packages.md"
RESULTS = ROOT / "docs/jax_packages.json"

INTRODUCTION = (
    "Written by `scripts/jax_packages.py` from runs: samples of the packages' own tests, "
    "unchanged, with JAX and on bindax by [the alias](jax_programs.md). Of the tests that pass "
    "with JAX, this many pass on bindax; the times are of the tests that pass on both, taken "
    "beside other work, so that they show no more than the order of magnitude. "
    "[A program for each package](jax_package_programs.md) is of more packages."
)

ELSEWHERE = (
    "The distributions of these packages have no tests: theirs are those of their repositories, "
    "unchanged, put into the folder `tests` of the source distribution."
)

PROGRAMS = (
    "These rows count programs of ours, in `tests/jax_packages`, from what the documentation of "
    "the packages offers; one passes that has the numbers of JAX."
)

SAMPLED = (
    "Where a number of tests is given, those run whose names have the lowest checksums; what is "
    "skipped, or fails with JAX, does not count."
)


def folder(package: str, sources: Path, site: Path) -> tuple[Path, list[str]]:
    """The folder in which a package's sample runs, and the paths of its tests."""
    place, names = SAMPLES[package]
    if place.startswith("ours:"):
        return ROOT / "tests" / place[5:], names.split()
    base = site / place
    if place.startswith("sdist:"):
        name, _, rest = place[6:].partition("/")
        found = sorted(sources.glob(f"{name}-*"))
        if not found:
            raise SystemExit(f"the source distribution of {package} is not in {sources}.")
        base = found[-1] / rest
    paths = []
    for name in names.split() or ["."]:
        candidates = [base / f"{name}_test.py", base / f"{name}.py", base / name]
        paths.append(str(next((path for path in candidates if path.exists()), base / name)))
    return base, paths


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep of the tests that pytest collected as many as ``SAMPLE_SIZE`` says, by their names.

    The script is a plugin of pytest in the runs that it starts. The order is that of a checksum,
    so that the same tests run with JAX and on bindax.
    """
    size = int(os.environ.get("SAMPLE_SIZE", 0))
    if size:
        kept = sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode()))[:size]
        items[:] = [item for item in items if item in kept]


def run(
    python: str, where: Path, paths: list[str], report: Path, on_bindax: bool
) -> dict[str, Any]:
    """Run the sample once; gives for each test whether it passed, and the time."""
    if report.exists() and not on_bindax:
        return outcomes(report)
    with tempfile.TemporaryDirectory() as scratch:
        alias = ["-m", "bindax.jax"] if on_bindax else []
        options = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "--timeout=120", "--tb=line"]
        options += ["--continue-on-collection-errors", f"--junitxml={report}"]
        options += ["-o", "python_files=*_test.py test_*.py", "--rootdir", str(where)]
        options += ["-p", Path(__file__).stem]
        command = ["nice", python, *alias, "-m", "pytest", *options, *paths]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
        environment["PYTHONPATH"] = str(Path(__file__).parent)
        done = subprocess.run(
            command, cwd=scratch, env=environment, capture_output=True, text=True, check=False
        )
        if not report.exists():
            print(done.stdout[-2000:], done.stderr[-2000:])
            return {"tests": {}, "reasons": {}, "times": {}}
        return outcomes(report)


def run_ours(
    python: str, where: Path, names: list[str], report: Path, on_bindax: bool
) -> dict[str, Any]:
    """Run programs of ours once; on bindax a case passes that has the stored numbers of JAX."""
    if on_bindax or not report.exists():
        alias = ["-m", "bindax.jax"] if on_bindax else []
        program = [str(ROOT / "tests/jax_programs/run.py"), str(where), str(report), *names]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
        command = ["nice", python, "-W", "ignore", *alias, *program]
        subprocess.run(command, env=environment, check=True)
    found = json.loads(report.read_text(encoding="utf-8"))
    answers = json.loads((where / "answers.json").read_text(encoding="utf-8"))
    reasons = {name: [case["error"]] for name, case in found.items() if "error" in case}
    if on_bindax:
        for name, case in found.items():
            if name not in reasons and not _agree(case["values"], answers[name]["values"]):
                reasons[name] = ["other numbers than JAX"]
    return {
        "tests": {name: name not in reasons for name in found},
        "reasons": reasons,
        "times": {name: case["seconds"] for name, case in found.items()},
    }


def _agree(mine: list[Any], reference: list[Any]) -> bool:
    if len(mine) != len(reference):
        return False
    return all(
        x == y
        if isinstance(y, str)
        else np.shape(x) == np.shape(y) and np.allclose(x, y, rtol=1e-3, atol=1e-4)
        for x, y in zip(mine, reference, strict=True)
    )


def outcomes(report: Path) -> dict[str, Any]:
    """The outcome of each test by name, and the first line of what failed."""
    tests, reasons, times = {}, {}, {}
    for case in ET.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        problem = case.find("failure")
        if problem is None:
            problem = case.find("error")
        if case.find("skipped") is not None:
            continue
        tests[name] = problem is None
        times[name] = float(case.get("time") or 0)
        if problem is not None:
            reasons[name] = (problem.get("message") or "").splitlines()[:1]
    return {"tests": tests, "reasons": reasons, "times": times}


def compare(with_jax: dict[str, Any], on_bindax: dict[str, Any]) -> dict[str, Any]:
    """The row of a package: of what passes with JAX, how much passes here, how long, why not."""
    passed = [name for name, good in with_jax["tests"].items() if good]
    both = [name for name in passed if on_bindax["tests"].get(name)]
    failed = [name for name in passed if name not in both]
    reasons = Counter(_reason(on_bindax["reasons"].get(name, ["not run"])) for name in failed)
    return {
        "passed_with_jax": len(passed),
        "passed_here": len(both),
        "seconds_with_jax": round(sum(with_jax["times"][name] for name in both), 1),
        "seconds_here": round(sum(on_bindax["times"][name] for name in both), 1),
        "reasons": [f"{count} × {text}" for text, count in reasons.most_common(5)],
    }


def _reason(lines: list[str]) -> str:
    text = (lines or ["?"])[0].replace("|", "\\|").replace("`", "'")
    text = re.sub(r"/\S*/site-packages/", "", text)  # where the packages are on this machine
    return re.sub(r"0x[0-9a-f]+", "0x…", text).strip()[:140]


def page(rows: dict[str, Any]) -> str:
    """The text of the page."""
    columns = "package, version, run on, passed here, with JAX, share, seconds here, with JAX"
    lines = [
        "# Packages written for JAX",
        "",
        INTRODUCTION,
        "",
        f"| {columns.replace(', ', ' | ')} |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in sorted(rows.items()):
        share = 100 * row["passed_here"] / max(row["passed_with_jax"], 1)
        lines.append(
            f"| {name} | {row['version']} | {row.get('date', '')} | {row['passed_here']} | "
            f"{row['passed_with_jax']} | {share:.0f} % | {row['seconds_here']} | "
            f"{row['seconds_with_jax']} |"
        )
    lines += ["", "## Reasons for the rest", ""]
    for name, row in sorted(rows.items()):
        if row["reasons"]:
            known = [KNOWN[name], ""] if name in KNOWN else []
            reasons = [f"- `{reason}`" for reason in row["reasons"]]
            lines += [f"**{name}**", "", *known, *reasons, ""]
    lines += [
        "## Tests from repositories",
        "",
        ELSEWHERE,
        "",
        *[f"- {name}: {place}" for name, place in REPOSITORIES.items() if name in rows],
        "",
        "## Programs of ours",
        "",
        PROGRAMS,
        "",
        *[f"- {name}" for name in sorted(rows) if SAMPLES[name][0].startswith("ours:")],
        "",
    ]
    lines += ["## The samples", "", SAMPLED, ""]
    lines += ["| package | folder | files | tests |", "| --- | --- | --- | ---: |"]
    for name in sorted(rows):
        place, files = SAMPLES[name]
        which = ", ".join(files.split()) or "all"
        lines.append(f"| {name} | `{place}` | {which} | {SIZES.get(name, 'all')} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the packages that are named, or all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--sources", type=Path, default=Path("sources"))
    parser.add_argument("--reports", type=Path, default=Path("build/jax_packages"))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    rows: dict[str, Any] = (
        json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    )
    answer = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.check_output([options.python, "-c", answer], text=True).strip())
    for package in options.packages or SAMPLES:
        where, paths = folder(package, options.sources.resolve(), site)
        reports = options.reports.resolve()
        reports.mkdir(parents=True, exist_ok=True)
        once = run_ours if SAMPLES[package][0].startswith("ours:") else run
        what = (options.python, where, paths)
        os.environ["SAMPLE_SIZE"] = str(SIZES.get(package, 0))
        mine = once(*what, reports / f"{package}.bindax.xml", True)
        theirs = once(*what, reports / f"{package}.jax.xml", False)
        row = compare(theirs, mine)
        distribution = re.split(r"[.\s]", package)[0]
        ask = f"from importlib.metadata import version; print(version({distribution!r}))"
        row["version"] = subprocess.check_output([options.python, "-c", ask], text=True).strip()
        row["date"] = date.today().isoformat()
        rows[package] = row
        RESULTS.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        PAGE.write_text(page(rows), encoding="utf-8")
        print(package, row, flush=True)


if __name__ == "__main__":
    main()
