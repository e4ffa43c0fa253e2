"""`bindax inspect FILE.py:NAME` prints the table of a function, and writes its page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bindax
from bindax._cli import main

PROGRAM = """
import bindax.numpy as jnp

def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))

w = jnp.ones((8, 8))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the program's directory is added
    monkeypatch.setitem(sys.modules, "inspected_program", None)
    file = tmp_path / "inspected_program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    return f"{file}:loss"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["inspect", *arguments])


def test_table_of_a_gradient(program: str) -> None:
    result = run(program, "--args", "w, w", "--grad")
    assert result.exit_code == 0, result.output
    assert "inspected_program.py:5" in result.output
    assert "return jnp.sum(jnp.tanh(x @ w))" in result.output


def test_page_and_trace(program: str, tmp_path: Path) -> None:
    if bindax.default_backend() == "numpy":
        pytest.skip("programs are profiled by the compiler")
    html, trace = tmp_path / "report.html", tmp_path / "trace.json"
    result = run(program, "--args", "w, w", "--html", str(html), "--trace", str(trace))
    assert result.exit_code == 0, result.output
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]


def test_json(program: str) -> None:
    found = json.loads(run(program, "--args", "w, w", "--json", "--runs", "0").output)
    assert found["operations"] == 2 * 8**3 + 64 + 63
    assert [line["number"] for line in found["lines"]] == [5]


ON_MESH = ("--args", "w, w", "--mesh", "data=4,model=2")


def test_report_on_a_mesh(program: str) -> None:
    result = run(program, *ON_MESH, "--specs", "P(None, 'model'), P('data')", "--grad")
    assert result.exit_code == 0, result.output
    assert "loss on 8 devices of the kind h100: data 4 x model 2" in result.output
    assert "inspected_program.py:5" in result.output
    found = json.loads(run(program, *ON_MESH, "--specs", "P(), P('data')", "--json").output)
    assert found["mesh"] == {"data": 4, "model": 2}
    assert found["arguments"][1]["bytes"] == 8 * 8 * 4 / 4


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--mesh", "data"), "--mesh takes axes with their sizes, such as data=64,model=8, but it"),
        (("--mesh", "data=0"), "but it is 'data=0'."),
        (("--mesh", "data=2,data=2"), "AbstractMesh: axis_names=('data', 'data') has 'data' twice"),
        (("--specs", "P()"), "--specs says something of a mesh, which --mesh must give."),
        (("--device", "h100"), "--device says something of a mesh, which --mesh must give."),
        (("--mesh", "data=2", "--specs", "P("), "the specs 'P(' cannot be evaluated: SyntaxError"),
        (("--mesh", "data=2", "--specs", "P('rows')"), "axis: rows of spec=P('rows') is not found"),
        (("--mesh", "data=3", "--specs", "P('data')"), "its axis 0 of size 8 cannot be divided"),
        (
            ("--mesh", "data=2", "--device", "abacus"),
            "device='abacus' is no kind of device that is",
        ),
        (("--mesh", "data=2", "--html", "page.html"), "--html and --trace are about programs that"),
    ],
)
def test_a_mesh_that_is_refused(program: str, arguments: tuple[str, ...], text: str) -> None:
    result = run(program, "--args", "w, w", *arguments)
    assert result.exit_code == 2, result.output
    assert text in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--args", "w, nothing"], "name 'nothing' is not defined. Write them as in a call"),
        (["--args", "w"], "takes (w, x), but --args gives 1: missing a required argument: 'x'."),
        (["--args", "w, w", "--html", "/nowhere/page.html"], "there is no directory"),
    ],
)
def test_what_cannot_be_run(program: str, arguments: list[str], text: str) -> None:
    result = run(program, *arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())


def test_a_function_that_is_not_there(program: str) -> None:
    result = run(program.replace(":loss", ":lost"))
    assert result.exit_code == 2
    assert "has no function 'lost'; it has loss." in " ".join(result.output.split())


def test_an_error_of_the_function_is_its_own(program: str) -> None:
    result = run(program, "--args", "w, w[0, 0]")
    assert result.exit_code != 0
    assert result.exception is not None
