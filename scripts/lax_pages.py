"""The pages of `lax/` on the site: what each array primitive takes, and which of its rules ran.

Everything on the pages comes from the package: signatures and docstrings, the definitions of the
primitives, the dtypes that abstract evaluation accepts, the formulas of the derivatives, and the
record of a conformance run, `scripts/lax_conformance.json`.

    uv run python scripts/lax_pages.py --conformance 600  # run the suite for so long, and record it
"""

from __future__ import annotations

import argparse
import functools
import inspect
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import bindax
import bindax.lax.linalg
import bindax_lax_basic.formulas
import bindax_lax_basic.plugin
import bindax_linalg.formulas
import bindax_linalg.plugin
import bindax_special.formulas
import bindax_special.plugin
from bindax import lax
from bindax_core.extend import Primitive, ShapedArray, vmap
from bindax_lax_basic.dtypes import canonical_dtype
from bindax_testing import Sample, check_plugin

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "scripts/lax_conformance.json"
RULES = ("impl", "abstract_eval", "jvp", "vmap", "transpose", "lowering.stablehlo")
KINDS = {
    "bool": ("bool",),
    "int": ("int4", "int8", "int16", "int32", "int64"),
    "uint": ("uint4", "uint8", "uint16", "uint32", "uint64"),
    "float": ("float16", "bfloat16", "float32", "float64"),
    "8-bit floats": ("float8_e4m3fn", "float8_e5m2"),
    "complex": ("complex64", "complex128"),
}


class Application(NamedTuple):
    """One equation of a sample's program."""

    operands: tuple[ShapedArray, ...]
    params: Mapping[str, Any]


# ------------------------------------------------------------------------------- what there is


PACKAGES = ("lax_basic", "linalg", "special")
PACKAGE_NAMES = {f"bindax_{package}" for package in PACKAGES}
PLUGINS = bindax_lax_basic.plugin, bindax_linalg.plugin, bindax_special.plugin
DERIVATIVES = {
    **bindax_lax_basic.formulas.DERIVATIVES,
    **bindax_linalg.formulas.DERIVATIVES,
    **bindax_special.formulas.DERIVATIVES,
}
TOGETHER = {"take": "gather_and_scatter_add"}
"""Modules without primitives, and the family on whose page their functions are."""


def declared() -> dict[str, str]:
    """Return the module of each primitive that the packages declare."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        path = ROOT / f"plugins/{package}/pyproject.toml"
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        places: dict[str, str] = project["entry-points"]["bindax.v1.primitives"]
        found |= {name: place.partition(":")[0] for name, place in places.items()}
    return found


def family_of(module: str) -> str:
    """Return the page that a module is on: linear algebra has one, a folder has one for each file.

    >>> family_of("bindax_lax_basic.elementwise.arithmetic"), family_of("bindax_linalg.lu")
    ('arithmetic', 'linalg')
    """
    package, *rest = module.split(".")
    family = "linalg" if package == "bindax_linalg" else rest[min(1, len(rest) - 1)]
    return TOGETHER.get(family, family)


def families() -> dict[str, list[str]]:
    """Return the primitives of each page."""
    found: dict[str, list[str]] = {}
    for name, module in declared().items():
        found.setdefault(family_of(module), []).append(name)
    return {family: sorted(found[family]) for family in sorted(found)}


def front_end(family: str) -> ModuleType:
    """Return the module that users import the functions of a page from."""
    return lax.linalg if family == "linalg" else lax


@functools.cache
def applications() -> dict[str, list[Application]]:
    """Return how the samples apply each primitive."""
    found: dict[str, list[Application]] = {}
    for sample in itertools.chain.from_iterable(plugin.bindax_samples() for plugin in PLUGINS):
        if not isinstance(sample, Sample):
            continue
        closed = bindax.make_jaxpr(sample.call)(*[operand.aval for operand in sample.operands])
        for eqn in closed.jaxpr.eqns:
            operands = tuple(x.aval for x in eqn.invars)
            found.setdefault(eqn.primitive.name, []).append(Application(operands, eqn.params))
    return found


def functions(family: str) -> dict[str, FunctionType]:
    """Return the public functions that a family's modules define, by name."""
    module = front_end(family)
    offered = {name: getattr(module, name) for name in sorted(module.__all__)}
    return {
        name: value
        for name, value in offered.items()
        if isinstance(value, FunctionType)
        and value.__module__.partition(".")[0] in PACKAGE_NAMES
        and family_of(inspect.unwrap(value).__module__) == family
    }


def accepts(primitive: Primitive, uses: Iterable[Application], dtype: str) -> bool:
    """Tell whether a primitive has a type for operands of a dtype, in place of the sampled ones."""
    for use in uses:
        if not use.operands:
            continue
        first = use.operands[0].dtype
        operands = [
            ShapedArray(x.shape, canonical_dtype(dtype)) if x.dtype == first else x
            for x in use.operands
        ]
        try:
            bindax.make_jaxpr(lambda *xs, use=use: primitive.bind(*xs, **use.params))(*operands)
        except (TypeError, ValueError):
            continue
        return True
    return False


# ------------------------------------------------------------------------------------- a page


def signature(name: str, function: FunctionType) -> str:
    """Return how a function is called, without annotations.

    >>> signature("round", lax.round)
    'round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO)'
    """
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
    ]
    # The representation of an enum shows its number, too.
    return name + re.sub(r"<([\w.]+): [^>]*>", r"\1", str(inspect.Signature(parameters)))


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    columns = list(columns)
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def paragraph(text: str) -> str:
    """Return the first paragraph of a docstring, in one line."""
    first = inspect.cleandoc(text).partition("\n\n")[0]
    return " ".join(first.split()).replace("``", "`")


def examples(function: FunctionType) -> list[str]:
    """Return the examples in a function's docstring."""
    lines = inspect.cleandoc(function.__doc__ or "").splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(">>>")]
    kept: list[str] = []
    for line in lines[starts[0] :] if starts else []:
        if not line.strip():
            break
        kept.append(line)
    return kept


def imports(family: str) -> list[str]:
    """Return what the examples of a page need."""
    module = front_end(family)
    lines = [line for f in functions(family).values() for line in examples(f)]
    code = "\n".join(line for line in lines if line.startswith((">>>", "...")))
    # Neither attributes nor the names of arguments.
    words = set(re.findall(r"(?<![\w.])\w+(?!\w|=)", code))
    used = sorted(words & set(module.__all__))
    used = used or [f"{name}_p" for name in families()[family]]
    name = module.__name__
    return [">>> import numpy as np", f">>> from {name} import {', '.join(used)}"]


def function_lines(family: str) -> Iterator[str]:
    """Yield signature, purpose and example of each function."""
    prefix = "lax.linalg" if family == "linalg" else "lax"
    for name, function in functions(family).items():
        yield f"### `{prefix}.{signature(name, function)}`\n"
        yield paragraph(function.__doc__ or "") + "\n"
        shown = examples(function)
        if shown:
            yield "\n".join(["```python", *shown, "```\n"])


def dtype_lines(names: Iterable[str]) -> Iterator[str]:
    """Yield the table of dtypes: what is accepted, and in bold what samples ran."""
    rows = []
    for name in names:
        uses = applications().get(name, [])
        ran = {use.operands[0].dtype.name for use in uses if use.operands}
        primitive = bindax.find_primitive(name)
        row = [f"`{name}`"]
        for kind in KINDS.values():
            cells = [
                f"**{short(one)}**" if one in ran else short(one)
                for one in kind
                if one in ran or accepts(primitive, uses, one)
            ]
            row.append(" ".join(cells))
        rows.append(row)
    yield from table(("first operand", *KINDS), rows)


def short(dtype: str) -> str:
    """Return what tells a dtype from others of its kind.

    >>> short("int32"), short("bfloat16"), short("float8_e5m2")
    ('32', 'b16', 'e5m2')
    """
    if dtype == "bool":
        return "✓"
    if "_" in dtype:
        return dtype.rpartition("_")[2]
    return dtype.replace("bfloat", "b").lstrip("uintfloacmpex")


def rule_lines(names: Iterable[str], record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of rules and checks, and the reasons for what there is not."""
    rows = []
    reasons: dict[str, dict[str, list[str]]] = {}
    for name in names:
        vmap.find(bindax.find_primitive(name))  # what is derived shows after its first use
        rules = {rule["kind"]: rule for rule in bindax.rule_coverage(name)["rules"]}
        row = [f"`{name}`"]
        for kind in RULES:
            rule = rules.get(kind, {"status": "missing", "why": ""})
            row.append({"present": "✓", "absent": "—"}.get(rule["status"], rule["status"]))
            if rule["status"] == "absent":
                reasons.setdefault(f"no `{kind}`, {rule['why']}", {})[name] = []
        checks = record["primitives"].get(name, {})
        row += [f"{len(passed(checks))} of {len(checks)}", str(sum(passed(checks).values()))]
        rows.append(row)
        for check, reason in checks.items():
            # That a rule is absent is said already.
            if isinstance(reason, str) and not reason.startswith("skipped: it has no "):
                reasons.setdefault(reason, {}).setdefault(name, []).append(check)
    yield from table(("", *RULES, "checks passed", "cases run"), rows)
    yield ""
    for reason, where in sorted(reasons.items()):
        listed = (f"`{name}`{named(checks)}" for name, checks in where.items())
        yield f"- {reason}: {', '.join(listed)}"


def passed(checks: Mapping[str, Any]) -> dict[str, int]:
    """Return how many cases each check ran on, of those that passed."""
    return {name: cases for name, cases in checks.items() if isinstance(cases, int)}


def named(checks: list[str]) -> str:
    """Return the names of checks in parentheses, if any."""
    return f" ({', '.join(checks)})" if checks else ""


def page(family: str, names: list[str], record: Mapping[str, Any]) -> str:
    """Return the text of one page."""
    modules = sorted({declared()[name] for name in names})
    about = modules[0] if len(modules) == 1 else modules[0].rpartition(".")[0]
    lines = [
        f"# {family.replace('_', ' ').capitalize()}\n",
        paragraph(sys.modules[about].__doc__ or "") + "\n",
        f"Source: {', '.join(f'`{module}`' for module in modules)}. [All pages](README.md)\n",
        "\n".join(["```python", *imports(family), "```\n"]),
        *function_lines(family),
        "## Dtypes\n\nAccepted as the first operand; bold is what the samples ran.\n",
        *dtype_lines(names),
        "\n## Derivatives\n\n[How to read them](README.md#derivatives)\n",
        *table(("", "derivative"), ([f"`{n}`", DERIVATIVES.get(n, "—")] for n in names)),
        "\n## Rules\n",
        *rule_lines(names, record),
    ]
    return "\n".join(lines) + "\n"


def index(record: Mapping[str, Any]) -> str:
    """Return the text of the first page."""
    rows = []
    for family, names in families().items():
        checks = [record["primitives"].get(name, {}) for name in names]
        ran, planned = sum(len(passed(one)) for one in checks), sum(map(len, checks))
        title = f"[{family.replace('_', ' ')}]({family}.md)"
        rows.append([title, " ".join(f"`{name}`" for name in names), f"{ran} of {planned}"])
    notation = inspect.cleandoc(bindax_lax_basic.formulas.__doc__ or "")
    origin = (
        "These pages are written by `scripts/lax_pages.py` from the definitions of the primitives, "
        "their samples, and the record of a run of the conformance suite "
        f"([record](../../scripts/lax_conformance.json): seed {record['seed']}, "
        f"compiler {record['compiler']}).\n"
    )
    example = ">>> from bindax import lax\n>>> print(lax.add(1.0, 2.0))\n3.0"
    lines = [
        "# The operations of `bindax.lax`\n",
        origin,
        f"```python\n{example}\n```\n",
        *table(("family", "primitives", "checks passed"), rows),
        "\n## Derivatives\n",
        notation.partition("\n\n")[2].replace("``", "`"),
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    written = {f"{family}.md": page(family, names, record) for family, names in families().items()}
    return {"README.md": index(record), **written}


# --------------------------------------------------------------------------------- the program


def run_conformance(budget: float) -> None:
    """Run the conformance suite and write what ran."""
    reports = [check_plugin(package, budget=budget / len(PACKAGES)) for package in PACKAGES]
    report = reports[0]
    found: dict[str, dict[str, int | str]] = {}
    for result in itertools.chain.from_iterable(one.results for one in reports):
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
