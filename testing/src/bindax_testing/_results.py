"""Results of checks: outcomes, their report, and its forms for machines and browsers."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"
UNCHECKED = "not checked"
EXPECTED = "expected failure"
NOT_RUN = "not run"
STATUSES = (PASSED, FAILED, SKIPPED, UNCHECKED, EXPECTED, NOT_RUN)


@attrs.define
class RuleResult:
    """The outcome of one check of one primitive.

    Attributes:
        primitive: its name.
        kind: the rule kind that the check is for or, when it failed, the one to blame.
        check: the name of the check.
        status: passed, failed, skipped, expected failure, or not run; not checked where a rule
            is there, and the check that compares its values said nothing about any case.
        planned: how many cases there are.
        ran: how many of them the check ran on.
        inapplicable: how many it says nothing about.
        seconds: how long that took.
        reason: what is wrong, or why it was skipped or did not run.
        rule: the rule to blame, with distribution, file and line.
        follows: the failure that this one is a consequence of, if any.
        sample: the label of the sample it failed on.
        case: the primitive, types and parameters it failed on.
        test: a test that repeats the failure, to paste into a file.
        traceback: where the error came up, when a rule raised one.
        stated: whether the samples say themselves why the check is left out.
    """

    primitive: str
    kind: str
    check: str
    status: str
    planned: int = 0
    ran: int = 0
    inapplicable: int = 0
    seconds: float = 0.0
    reason: str = ""
    rule: str = ""
    follows: str = ""
    sample: str = ""
    case: str = ""
    test: str = ""
    traceback: str = ""
    stated: bool = False

    @property
    def is_wrong(self) -> bool:
        """True if the check failed, or if no sample let it compare and none says why."""
        return self.status == FAILED or (self.status == UNCHECKED and not self.stated)

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.primitive}, {self.check}"]
        if self.rule:
            lines[0] += f": {self.rule}"
        lines += [f"  {line}" for line in self.reason.splitlines()]
        if self.follows:
            lines.append(f"  a consequence of: {self.follows}")
        if self.case:
            lines.append(f"  on {self.case}, from the sample {self.sample or '(given)'}")
        lines += [f"  | {line}" for line in self.traceback.splitlines()]
        if self.test:
            lines.append("  to repeat it:")
            lines += [f"    {line}".rstrip() for line in self.test.splitlines()]
        return "\n".join(lines)


class ConformanceError(AssertionError):
    """Rules do not agree with each other; the message lists what failed.

    >>> issubclass(ConformanceError, AssertionError)
    True
    """


@attrs.frozen
class RuleReport:
    """The results of checking the rules of a plugin.

    Attributes:
        plugin: its name.
        seed: what the samples were drawn from.
        budget: the seconds that it could take.
        seconds: those that it took.
        compiler: the compiling backend that took part, or None.
        results: one for each check of each primitive.
    """

    plugin: str
    seed: int
    budget: float
    seconds: float
    compiler: str | None
    results: Sequence[RuleResult]

    def of_status(self, *statuses: str) -> list[RuleResult]:
        """The results with one of some statuses."""
        return [result for result in self.results if result.status in statuses]

    @property
    def failures(self) -> list[RuleResult]:
        """The failures; causes come before consequences."""
        return sorted(self.of_status(FAILED), key=lambda result: bool(result.follows))

    @property
    def unchecked(self) -> list[RuleResult]:
        """The rules whose values were compared with nothing, each with the reason."""
        return self.of_status(UNCHECKED)

    @property
    def ok(self) -> bool:
        """True if each check ran without a failure, or is stated to be out of reach."""
        silent = bool(self.results) and len(self.of_status(SKIPPED)) == len(self.results)
        wrong = any(one.is_wrong or one.status == NOT_RUN for one in self.results)
        return (bool(self.of_status(PASSED)) or silent) and not wrong

    @property
    def without_rules(self) -> bool:
        """True if the plugin has no rules."""
        none = all(r.status == SKIPPED and not r.primitive for r in self.results)
        return bool(self.results) and none

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of checks by status, and of cases planned and run."""
        found = {status: len(self.of_status(status)) for status in STATUSES}
        found["cases planned"] = sum(result.planned for result in self.results)
        found["cases run"] = sum(result.ran for result in self.results)
        found["cases inapplicable"] = sum(result.inapplicable for result in self.results)
        return found

    def raise_if_failed(self) -> None:
        """Raise unless all is well; for tests.

        Raises:
            ConformanceError: something failed, or nothing was checked.
        """
        if not self.ok:
            raise ConformanceError(str(self))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "ok": self.ok,
            "counts": self.counts,
            **attrs.asdict(self),
            "seconds": round(self.seconds, 3),
        }

    def as_junit(self) -> str:
        """JUnit XML, one test case for each check of each primitive."""
        return junit(self)

    def as_html(self) -> str:
        """A page with a matrix of primitives and checks to look at, and the failures."""
        return page(self)

    @property
    def summary(self) -> str:
        """One or two sentences: what was run, and what was left out."""
        if self.without_rules:
            reasons = "; ".join(dict.fromkeys(result.reason for result in self.results))
            return f"{self.plugin}: nothing to check: {reasons}"
        counts = self.counts
        parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
        total, ran = counts["cases planned"], counts["cases run"]
        concerned = total - counts["cases inapplicable"]
        text = (
            f"{self.plugin}: {len(self.results)} checks: {', '.join(parts) or 'none'}; "
            f"{self.seconds:.1f} s of {self.budget:g} s, seed {self.seed}, "
            f"compiler {self.compiler or 'none'}."
        )
        text += f" {ran} of {concerned} cases that the checks say something about were run"
        if ran < concerned:
            text += ", chosen by the seed; a greater budget runs more"
        text += "."
        return text

    def __str__(self) -> str:
        shown = [str(result) for result in (*self.failures, *self.unchecked)]
        return "\n".join([*shown, self.summary])


# ----------------------------------------------------------------------------- JUnit XML and HTML


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: RuleReport) -> str:
    """The report as JUnit XML, one test case for each check of each primitive."""
    suite = ET.Element(
        "testsuite",
        name=f"bindax conformance of {report.plugin}",
        tests=str(len(report.results)),
        failures=str(len(report.failures)),
        errors="0",
        skipped=str(len(report.of_status(SKIPPED, UNCHECKED, EXPECTED, NOT_RUN))),
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


_MARKS = {PASSED: "✓", FAILED: "✗", SKIPPED: "–", UNCHECKED: "!", EXPECTED: "e", NOT_RUN: "?"}
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


class CheckInterrupted(KeyboardInterrupt):
    """Checking was interrupted by Ctrl-C.

    Attributes:
        report: the results of the checks that ran before.

    >>> CheckInterrupted(RuleReport("ffi", 0, 60.0, 0.5, None, [])).report.plugin
    'ffi'
    """

    def __init__(self, report: RuleReport) -> None:
        super().__init__(report.summary)
        self.report = report
