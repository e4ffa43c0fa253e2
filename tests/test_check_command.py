"""`bindax check`: text, JSON, JUnit and a page, and exit codes."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bindax._cli import main
from bindax.extend import primitive, rules
from bindax_testing import array, check_rules, sample

PLUGIN = "control_flow"


def test_reports_for_people_and_machines(tmp_path: Path) -> None:
    page, xml = tmp_path / "matrix.html", tmp_path / "junit.xml"
    files = ["--html", str(page), "--junit", str(xml)]

    ran = CliRunner().invoke(main, ["check", PLUGIN, "--budget", "4", "--seed", "3", *files])

    assert ran.exit_code == 0, ran.output
    assert f"{PLUGIN}: " in ran.output
    assert "passed" in ran.output
    assert "seed 3" in ran.output
    assert "<th>cond</th>" in page.read_text(encoding="utf-8")
    cases = ET.parse(xml).getroot().findall("testsuite/testcase")
    assert {case.attrib["name"] for case in cases} >= {"jvp", "transpose", "vmap", "compiled"}


def test_json() -> None:
    ran = CliRunner().invoke(main, ["check", PLUGIN, "--budget", "2", "--json"])

    report = json.loads(ran.output)
    assert report["ok"]
    assert report["counts"]["failed"] == 0
    assert {result["primitive"] for result in report["results"]} >= {"cond", "scan", "while"}


def test_a_plugin_that_offers_nothing_of_the_kind_has_nothing_to_check() -> None:
    pytest.importorskip("bindax_numpy", reason="the package is not installed")
    ran = CliRunner().invoke(main, ["check", "numpy"])

    assert ran.exit_code == 0, ran.output
    assert "numpy: nothing to check: the plugin 'numpy' declares no primitive" in ran.output


def test_containers_are_checked() -> None:
    pytest.importorskip("bindax_containers", reason="the package is not installed")
    pytest.importorskip("xarray", reason="the library whose types are checked")
    ran = CliRunner().invoke(main, ["check", "containers", "--json"])

    report = json.loads(ran.output)
    passed = {r["primitive"] for r in report["results"] if r["status"] == "passed"}
    assert report["ok"]
    assert {name.rpartition(".")[2] for name in passed} == {"DataArray", "Dataset", "Variable"}


def test_nothing_run_is_a_failure() -> None:
    ran = CliRunner().invoke(main, ["check", PLUGIN, "--budget", "0"])

    assert ran.exit_code == 1
    assert "the budget was used up" in ran.output


@pytest.mark.parametrize("name", ["nothing-of-this-name"])
def test_unknown_plugin(name: str) -> None:
    ran = CliRunner().invoke(main, ["check", name])

    assert ran.exit_code == 2
    assert f"no plugin '{name}' is installed" in ran.output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["check", PLUGIN, "--budget", "-1"], "'--budget': -1.0 is not in the range x>=0"),
        (["check", PLUGIN, "--time-limit", "0"], "'--time-limit': 0.0 is not in the range x>0"),
        (["check", PLUGIN, "--html", "no/such/x.html"], "there is no directory no/such"),
        (["mutate", PLUGIN, "--count", "0"], "'--count': 0 is not in the range x>=1"),
        (["mutate", PLUGIN, "--seconds", "-2"], "'--seconds': -2.0 is not in the range x>0"),
    ],
)
def test_arguments_are_checked_before_anything_runs(arguments: list[str], text: str) -> None:
    ran = CliRunner().invoke(main, arguments)

    assert ran.exit_code == 2
    assert text in ran.output


def test_an_impl_that_others_contradict_is_suspected() -> None:
    pytest.importorskip("jaxlib")

    def tripled(ctx: Any, x: Any) -> Any:
        twice = ctx.op("stablehlo.add", [x, x])[0]
        return ctx.op("stablehlo.add", [twice, x])[0]

    def bind(x: Any) -> Any:
        return made.bind(x)

    made = primitive(
        "check.triple",
        rules.impl(lambda x: 3 * x[::-1] if x.ndim == 2 else 3 * x),
        rules.abstract_eval(lambda x: x),
        rules.jvp(lambda primals, tangents: (bind(*primals), bind(*tangents))),
        rules.vmap(lambda size, operands, dims: (bind(*operands), dims[0])),
        rules.transpose(lambda ct, x: [bind(ct)]),
        rules.lowering["stablehlo"](tripled),
    )
    report = check_rules(made, [sample(made, array((2, 2), "float64"))], budget=20.0)

    causes = [one for one in report.failures if not one.follows]
    assert {one.kind for one in causes} == {"impl"}
    assert "lowering.stablehlo and vmap both disagree with impl" in causes[0].reason


def test_without_the_conformance_suite_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "bindax_testing", None)
    ran = CliRunner().invoke(main, ["check", PLUGIN])
    assert ran.exit_code == 1
    assert (
        "bindax check needs the package bindax-testing: pip install bindax-testing." in ran.output
    )
