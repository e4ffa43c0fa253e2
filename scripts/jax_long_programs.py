"""Run long programs with JAX and on bindax, and compare what they print line by line.

``jax_package_programs.py`` runs them as it runs its short ones. A program runs in a folder of its
own; one that ends with the status 75 is started again there, as one that was killed. What it
prints with JAX is kept beside it, and lines are compared with that.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LONG = ROOT / "tests/jax_packages/long"
RESULTS = ROOT / "docs/jax_long_programs.json"
PACKAGES = {
    "brax_training": ("brax",),
    "keras_training": ("keras",),
    "netket_ising": ("netket",),
    "orbax_restart": ("orbax-checkpoint", "optax"),
    "penzai_treescope": ("penzai", "treescope"),
}
"""By program, the distributions that it is about."""
TOLERANCE = 1e-3
"""The relative difference up to which numbers are equal to rounding."""
SHOWN = 12
"""The number of lines of a program that the record keeps where they are different."""
AGAIN = 75
"""The status of a program that is to be started again."""
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")

INTRODUCTION = f"""\
## Long programs, line by line

Programs of ours that print many lines, as a training does, run once with JAX and once on bindax.
A line is equal, or equal to rounding: its text is the same, so are its whole numbers, and other
numbers differ by at most {TOLERANCE:g} of themselves or by one unit of the last digit printed. What
they print with JAX lies beside them, in `tests/jax_packages/long`. `orbax_restart` is killed in
the middle and started again; begun with JAX and continued on bindax, and the other way round, it
printed the same on 27 November 2026.
"""
REASONS: dict[str, str] = {
    "brax_training": (
        "The pendulum falls and swings on: from step 110 what is left of rounding grows, as it "
        "does in chaotic motion. The lines before are equal, so are those of policies and of "
        "training after, or equal to rounding."
    ),
    "penzai_treescope": (
        "Treescope names functions and dtypes by their public place if their module is one of "
        "JAX's; here it is one of bindax's. Shapes are of one class, whether `eval_shape` returns "
        "them or a program has them. NumPy takes the dtype of random keys, so that treescope shows "
        "NumPy's name of it."
    ),
}
"""By program, why lines are different."""


def kind(theirs: str, mine: str) -> str:
    """Tell whether a line is equal to another, equal to rounding, or different."""
    if theirs == mine:
        return "equal"
    texts = ["".join(NUMBER.sub("#", line).split()) for line in (theirs, mine)]
    numbers = zip(NUMBER.findall(theirs), NUMBER.findall(mine), strict=False)
    same = texts[0] == texts[1] and all(close(x, y) for x, y in numbers)
    return "rounding" if same else "different"


def close(theirs: str, mine: str) -> bool:
    """Tell whether two numbers, as they are printed, are equal to rounding."""
    if theirs == mine:
        return True
    if not re.search(r"[.e]", theirs + mine):
        return False
    x, y = float(theirs), float(mine)
    unit = min(last_digit(theirs), last_digit(mine))
    return abs(x - y) <= max(TOLERANCE * abs(x), 1.001 * unit)


def last_digit(number: str) -> float:
    """The value of one in the last digit of a printed number."""
    digits, _, power = number.partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def compared(theirs: str, mine: str) -> dict[str, Any]:
    """The number of lines of each kind, and the first ones that are different."""
    pairs = list(zip_longest(theirs.splitlines(), mine.splitlines(), fillvalue="(no such line)"))
    kinds = [kind(*pair) for pair in pairs]
    counts = Counter(kinds)
    other = [n for n, found in enumerate(kinds) if found == "different"]
    return {
        "lines": len(pairs),
        **{name: counts[name] for name in ("equal", "rounding", "different")},
        "shown": [{"line": n + 1, "jax": pairs[n][0], "here": pairs[n][1]} for n in other[:SHOWN]],
    }


def run(python: str, program: str, alias: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run a program until it ends; gives what it printed, its seconds and its peak of memory."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "BINDAX_"))}
    environment |= {"JAX_PLATFORMS": "cpu", "COLUMNS": "80"}
    command = [python, "-W", "ignore", *alias, str(LONG / f"{program}.py")]
    said, seconds, peak, status = "", 0.0, 0, AGAIN
    with tempfile.TemporaryDirectory() as folder:
        while status == AGAIN:
            started = time.perf_counter()
            with Path(folder, "out").open("wb") as out, Path(folder, "errors").open("wb") as errors:
                child = subprocess.Popen(
                    command, env=environment, cwd=folder, stdout=out, stderr=errors
                )
                _, ended, usage = os.wait4(child.pid, 0)
            child.returncode = status = os.waitstatus_to_exitcode(ended)
            said += Path(folder, "out").read_text(encoding="utf-8")
            seconds += time.perf_counter() - started
            peak = max(peak, usage.ru_maxrss >> 10)
        if status:
            lines = Path(folder, "errors").read_text(encoding="utf-8").strip().splitlines()
            said += f"ended with status {status}: {lines[-1] if lines else 'no message'}\n"
    return {"text": said, "seconds": round(seconds, 1), "megabytes": peak}


def printed(program: str) -> Path:
    """The file with what a program prints with JAX."""
    return LONG / f"{program}.txt"


def row_of(program: str, python: str, kept: dict[str, Any] | None = None) -> dict[str, Any]:
    """The row of a program: both runs, compared; what it prints with JAX is kept.

    Args:
        program: its name.
        python: the interpreter of an environment with the packages.
        kept: the row of an earlier run, whose run with JAX is taken in place of a new one.
    """
    ask = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
    names = PACKAGES[program]
    versions = subprocess.check_output([python, "-c", ask, *names], text=True).split()
    mine = run(python, program, ("-m", "bindax.jax"))
    if kept is None:
        theirs = run(python, program)
        printed(program).write_text(theirs.pop("text"), encoding="utf-8")
    else:
        theirs = kept["jax"]
    text = printed(program).read_text(encoding="utf-8")
    return {
        "packages": dict(zip(names, versions, strict=True)),
        "date": date.today().isoformat(),
        **compared(text, mine.pop("text")),
        "jax": theirs,
        "here": mine,
    }


def section(rows: dict[str, Any]) -> list[str]:
    """The lines of the page about long programs."""
    lines = [
        *("", INTRODUCTION),
        "| program | packages | run on | lines | equal | rounding | other | s | JAX | MB | JAX |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for program, row in sorted(rows.items()):
        packages = ", ".join(f"{name} {version}" for name, version in row["packages"].items())
        here, jax = row["here"], row["jax"]
        lines.append(
            f"| `{program}` | {packages} | {row['date']} | {row['lines']} | {row['equal']} | "
            f"{row['rounding']} | {row['different']} | {here['seconds']} | {jax['seconds']} | "
            f"{here['megabytes']} | {jax['megabytes']} |"
        )
    for program, row in sorted(rows.items()):
        if row["shown"]:
            lines += ["", f"`{program}`, lines that are different. {REASONS.get(program, '')}", ""]
            for at in row["shown"]:
                theirs, mine = where_they_part(at["jax"], at["here"])
                lines.append(f"- {at['line']}: `{theirs}`, on bindax `{mine}`")
    return lines


def where_they_part(theirs: str, mine: str, width: int = 60) -> tuple[str, str]:
    """The parts of two lines around their first difference."""
    both = enumerate(zip(theirs, mine, strict=False))
    first = next((n for n, (x, y) in both if x != y), min(len(theirs), len(mine)))
    start = max(first - width // 2, 0)
    return theirs[start : start + width].strip(), mine[start : start + width].strip()


def stored() -> dict[str, Any]:
    """The rows of the programs that ran."""
    rows: dict[str, Any] = (
        json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    )
    return rows


def store(rows: dict[str, Any]) -> None:
    """Keep the rows."""
    RESULTS.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
