"""A report has the program of a function, its costs, memory and time, and says what is missing."""

from __future__ import annotations

import io
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import bindax_lax_basic as lax
from bindax_core import ShapeDtypeStruct
from bindax_core.errors import BackendError
from bindax_core.extend import config
from bindax_inspect import inspect
from bindax_transforms import checkpoint, grad, jit, vmap

X = np.ones((4, 8), np.float32)
W = np.ones((8, 8), np.float32)


def layer(x: Any, w: Any) -> Any:
    return lax.tanh(lax.dot(x, w))


def loss(w: Any, x: Any) -> Any:
    for _ in range(3):
        x = layer(x, w)
    return lax.reduce_sum(x, axes=(0, 1))


def line_of(function: Callable[..., Any], offset: int) -> int:
    return function.__code__.co_firstlineno + offset


def test_report_has_the_jaxpr() -> None:
    report = inspect(grad(lax.sin))(np.float32(1.0))
    assert [eqn.primitive.name for eqn in report.jaxpr.eqns] == ["sin", "cos", "mul"]


@pytest.mark.parametrize("f", [jit(loss), jit(jit(loss)), loss], ids=["jit", "twice", "plain"])
def test_a_program_that_is_one_call_is_its_function(f: Callable[..., Any]) -> None:
    report = inspect(f)(W, X)
    names = [eqn.primitive.name for eqn in report.jaxpr.eqns]
    assert names == ["dot_general", "tanh"] * 3 + ["reduce_sum"]
    assert report.program.name == "loss"


def test_backward_equations_have_the_forward_line() -> None:
    report = inspect(grad(loss))(W, X)
    backward = [
        one.origin.line.number
        for one in report.program.equations
        if one.eqn.primitive.name == "dot_general" and one.origin.backward
    ]
    assert len(backward) == 5
    assert set(backward) == {line_of(layer, 1)}
    record = report.lines[0]
    assert record.line.number == line_of(layer, 1)
    assert record.operations.backward > record.operations.forward > 0


def test_what_is_no_function_is_an_error() -> None:
    not_a_function: Any = 3
    with pytest.raises(TypeError, match="fun of inspect must be a function, but got 3 of type int"):
        inspect(not_a_function)


def test_a_function_that_fails_gives_its_own_error() -> None:
    def wrong(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        inspect(wrong)(X)


def test_an_argument_that_is_no_array_is_an_error() -> None:
    with pytest.raises(TypeError, match="str"):
        inspect(lax.sin)("text")


def test_types_in_place_of_arrays() -> None:
    report = inspect(loss)(ShapeDtypeStruct((8, 8), np.float32), X)
    assert report.cost.operations == inspect(loss)(W, X).cost.operations


def test_an_empty_program() -> None:
    report = inspect(lambda: ())()
    assert report.cost.operations == report.memory.peak == 0
    assert "0 equations" in str(report)


def test_loops_count_their_runs() -> None:
    report = inspect(vmap(jit(lambda x: lax.sin(x))))(X)
    assert report.cost.operations == 32


@pytest.mark.usefixtures("compiled")
class TestWithCompiler:
    def test_compiled_forms(self) -> None:
        report = inspect(grad(loss))(W, X)
        assert "stablehlo.tanh" in str(report.stablehlo)
        assert "ENTRY" in str(report.optimized)
        assert report.missing == ()

    def test_each_equation_is_found_in_the_compiled_program(self) -> None:
        report = inspect(grad(loss))(W, X)
        assert report.compiled is not None
        found = {n for one in report.compiled.module.instructions() for n in one.equations}
        assert {one.number for one in report.program.equations if one.runs} <= found

    def test_time_is_attributed(self) -> None:
        report = inspect(grad(loss), runs=2)(np.ones((64, 64), np.float32), np.ones((64, 64)))
        time = report.time
        assert time is not None
        assert 0 < sum(time.by_equation.values()) <= time.busy
        assert time.attributed > 0.95
        assert sum(one.seconds.total for one in report.lines) == pytest.approx(
            time.busy - time.unattributed
        )

    def test_a_trace_names_lines(self, tmp_path: Path) -> None:
        inspect(grad(loss))(W, X).trace(tmp_path / "trace.json")
        recorded = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
        events = [event for event in recorded["traceEvents"] if event["ph"] == "X"]
        lines = {line for event in events for line in event["args"]["lines"]}
        assert f"{__file__}:{line_of(layer, 1)}" in lines
        assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in events)

    def test_a_trace_keeps_the_rules_of_trace_events(self, tmp_path: Path) -> None:
        inspect(grad(loss))(W, X).trace(tmp_path / "trace.json")
        check_trace(json.loads((tmp_path / "trace.json").read_text(encoding="utf-8")))

    def test_no_run_is_made_unless_wanted(self) -> None:
        report = inspect(loss, runs=0)(W, X)
        assert report.time is None
        assert report.missing == ("the time: it was not asked for (runs=0).",)
        with pytest.raises(BackendError, match=r"there is no trace to write\. Missing is the time"):
            report.trace("never.json")

    def test_a_program_with_the_same_text_keeps_its_own_numbers(self) -> None:
        jit(loss)(W, X)  # which is kept by its text
        report = inspect(jit(loss))(W, X)
        assert report.compiled is not None
        assert any(one.equations for one in report.compiled.module.instructions())


def check_trace(recorded: Any) -> None:
    """The rules of the trace event format, for an object with complete and metadata events."""
    assert recorded["displayTimeUnit"] in ("ms", "ns")
    named: dict[str, set[Any]] = {"process_name": set(), "thread_name": set()}
    spans: dict[Any, list[tuple[float, float]]] = {}
    for event in recorded["traceEvents"]:
        assert type(event["pid"]) is int
        assert event["ph"] in ("X", "M")
        if event["ph"] == "M":
            assert type(event["args"]["name"]) is str
            named[event["name"]].add((event["pid"], event.get("tid")))
            continue
        assert event.keys() == {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"}
        assert type(event["name"]) is str
        assert type(event["tid"]) is int
        assert 0 <= event["ts"] < math.inf
        assert 0 <= event["dur"] < math.inf
        thread = (event["pid"], event["tid"])
        spans.setdefault(thread, []).append((event["ts"], event["ts"] + event["dur"]))
    assert spans
    assert spans.keys() <= named["thread_name"]
    assert {(pid, None) for pid, _ in spans} == named["process_name"]
    for found in spans.values():  # the events of a thread are nested, or one after the other
        around: list[float] = []
        for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
            while around and around[-1] <= start + 1e-3:
                around.pop()
            assert all(end <= outer + 1e-3 for outer in around)
            around.append(end)


@pytest.mark.parametrize("change", [{"ph": "Q"}, {"ts": -1.0}, {"tid": 7}])
def test_the_check_of_traces_sees_mistakes(change: dict[str, Any]) -> None:
    event: dict[str, Any] = {
        "name": "dot",
        "cat": "",
        "ph": "X",
        "pid": 1,
        "tid": 0,
        "ts": 0.0,
        "dur": 2.0,
    }
    names = [
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "f"}},
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "main"}},
    ]
    event["args"] = {}
    check_trace({"displayTimeUnit": "ms", "traceEvents": [*names, event]})
    with pytest.raises(AssertionError):
        check_trace({"displayTimeUnit": "ms", "traceEvents": [*names, {**event, **change}]})
    overlapping = {**event, "ts": 1.0}
    with pytest.raises(AssertionError):
        check_trace({"displayTimeUnit": "ms", "traceEvents": [*names, event, overlapping]})


def test_without_a_compiler_the_rest_is_there(tmp_path: Path) -> None:
    with config.override(backend="numpy"):
        report = inspect(grad(loss))(W, X)
        assert (report.stablehlo, report.optimized, report.time) == (None, None, None)
        assert report.cost.compiler == {}
        assert report.cost.compiler_operations is None
        (missing,) = report.missing
        assert missing == (
            "the compiled program: the backend 'numpy' interprets programs, so there is no "
            "StableHLO, no optimized program and no profile. Install a compiler, as with "
            "bindax[xla]."
        )
        report.save(tmp_path / "report.html")
        assert f"missing: {missing}" in str(report).replace("\n", " ").replace("  ", " ")


def test_memory_of_a_checkpoint() -> None:
    kept = inspect(grad(loss))(W, X).memory.kept_bytes
    again = inspect(grad(checkpoint(loss)))(W, X).memory.kept_bytes
    assert kept > again == 0


def test_memory_by_hand() -> None:
    def f(x: Any) -> Any:
        y = lax.sin(x)
        return lax.add(lax.exp(y), y)

    memory = inspect(f)(X).memory
    assert memory.peak == 4 * X.nbytes
    assert [moment.bytes // X.nbytes for moment in memory.moments] == [2, 3, 4]
    assert [value.equation for value in memory.alive] == [None, 0, 1, 2]


def test_printing() -> None:
    report = inspect(grad(loss))(W, X)
    assert repr(report) == f"Report(loss: {len(report.program.equations)} equations)"
    text = " ".join(str(report).split())
    assert "kept for the backward pass" in text
    assert f"test_inspect.py:{line_of(layer, 1)}" in text


@pytest.mark.parametrize("width", [60, 100, 140])
def test_the_table_fits_the_terminal(width: int) -> None:
    pytest.importorskip("jaxlib", reason="without times there is more room for the code")
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(inspect(grad(loss), runs=1)(W, X))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.startswith("line ") and "at the peak" in line for line in lines) or width < 100
    assert ("return lax.tanh" in "\n".join(lines)) == (width == 140)


def test_a_report_is_not_pickled() -> None:
    report = inspect(loss)(W, X)
    with pytest.raises(TypeError, match="cannot be pickled: it holds the program"):
        pickle.dumps(report)


def test_recompilations() -> None:
    double = jit(lambda x: lax.add(x, x))
    for n in (3, 4, 5):
        double(np.ones(n))
    report = inspect(double, runs=0)(np.ones(5))
    assert report.recompilations is not None
    assert report.recompilations.programs == 3
    assert "x: float64[4] -> float64[5]; the 3rd size" in str(report)
    assert inspect(loss, runs=0)(W, X).recompilations is None
