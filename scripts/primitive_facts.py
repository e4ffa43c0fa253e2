"""The facts of each array primitive: its dtypes, derivative, rules, and the checks that ran.

Everything comes from the package: the definitions of the primitives, the dtypes that abstract
evaluation accepts, the formulas of the derivatives, and the record of a run of the conformance
suite, `scripts/lax_conformance.json`.
"""

from __future__ import annotations

import functools
import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bindax
import bindax_lax_basic.formulas
import bindax_lax_basic.plugin
import bindax_linalg.formulas
import bindax_linalg.plugin
import bindax_special.formulas
import bindax_special.plugin
from bindax_core.extend import Primitive, ShapedArray, vmap
from bindax_lax_basic.dtypes import canonical_dtype
from bindax_testing import Sample

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


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    columns = list(columns)
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


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
    yield from table(("first operand of", *KINDS), rows)


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
    yield from table(("primitive", *RULES, "checks passed", "cases run"), rows)
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


@functools.cache
def record() -> dict[str, Any]:
    """Return the record of the conformance suite."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def fact_lines(name: str) -> Iterator[str]:
    """Yield the rules of one primitive, its derivative, and what the conformance suite measured."""
    vmap.find(bindax.find_primitive(name))  # what is derived shows after its first use
    rules = bindax.rule_coverage(name)["rules"]
    present = [f"`{rule['kind']}`" for rule in rules if rule["status"] == "present"]
    yield f"- Rules: {', '.join(present)}"
    for rule in rules:
        if rule["status"] == "absent":
            yield f"- No `{rule['kind']}`: {rule['why']}"
    if name in DERIVATIVES:
        yield f"- Derivative: {DERIVATIVES[name]}"
    checks = record()["primitives"].get(name)
    if checks:
        ran = passed(checks)
        yield f"- Conformance: {len(ran)} checks passed, on {sum(ran.values())} cases"
