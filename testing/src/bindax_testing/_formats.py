"""Reports for machines and browsers: JUnit XML, and a page with a matrix to look at."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bindax_testing._outcomes import EXPECTED, FAILED, NOT_RUN, PASSED, SKIPPED, RuleResult

if TYPE_CHECKING:
    from bindax_testing._results import RuleReport

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: RuleReport) -> str:
    """The report as JUnit XML, one test case for each check of each primitive."""
    suite = ET.Element(
        "testsuite",
        name=f"bindax conformance of {report.plugin}",
        tests=str(len(report.results)),
        failures=str(len(report.failures)),
        errors="0",
        skipped=str(len(report.of_status(SKIPPED, EXPECTED, NOT_RUN))),
        time=f"{report.seconds:.3f}",
    )
    for result in report.results:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"{report.plugin}.{result.primitive or 'samples'}",
            name=result.check,
            time=f"{result.seconds:.3f}",
        )
        if result.status == FAILED:
            message = _clean(f"{result.rule}: {result.reason}".strip(": "))
            ET.SubElement(case, "failure", message=message).text = _clean(str(result))
        elif result.status != PASSED:
            reason = _clean(f"{result.status}: {result.reason}")
            ET.SubElement(case, "skipped", message=reason)
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)


_MARKS = {PASSED: "✓", FAILED: "✗", SKIPPED: "–", EXPECTED: "e", NOT_RUN: "?"}
_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem; color: #222; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.scroll { overflow: auto; max-height: 85vh; border-bottom: 1px solid #ddd; }
table { border-collapse: separate; border-spacing: 0; }
th, td { padding: 2px 7px; border: solid #ddd; border-width: 0 1px 1px 0; text-align: center; }
thead th { position: sticky; top: 0; vertical-align: bottom; background: #fff; z-index: 1; }
tbody th { position: sticky; left: 0; background: #fff; }
tbody tr:hover th { background: #eef; }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: normal; }
tbody th { text-align: left; font-weight: normal; font-family: ui-monospace, monospace; }
.passed { background: #d8f0dc; } .failed { background: #f6b9b4; font-weight: bold; }
.skipped { color: #888; } .expected { background: #fbeaba; } .not { background: #eee; }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto; white-space: pre-wrap; }
"""


def page(report: RuleReport) -> str:
    """The report as an HTML page: a matrix of primitives and checks, then the failures."""
    matrix: dict[str, dict[str, RuleResult]] = {}
    for r in report.results:
        matrix.setdefault(r.primitive, {})[r.check] = r
    anchors = {id(r): f"failure-{number}" for number, r in enumerate(report.failures, 1)}
    checks = list(dict.fromkeys(r.check for r in report.results if ":" not in r.check))
    head = "".join(f"<th><span>{html.escape(check)}</span></th>" for check in checks)
    rows = "".join(
        f"<tr><th>{html.escape(name or '(samples)')}</th>"
        + "".join(_cell(results.get(check), anchors) for check in checks)
        + "</tr>\n"
        for name, results in sorted(matrix.items())
    )
    legend = ", ".join(
        f'<span class="{_class(status)}">{mark} {status}</span>' for status, mark in _MARKS.items()
    )
    failures = "".join(
        f'<h2 id="{anchors[id(r)]}">{html.escape(f"{r.primitive}: {r.check}")}</h2>'
        f"<pre>{html.escape(str(r))}</pre>\n"
        for r in report.failures
    )
    title = html.escape(f"Conformance of {report.plugin}")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n"
        f"<p>{html.escape(report.summary)}</p>\n<p>{legend}. Hold the pointer over a cell for the "
        f"number of cases and the reason.</p>\n"
        f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n{failures}</body></html>\n"
    )


def _cell(result: RuleResult | None, anchors: Mapping[int, str]) -> str:
    if result is None:
        return "<td></td>"
    about = f"{result.status}, {result.ran} of {result.planned} cases"
    title = html.escape(f"{about}. {result.reason}".strip(), quote=True)
    mark = _MARKS[result.status]
    if result.status == FAILED:
        mark = f'<a href="#{anchors[id(result)]}">{mark}</a>'
    return f'<td class="{_class(result.status)}" title="{title}">{mark}</td>'


def _class(status: str) -> str:
    return status.partition(" ")[0]
