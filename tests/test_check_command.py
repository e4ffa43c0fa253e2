"""`bindax check`: text, JSON, JUnit and a page, and exit codes."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bindax._cli import main
from bindax.extend import primitive, rules
from bindax_testing import array, check_rules, sample

PLUGIN = "callbacks"


def test_reports_for_people_and_machines(tmp_path: Path) -> None:
    page, xml = tmp_path / "matrix.html", tmp_path / "junit.xml"
    files = ["--html", str(page), "--junit", str(xml)]

    ran = CliRunner().invoke(main, ["check", PLUGIN, "--seed", "3", *files])

    assert ran.exit_code == 0, ran.output
    assert f"{PLUGIN}: " in ran.output
    assert "passed" in ran.output
    assert "seed 3" in ran.output
    assert "<th>pure_callback</th>" in page.read_text(encoding="utf-8")
    cases = ET.parse(xml).getroot().findall("testsuite/testcase")
    assert {case.attrib["name"] for case in cases} >= {"jvp", "transpose", "vmap", "compiled"}


def test_json() -> None:
    ran = CliRunner().invoke(main, ["check", PLUGIN, "--json"])

    report = json.loads(ran.output)
    assert report["ok"]
    assert report["counts"]["failed"] == 0
    assert {result["primitive"] for result in report["results"]} >= {"pure_callback", "io_callback"}


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


PROGRAM = """
import numpy as np

def squared(x):
    return x * x

def in_place(x):
    x *= 2
    return x
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with functions, whose module is forgotten in the end."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = tmp_path / "program_of_user.py"
    file.write_text(PROGRAM, encoding="utf-8")
    yield file
    sys.modules.pop(file.stem, None)


def test_a_function_of_a_program(program: Path) -> None:
    arguments = ["--args", "np.array([1.0, 2.0])"]
    ran = CliRunner().invoke(main, ["check", f"{program}:in_place", *arguments])

    assert ran.exit_code == 1
    assert "failed: in_place, purity: in_place (" in ran.output
    assert "changes its operand 0 in place" in ran.output


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("program_of_user.py:cubed", "", "has no function 'cubed'; it has in_place, squared."),
        ("other.py:squared", "", "there is no file"),
        ("program_of_user.py:squared", "y", "cannot be evaluated: NameError: name 'y'"),
    ],
)
def test_a_function_that_cannot_be_called(
    program: Path, name: str, arguments: str, text: str
) -> None:
    ran = CliRunner().invoke(main, ["check", f"{program.parent}/{name}", "--args", arguments])

    assert ran.exit_code == 2
    assert text in " ".join(ran.output.split())


def test_a_backend_is_checked() -> None:
    ran = CliRunner().invoke(main, ["check", "--backend", "numpy", "--budget", "0.01", "--json"])

    report = json.loads(ran.output)
    assert ran.exit_code == 1
    assert (report["plugin"], report["budget"], report["ok"]) == ("numpy", 0.01, False)
    assert "allowed units" in report


@pytest.mark.parametrize("arguments", [[], [PLUGIN, "--backend", "numpy"]])
def test_one_thing_is_checked(arguments: list[str]) -> None:
    ran = CliRunner().invoke(main, ["check", *arguments])

    assert ran.exit_code == 2
    assert "Error: give a plugin, a function FILE.py:NAME, or --backend NAME." in ran.output


def test_a_backend_that_does_not_exist_is_named() -> None:
    ran = CliRunner().invoke(main, ["check", "--backend", "none"])

    assert ran.exit_code != 0
    assert "there is no backend named 'none'" in f"{ran.output}{ran.exception}"
