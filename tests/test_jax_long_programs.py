"""Long programs of packages for JAX: how their lines are compared, and what the record says."""

import json
import os
import runpy
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = runpy.run_path(str(ROOT / "scripts/jax_long_programs.py"))
PROGRAMS = sorted(SCRIPT["PACKAGES"])
ROWS = json.loads((ROOT / "docs/jax_long_programs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("theirs", "mine", "kind"),
    [
        ("epoch 3: loss 0.512", "epoch 3: loss 0.512", "equal"),
        ("epoch 3: loss 0.5120", "epoch 3: loss 0.5121", "rounding"),
        ("epoch 3: loss 0.512", "epoch 3: loss 0.514", "different"),
        ("epoch 3: loss 0.512", "epoch 4: loss 0.512", "different"),
        ("epoch 3: loss 0.512", "epoch 3: cost 0.512", "different"),
        ("σ²=8.4e+00", "σ²=8.3e+00", "rounding"),
        ("σ²=8.4e+00", "σ²=8.4e+01", "different"),
        ("[-1.  2.5]", "[-1.004  2.5  ]", "different"),
        ("[-1.     2.5   ]", "[-1.0004  2.5   ]", "rounding"),
        ("x nan", "x 1.0", "different"),
        ("float32(4,)", "float16(4,)", "different"),
    ],
)
def test_lines_are_compared_by_their_text_and_numbers(theirs, mine, kind):
    assert SCRIPT["kind"](theirs, mine) == kind


def test_lines_that_are_missing_are_different():
    found = SCRIPT["compared"]("a 1\nb 2\n", "a 1\n")
    assert (found["lines"], found["equal"], found["different"]) == (2, 1, 1)
    assert found["shown"] == [{"line": 2, "jax": "b 2", "here": "(no such line)"}]


def test_the_record_is_of_the_programs():
    assert PROGRAMS == sorted(ROWS) == sorted(path.stem for path in SCRIPT["LONG"].glob("*.py"))
    page = (ROOT / "docs/jax_package_programs.md").read_text(encoding="utf-8")
    assert page.endswith("\n".join(SCRIPT["section"](ROWS)) + "\n")
    for program, row in ROWS.items():
        assert row["lines"] == row["equal"] + row["rounding"] + row["different"]
        assert len(row["shown"]) == min(row["different"], SCRIPT["SHOWN"])
        text = SCRIPT["printed"](program).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= row["lines"]
        assert "ended with status" not in text


@pytest.mark.timeout(900)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_what_it_prints_with_jax(program):
    if not os.environ.get("BINDAX_NIGHTLY"):
        pytest.skip("runs with BINDAX_NIGHTLY=1 alone")
    try:
        installed = {name: version(name) for name in SCRIPT["PACKAGES"][program]}
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    if installed != ROWS[program]["packages"]:
        pytest.skip(f"what is kept is of {ROWS[program]['packages']}")
    found = SCRIPT["row_of"](program, sys.executable, ROWS[program])
    assert found["different"] <= ROWS[program]["different"], found["shown"]
