"""Write docs/reference/backends.md: how exactly each backend computes each primitive.

uv run python scripts/backend_pages.py                    # write the page from the records
uv run python scripts/backend_pages.py --check            # fail when the page would change
uv run python scripts/backend_pages.py --measure numpy xla    # measure, record, write the page
uv run python scripts/backend_pages.py --measure xla --only stack    # add primitives to a record
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bindax_testing import BackendReport, RuleResult, check_backend

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/backends.md"
RECORDS = ROOT / "docs/reference/backends"
SEED, PROGRAMS, BUDGET = 0, 300, 6000.0
TIME_LIMIT = 300.0  # of a check, whatever else the machine does
COLUMNS: dict[str, tuple[str, ...]] = {
    "integers": ("bool", "int", "uint", "key"),
    "float16": ("float16",),
    "bfloat16": ("bfloat16",),
    "float32": ("float32",),
    "float64": ("float64",),
    "complex64": ("complex64",),
    "complex128": ("complex128",),
}
"""The columns of a table, each with how the names of its dtypes begin."""
OTHERS = ("no fallback", "special values", "values")

Matrix = Mapping[str, Mapping[str, Mapping[str, Any]]]


# ------------------------------------------------------------------------------------ records


def measure(name: str, budget: float = BUDGET) -> dict[str, Any]:
    """Check a backend, and return what is recorded of it.

    Raises:
        SystemExit: when a check fails; the record shows what passes.
    """
    report = check_backend(name, seed=SEED, programs=PROGRAMS, budget=budget, time_limit=TIME_LIMIT)
    if report.failures:
        raise SystemExit(f"{report}\n{name} does not pass; its record is as it was.")
    print(report.summary)
    return record_of(report)


def extended(name: str, primitives: Collection[str], budget: float = BUDGET) -> dict[str, Any]:
    """Check a backend on some primitives, and return its record with these added.

    Raises:
        SystemExit: when a check fails, or the primitives were measured before.
    """
    record: dict[str, Any] = next(one for one in records() if one["backend"] == name)
    known = sorted(set(primitives) & set(record["matrix"]))
    if known:
        raise SystemExit(f"{name} has rows of {', '.join(known)}; measure all of it again.")
    report = check_backend(
        name,
        primitives=primitives,
        seed=SEED,
        programs=0,
        budget=budget,
        time_limit=TIME_LIMIT,
    )
    if report.failures:
        raise SystemExit(f"{report}\n{name} does not pass; its record is as it was.")
    print(report.summary)
    more = record_of(report)
    rows = {**record["matrix"], **{one: more["matrix"][one] for one in primitives}}
    cases = [a + b for a, b in zip(record["cases"], more["cases"], strict=True)]
    return {**record, "cases": cases, "matrix": {one: rows[one] for one in sorted(rows)}}


def record_of(report: BackendReport) -> dict[str, Any]:
    """Return what a report says that does not depend on the day."""
    data, counts = report.as_dict(), report.counts
    others = {
        f"{one.primitive}: {one.check}": _outcome(one.status, one.reason) + _left(one)
        for one in report.results
        if one.primitive not in report.primitives
    }
    return {
        "backend": report.plugin,
        "seed": report.seed,
        "cases": [counts["cases run"], counts["cases planned"] - counts["cases inapplicable"]],
        "allowed units": data["allowed units"],
        "unsupported": data["unsupported"],
        "differences": data["differences"],
        "checks": others,
        "matrix": {name: _cells(data["matrix"][name]) for name in sorted(data["matrix"])},
    }


def _left(one: RuleResult) -> str:
    """The number of cases that ran, where the budget was not enough for all."""
    planned = one.planned - one.inapplicable
    return f", {one.ran} of {planned} cases" if 0 < one.ran < planned else ""


def _cells(row: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    kept = ("kind", "units", "conditioned", "allowed", "at")
    return {
        check: {
            "status": _outcome(cell["status"], cell.get("reason", "")),
            "cases": cell["cases"],
            **{key: _short(cell[key]) for key in kept if cell.get(key) not in (None, "")},
        }
        for check, cell in row.items()
    }


def _short(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _outcome(status: str, reason: str) -> str:
    """The status of a check, with the reason where it did not run."""
    plain = re.sub(r" \(\d+ of \d+ cases\)", "", reason).replace("\n", " ")
    return status if status == "passed" else f"{status}: {plain}"


def write_record(record: Mapping[str, Any]) -> None:
    """Write a record, a line for each primitive."""
    RECORDS.mkdir(exist_ok=True)
    head = {key: one for key, one in record.items() if key != "matrix"}
    rows = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in record["matrix"].items()]
    text = json.dumps(head)[:-1] + ', "matrix": {\n' + ",\n".join(rows) + "\n}}\n"
    (RECORDS / f"{record['backend']}.json").write_text(text, encoding="utf-8")


def records() -> list[dict[str, Any]]:
    """Return the records of all backends."""
    return [json.loads(one.read_text(encoding="utf-8")) for one in sorted(RECORDS.glob("*.json"))]


# --------------------------------------------------------------------------------------- page


INTRODUCTION = """# Backends

What `bindax check --backend NAME` measured of each backend: every primitive in every dtype of its
samples, compiled and compared with evaluation by its `impl` rule, and generated programs.
`scripts/backend_pages.py` writes this page from records that are [JSON](#records).

A number is the greatest distance from the reference that was seen, in units in the last place of
the result. Where **≈** stands before it, the function magnifies rounding there, as near a zero:
the distance is within what the allowed units in the last place of the operands change. An empty
cell is a dtype that no sample has, and – one that did not run, for the reason in the notes.
"""


MEANING = """
Integers, keys, and what operations move or choose are exact. Elementwise results are measured
element by element; sums, products of matrices and decompositions in the unit of the greatest
element of a result. Complex results may be twice as far.
"""


def page() -> str:
    """Return the text of the page."""
    found = records()
    parts = [INTRODUCTION, "## Allowed units\n", *allowed(found[0]["allowed units"])]
    for record in found:
        parts += section(record)
    parts += ["## Records\n"]
    parts += [f"- [`{one['backend']}`](backends/{one['backend']}.json)" for one in found]
    return "\n".join(parts) + "\n"


def allowed(units: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the table of units, and what its rows mean."""
    sizes = {"8": "float64", "4": "float32", "2": "float16, bfloat16", "1": "8-bit floats"}
    rows = [[kind, *(f"{of[size]:g}" for size in sizes)] for kind, of in units.items()]
    yield from table(("kind", *sizes.values()), rows)
    yield MEANING


def section(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the part of the page about one backend."""
    name, matrix = record["backend"], record["matrix"]
    ran, planned = record["cases"]
    yield f"## `{name}`\n\n{ran} of {planned} cases ran; seed {record['seed']}.\n"
    yield "| check | outcome |\n|---|---|"
    for check, outcome in record["checks"].items():
        yield f"| {check.removeprefix(f'{name}: ')} | {outcome} |"
    yield ""
    stated = record["unsupported"]
    if stated:
        yield f"Not supported: {', '.join(f'`{one}`' for one in sorted(stated))}.\n"
    differences = record.get("differences", {})
    if differences:
        rows = [[f"`{one}`", how] for one, how in differences.items()]
        yield from table(("stated difference", "how"), rows)
        yield ""
    reasons: list[str] = []
    yield from table(
        ("primitive", *COLUMNS, "notes"),
        [
            [f"`{one}`", *row(_unstated(matrix[one], one, differences), reasons)]
            for one in sorted(matrix)
        ],
    )
    yield ""
    yield from (f"{i}. {reason}" for i, reason in enumerate(reasons, 1))
    yield ""


def _unstated(
    cells: Mapping[str, Mapping[str, Any]], name: str, differences: Collection[str]
) -> dict[str, Mapping[str, Any]]:
    """The cells of a primitive, of which those are not measured that are stated to differ."""
    stated = {dtype for dtype in cells if f"{name} {dtype}" in differences}
    other = {"status": "passed but for the stated difference"}
    return {dtype: other if dtype in stated else cell for dtype, cell in cells.items()}


def row(cells: Mapping[str, Mapping[str, Any]], reasons: list[str]) -> Iterator[str]:
    """Yield the cells of a primitive, and the numbers of the reasons for what did not run."""
    for starts in COLUMNS.values():
        own = [one for name, one in cells.items() if name not in OTHERS and _is(name, starts)]
        yield worst(own)
    notes = []
    for check, cell in cells.items():
        if cell["status"] == "passed":
            continue
        if cell["status"] not in reasons:
            reasons.append(cell["status"])
        mark = f"[{reasons.index(cell['status']) + 1}]"
        notes.append(f"{check} {mark}")
    yield ", ".join(notes)


def _is(dtype: str, starts: Iterable[str]) -> bool:
    return any(dtype == one or re.match(rf"{one}[\d<_]", dtype) is not None for one in starts)


def worst(cells: Iterable[Mapping[str, Any]]) -> str:
    """The greatest distance of some cells."""
    known = [one for one in cells if "units" in one]
    if not known:
        return "–" if list(cells) else ""
    far = max(known, key=lambda one: one["units"])
    near = far["units"] <= far["allowed"]
    return f"{far['units']:.3g}" if near else f"≈ {far['units']:.3g}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"|{' --- |' * len(names)}"
    yield from (f"| {' | '.join(one)} |" for one in rows)


def main() -> None:
    """Measure backends, and write the page or compare with it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measure", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--only", nargs="+", metavar="PRIMITIVE", help="primitives to add")
    parser.add_argument("--budget", type=float, default=BUDGET, metavar="SECONDS")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    for name in given.measure:
        if given.only:
            write_record(extended(name, given.only, given.budget))
        else:
            write_record(measure(name, given.budget))
    text = page()
    if not given.check:
        PAGE.write_text(text, encoding="utf-8")
    elif text != PAGE.read_text(encoding="utf-8"):
        raise SystemExit("docs/reference/backends.md is not what the records say; write it again.")


if __name__ == "__main__":
    main()
