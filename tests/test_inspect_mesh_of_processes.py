"""Bytes that processes hold and exchange, beside those predicted for an abstract mesh."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bindax
from bindax import P
from bindax.sharding import AbstractMesh

from .several_devices import _divided_programs as programs

pytest.importorskip("jaxlib")
pytestmark = pytest.mark.nightly

HERE = Path(__file__).parent
LIMIT = 240  # seconds; a machine with much to do is slow to start processes


def launched(count: int, *command: str) -> list[subprocess.Popen[str]]:
    """Start processes that find each other, as the example does."""
    file = HERE.parent / "examples" / "distributed" / "launch.py"
    spec = importlib.util.spec_from_file_location("launch_of_processes", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    found: list[subprocess.Popen[str]] = module.launch(count, list(command), **pipes)
    return found


def answers(processes: list[subprocess.Popen[str]]) -> list[Any]:
    found = []
    try:
        for process in processes:
            output, errors = process.communicate(timeout=LIMIT)
            assert process.returncode == 0, errors
            line = next(one for one in output.splitlines() if one.startswith("found "))
            found.append(json.loads(line.removeprefix("found ")))
    finally:
        for process in processes:
            process.kill()
    return found


@pytest.mark.parametrize(("count", "way"), [(2, "model"), (4, "gathered"), (8, "data")])
def test_bytes_of_processes(count: int, way: str) -> None:
    mesh = AbstractMesh((count // 2, 2), ("data", "model"))
    specs = programs.SPECS[way]
    step = programs.step_on(mesh, specs)
    report = bindax.inspect_mesh(step, mesh, specs, P("data"))(*programs.arguments())
    predicted: Counter[str] = Counter()
    for one in report.exchanges:
        kind = "all-reduce" if one.kind == "reduce-scatter" else one.kind  # sliced on the CPU
        predicted[kind] += int(one.bytes)
    program = HERE / "several_devices" / "_divided_process.py"
    for found in answers(launched(count, str(program), way)):
        assert found["exchanged"] == predicted
        assert found["taken"] == report.memory.arguments == found["plan"]["argument_size_in_bytes"]
        assert found["left"] == report.memory.results
        assert found["plan"]["alias_size_in_bytes"] == report.memory.reused
