"""The pages of `lax/` on the site: the functions and primitives of each family of operations.

uv run python scripts/lax_pages.py --conformance 600  # run the suite for so long, and record it
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import re
import sys
from collections.abc import Iterator

import reference
import reference_pages
import reference_text
from primitive_facts import (
    DERIVATIVES,
    PACKAGES,
    RECORD,
    declared,
    dtype_lines,
    families,
    passed,
    record,
    rule_lines,
    table,
)
from reference import Entry

import bindax_lax_basic.formulas
from bindax_testing import check_plugin

OUTSIDE = {
    "text",
    "parameters in a pickle",
    "export",
    "symbolic dimensions",
    "sharded",
    "sharded on 8 devices",
    "divided",
}
"""Checks of what is made of a primitive outside of transformations; the pages tell of rules."""


def groups() -> dict[str, list[Entry]]:
    """Return the entries of each page: those of `bindax.lax` by family, and linear algebra."""
    return reference_pages.groups("bindax.lax") | {
        "linalg": reference.of_module("bindax.lax.linalg")
    }


def page(group: str, entries: list[Entry]) -> str:
    """Return the text of one page."""
    lines = [f"# {reference_pages.title_of('bindax.lax', group)}\n", *about(group)]
    file = f"lax/{group}.md"
    described = [entry for entry in entries if entry.kind != "primitive"]
    primitives = [entry for entry in entries if entry.kind == "primitive"]
    for entry in described:
        lines += reference_pages.entry_lines(entry, file, 2)
    if primitives:
        lines.append("## Primitives\n")
    for entry in primitives:
        lines += reference_pages.entry_lines(entry, file, 3)
    return "\n".join([*lines, *measured(families().get(group, []))]) + "\n"


def about(group: str) -> Iterator[str]:
    """Yield what a family of operations is about, and where the other ones are."""
    places = sorted({declared()[name] for name in families().get(group, [])})
    if places:
        place = places[0] if len(places) == 1 else places[0].rpartition(".")[0]
        yield reference_text.first_sentence(sys.modules[place].__doc__ or "") + "\n"
    module = "bindax.lax.linalg" if group == "linalg" else "bindax.lax"
    yield f"Part of `{module}`. [All operations](README.md)\n"


def measured(names: list[str]) -> Iterator[str]:
    """Yield the tables of what is known of primitives."""
    if not names:
        return
    yield "## Dtypes\n\nAccepted as the first operand; bold is what the samples ran.\n"
    yield from dtype_lines(names)
    yield "\n## Derivatives\n\n[How to read them](README.md#derivatives)\n"
    yield from table(
        ("primitive", "derivative"), ([f"`{n}`", DERIVATIVES.get(n, "—")] for n in names)
    )
    yield "\n## Rules\n"
    yield from rule_lines(names, record())


def index() -> str:
    """Return the text of the first page."""
    rows = list(index_rows())
    notation = inspect.cleandoc(bindax_lax_basic.formulas.__doc__ or "")
    ran = record()
    origin = (
        "Each page has the functions of a family, its primitives with their rules, and what the "
        f"conformance suite found in a recorded run: seed {ran['seed']}, compiler "
        f"{ran['compiler']}.\n"
    )
    example = ">>> from bindax import lax\n>>> print(lax.add(1.0, 2.0))\n3.0"
    lines = [
        "# `bindax.lax`\n",
        "The operations that programs are made of, as in `jax.lax`: no broadcasting, no promotion.",
        origin,
        f"```python\n{example}\n```\n",
        *table(("family", "names", "primitives", "checks passed"), rows),
        "\n## Derivatives\n",
        notation.partition("\n\n")[2].replace("``", "`"),
    ]
    return "\n".join(lines) + "\n"


def index_rows() -> Iterator[list[str]]:
    """Yield the row of each page in the table of the first one."""
    for group, entries in groups().items():
        title = reference_pages.title_of("bindax.lax", group)
        functions = (entry for entry in entries if entry.kind != "primitive")
        shown = " ".join(f"[`{e.name}`]({group}.md#{e.path})" for e in functions)
        names = families().get(group, [])
        checks = [record()["primitives"].get(name, {}) for name in names]
        ran, planned = sum(len(passed(one)) for one in checks), sum(map(len, checks))
        listed = " ".join(f"`{name}`" for name in names)
        yield [f"[{title}]({group}.md)", shown, listed, f"{ran} of {planned}" if planned else ""]


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    written = {f"{group}.md": page(group, entries) for group, entries in groups().items()}
    return {"README.md": index(), **written}


# --------------------------------------------------------------------------------- the program


def run_conformance(budget: float) -> None:
    """Run the conformance suite and write what ran."""
    reports = [check_plugin(package, budget=budget / len(PACKAGES)) for package in PACKAGES]
    report = reports[0]
    found: dict[str, dict[str, int | str]] = {}
    for result in itertools.chain.from_iterable(one.results for one in reports):
        if result.check in OUTSIDE:
            continue
        checks = found.setdefault(result.primitive, {})
        # How many cases a reason holds for depends on how long the suite ran.
        reason = re.sub(r" \(\d+ of \d+ cases\)", "", result.reason)
        checks[result.check] = (
            result.ran if result.status == "passed" else f"{result.status}: {reason}"
        )
    lines = (f"  {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    head = json.dumps({"seed": report.seed, "compiler": report.compiler})[:-1]
    text = head + ', "primitives": {\n' + ",\n".join(lines) + "\n}}\n"
    RECORD.write_text(text, encoding="utf-8")
    print(*reports, sep="\n")


def main() -> None:
    """Run the conformance suite and record what ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--conformance", type=float, metavar="SECONDS", required=True)
    run_conformance(parser.parse_args().conformance)


if __name__ == "__main__":
    main()
