"""Programs in idiomatic JAX run on bindax by the alias, with the numbers that JAX has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent / "jax_programs"
ANSWERS = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(request, tmp_path_factory):
    """Results of the programs of this run, from one process with the alias."""
    out = tmp_path_factory.mktemp("programs") / "found.json"
    tests = [item for item in request.session.items if item.path == request.path]
    names = {item.callspec.params["name"] for item in tests if hasattr(item, "callspec")}
    command = [sys.executable, "-m", "bindax.jax", HERE / "run.py", HERE, out, *sorted(names)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "BINDAX_"))}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_program_has_the_numbers_of_jax(found, name):
    assert "values" in found[name], found[name]
    for mine, reference in zip(found[name]["values"], ANSWERS[name]["values"], strict=True):
        if isinstance(reference, str):
            assert mine == reference
        else:
            np.testing.assert_allclose(mine, reference, rtol=2e-4, atol=2e-5)


def test_every_program_has_an_answer():
    helpers = {"run", "make_references"}
    programs = {path.stem for path in HERE.glob("*.py")} - helpers
    assert programs == set(ANSWERS)
    assert len(programs) == 12
