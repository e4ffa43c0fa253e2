"""Write docs/conformance.md: which rules of which primitives were checked, and what was not.

Every package of the workspace is checked by the conformance suite, each check on a fixed number of
cases that the seed chooses, so that the page is the same wherever it is made.

    uv run python scripts/conformance_matrix.py          # write the page
    uv run python scripts/conformance_matrix.py --check  # fail when the page would change
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from lax_pages import OUTSIDE

from bindax_core.extend import Primitive, rule_kinds
from bindax_diagnosis import installed_plugins
from bindax_testing import RuleReport, RuleResult, check_pytree
from bindax_testing._runner import check_subject
from bindax_testing._subjects import Subject, subject_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
SEED, CASES, TIME_LIMIT = 0, 3, 60.0
KINDS = ("impl", "abstract_eval", "jvp", "vmap", "transpose", "lowering.stablehlo")

INTRODUCTION = f"""# Conformance of the standard packages

What `bindax check` says about every package of this repository: each check of each primitive, on
up to {CASES} cases that seed {SEED} chooses among the package's samples; `bindax check NAME` runs
as many more as its budget allows. This page is written by `scripts/conformance_matrix.py`.

A cell says how many checks of a rule passed (✓), failed (✗), are known to fail (e), or say nothing
about the primitive (–); the numbers in brackets are the reasons below the table. A rule is *absent*
where the package says why there is none, and *derived* where the kernel makes it from others. It is
**not checked** where the check that compares what it computes with other numbers says nothing.
Checks of a lowering that is absent ran on what the rule for physical arrays gives compilers.
Rules for partial evaluation take part in the checks of `jvp`: linearization, reverse mode, and both
of them under `jit`.
"""


class Reasons:
    """Footnotes of a table, numbered as they come."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, text: str) -> str:
        """The number of a reason in brackets."""
        plain = re.sub(r" \(\d+ of \d+ cases\)", "", text).replace("\n", " ")
        if plain not in self.texts:
            self.texts.append(plain)
        return f"[{self.texts.index(plain) + 1}]"

    def __str__(self) -> str:
        return "\n".join(f"{i}. {text}" for i, text in enumerate(self.texts, 1))


def subjects() -> Iterable[Subject]:
    """Every plugin of the workspace."""
    # Packages that are made of functions alone offer nothing to check.
    installed = {record["plugin"] for record in installed_plugins()}
    for directory in sorted((ROOT / "plugins").iterdir()):
        if directory.name in installed:
            yield subject_of(directory.name)


def cell(primitive: Primitive, kind: str, results: list[RuleResult], reasons: Reasons) -> str:
    """Return the cell that counts the results of the checks of one rule."""
    rule = rule_kinds[kind].rule_of(primitive)
    absent = rule is not None and rule.reason is not None
    parts = []
    for status, mark in (("passed", "✓"), ("failed", "✗"), ("expected failure", "e")):
        count = sum(result.status == status for result in results)
        if count:
            parts.append(f"{mark} {count}")
    parts += [
        f"**not checked** {reasons.mark(result.reason)}"
        for result in results
        if result.status == "not checked"
    ]
    silent = [result for result in results if result.status in ("skipped", "not run")]
    if silent and not absent:
        marks = dict.fromkeys(reasons.mark(result.reason) for result in silent)
        parts.append(f"– {len(silent)} {', '.join(marks)}")
    if rule is not None and rule.reason is not None:
        parts.append(f"absent {reasons.mark(rule.reason)}")
    if rule is not None and rule.derived is not None:
        parts.append("derived")
    return ", ".join(parts)


def examples() -> dict[str, Any]:
    """Containers to check, by the plugin that brings them."""
    import xarray as xr

    from bindax_containers import register_attrs, static

    @register_attrs
    @attrs.frozen
    class Layer:
        weights: Any
        name: str = static(default="layer")

    rows = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("row", "column"), name="rows")
    return {
        "containers": [Layer((np.ones(3), 1.0)), rows, rows.variable, xr.Dataset({"rows": rows})]
    }


def containers(name: str) -> str:
    """Return the results of the pytree checks of a plugin's containers."""
    given = examples().get(name, ())
    lines = []
    for one in given:
        report = check_pytree({"k": one})
        report.raise_if_failed()
        counts = f"{len(report.of_status('passed'))} checks passed"
        lines.append(f"- `{type(one).__name__}`: {counts}")
    return "".join(f"{line}\n" for line in lines)


def section(found: Subject, report: RuleReport) -> str:
    """The part of the page on one package; empty where it has nothing that can be checked."""
    title = f"## {found.name}\n"
    if not found.primitives:
        listed = containers(found.name)
        text = "It declares no primitive and brings no rule for one. Its containers:"
        return f"{title}\n{text}\n\n{listed}" if listed else ""
    reasons = Reasons()
    rows = []
    for primitive in found.primitives:
        own = [result for result in report.results if result.primitive == primitive.name]
        kinds = found.kinds[primitive]
        cells = [
            cell(primitive, kind, [r for r in own if r.kind == kind], reasons)
            if kinds is None or kind in kinds
            else ""
            for kind in KINDS
        ]
        if any(cells):
            rows.append(f"| `{primitive.name}` | {' | '.join(cells)} |")
    head = ["primitive", *(f"`{kind}`" for kind in KINDS)]
    table = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows]
    others = len(found.primitives) - len(rows)
    left = f" For {others} it has rules of kinds that have no columns." if others else ""
    text = f"{title}\n{total(found, report)}{left}\n\n" + "\n".join(table) + "\n"
    return f"{text}\n{reasons}\n" if reasons.texts else text


def total(found: Subject, report: RuleReport) -> str:
    """The numbers of a package in a sentence."""
    counts = report.counts
    named = [("passed", "passed"), ("failed", "failed"), ("expected failure", "known to fail")]
    parts = [f"{counts[status]} {text}" for status, text in named if counts[status]]
    parts.append(f"{counts['skipped'] + counts['not run']} that say nothing")
    if counts["not checked"]:
        parts.append(f"{counts['not checked']} not checked")
    return (
        f"{len(found.primitives)} primitives, {len(report.results)} checks: {', '.join(parts)}; "
        f"{counts['cases run']} cases run."
    )


def page() -> str:
    """The whole page.

    Raises:
        SystemExit: when a check fails; the page shows what passes.
    """
    parts = [INTRODUCTION]
    for found in subjects():
        report = check_subject(
            found, budget=math.inf, seed=SEED, time_limit=TIME_LIMIT, cases=CASES
        )
        if not report.ok:
            print(report)
            raise SystemExit(f"{found.name} does not pass; docs/conformance.md is as it was.")
        print(report.summary)
        rules = [one for one in report.results if one.check not in OUTSIDE]
        report = attrs.evolve(report, results=rules)
        parts.append(section(found, report))
    return "\n".join(part for part in parts if part)


def main() -> None:
    """Write the page, or compare with it."""
    text = page()
    if "--check" in sys.argv[1:]:
        if text != PAGE.read_text(encoding="utf-8"):
            raise SystemExit("docs/conformance.md is not what the packages do; write it again.")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
