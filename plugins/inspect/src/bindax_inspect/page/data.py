"""The data of a page: the program in tables of numbers and texts, for the script of the page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindax_core.errors import PluginError
from bindax_diagnosis import rule_coverage
from bindax_inspect.compiled.stablehlo import TextLine, stablehlo_lines
from bindax_inspect.memory.liveness import Value
from bindax_inspect.page.jaxpr_text import jaxpr_lines, operand_types, shown_params
from bindax_inspect.page.source import source_blocks
from bindax_inspect.report.table import compilations, summary

if TYPE_CHECKING:
    from bindax_inspect.program.equations import Program
    from bindax_inspect.report.report import Report

MOST_EQUATIONS = 6000
"""The equations up to which a page has all lines; those of larger programs are folded and cut."""
MOST_LINES = 40_000
LONGEST_LINE = 400
MOST_MOMENTS = 2000
MOST_VALUES = 200


class Texts:
    """Texts that occur often, each stored once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._known: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The position of a text, which is added where it is new."""
        if text not in self._known:
            self._known[text] = len(self.all)
            self.all.append(text)
        return self._known[text]


def page_data(report: Report) -> dict[str, Any]:
    """Return what a page shows, as JSON can hold it."""
    program = report.program
    texts = Texts()
    is_large = len(program.equations) > MOST_EQUATIONS
    panes = _panes(report)
    cuts = [_cut(name, lines) for name, lines in panes if len(lines) > MOST_LINES]
    notes = [*compilations(report), *(f"missing: {reason}" for reason in report.missing)]
    if is_large or cuts:
        folded = f"Inner parts are folded: the program has {len(program.equations):,} equations"
        notes.append("; ".join([folded, *cuts]) + ".")
    return {
        "name": program.name,
        "summary": summary(report),
        "notes": notes,
        "folded": bool(is_large or cuts),
        "equations": _equations(report, texts),
        "texts": texts.all,
        "lines": _lines(report),
        "source": source_blocks(program),
        "panes": [_pane(name, lines) for name, lines in panes],
        "rules": _rules(program),
        "memory": _memory(report),
    }


def _cut(name: str, lines: list[TextLine]) -> str:
    return f"{len(lines) - MOST_LINES:,} lines of the {name} program are left out"


def _panes(report: Report) -> list[tuple[str, list[TextLine]]]:
    values, compiled = report.shows_values, report.compiled
    panes = [("jaxpr", jaxpr_lines(report.program, values=values))]
    if compiled is not None:
        panes.append(("StableHLO", stablehlo_lines(compiled.stablehlo, values=values)))
        panes.append(("optimized", compiled.module.lines(values=values)))
    return panes


def _pane(name: str, lines: list[TextLine]) -> dict[str, Any]:
    lines = lines[:MOST_LINES]
    return {
        "name": name,
        "text": [_shortened(line.text) for line in lines],
        "equations": [list(line.equations) for line in lines],
        "folds": folds_of([line.text for line in lines]),
    }


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"


def folds_of(lines: list[str]) -> list[list[int]]:
    """Return the first and the last line of each part that can be folded.

    A part begins with a line that opens a brace, and ends before the next that is not deeper.

    >>> folds_of(["a {", "  b", "}", "c"])
    [[0, 2]]
    """
    found: list[list[int]] = []
    waiting: list[tuple[int, int]] = []
    for i, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        while waiting and waiting[-1][1] >= depth and not line.lstrip().startswith("}"):
            start, _ = waiting.pop()
            if i - 1 > start:
                found.append([start, i - 1])
        if line.lstrip().startswith("{ lambda") or line.endswith("{"):
            waiting.append((i, depth))
    found += [[start, len(lines) - 1] for start, _ in waiting if len(lines) - 1 > start]
    return sorted(found)


def _equations(report: Report, texts: Texts) -> list[list[Any]]:
    """For each equation its fields, in the order that the script of the page names them."""
    time, rows = report.time, []
    for one in report.program.equations:
        operands, results = operand_types(one)
        rows.append(
            [
                texts.number(one.eqn.primitive.name),
                texts.number(one.origin.line.file),
                one.origin.line.number,
                texts.number(one.origin.line.function),
                texts.number(one.origin.names),
                int(one.origin.backward),
                one.runs,
                one.cost.operations,
                one.cost.bytes or 0.0,
                int(one.cost.known),
                0.0 if time is None else time.by_equation.get(one.number, 0.0),
                texts.number(", ".join(operands)),
                texts.number(", ".join(results)),
                texts.number(shown_params(one.eqn.params, values=report.shows_values)),
                one.parents[:20],
            ]
        )
    return rows


def _lines(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "file": one.line.file,
            "line": one.line.number,
            "equations": one.equations,
            "seconds": [one.seconds.forward, one.seconds.backward],
            "operations": [one.operations.forward, one.operations.backward],
            "bytes": [one.bytes.forward, one.bytes.backward],
            "alive": [one.alive.forward, one.alive.backward],
        }
        for one in report.lines
    ]


def _rules(program: Program) -> dict[str, list[list[Any]]]:
    """For each primitive where it and its rules were declared, as far as they are loaded."""
    found: dict[str, list[list[Any]]] = {}
    for name in dict.fromkeys(one.eqn.primitive.name for one in program.equations):
        try:
            coverage = rule_coverage(name)
        except PluginError:  # a primitive that no plugin offers, made in the user's program
            continue
        kept = ("present", "derived")
        rules = [rule for rule in coverage["rules"] if rule["status"] in kept]
        found[name] = [_declared("primitive", coverage), *(_declared(r["kind"], r) for r in rules)]
    return found


def _declared(kind: str, record: dict[str, Any]) -> list[Any]:
    owner = f"{record['distribution']} {record['version']}" if record["distribution"] else ""
    return [kind, owner, _short(record["file"] or ""), record["line"] or 0]


def _short(file: str) -> str:
    """The path inside the package, without the directories of the machine."""
    parts = Path(file).parts
    start = max((i for i, part in enumerate(parts) if part in ("src", "site-packages")), default=-1)
    return "/".join(parts[start + 1 :]) if start >= 0 else Path(file).name


def _memory(report: Report) -> dict[str, Any]:
    memory = report.memory
    step = max(1, len(memory.moments) // MOST_MOMENTS)
    chunks = [memory.moments[i : i + step] for i in range(0, len(memory.moments), step)]
    highest = [max(chunk, key=lambda moment: moment.bytes) for chunk in chunks]
    return {
        "peak": memory.peak,
        "at": memory.at,
        "planned": memory.planned,
        "moments": [[moment.equation, moment.bytes] for moment in highest],
        "alive": _values(memory.alive),
        "kept": _values(memory.kept),
        "kept_bytes": memory.kept_bytes,
    }


def _values(values: Iterable[Value]) -> list[list[Any]]:
    return [[value.bytes, value.equation, value.type] for value in list(values)[:MOST_VALUES]]
