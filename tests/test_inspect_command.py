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
