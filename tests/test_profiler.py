"""Traces of programs hold our marks and the operations, where tools look for them."""

from __future__ import annotations

import gzip
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import profiler
from bindax.errors import BackendError

X = np.ones((64, 64), np.float32)


@pytest.fixture
def compiled() -> None:
    if bindax.default_backend() == "numpy":
        pytest.skip("the profiler is the compiler's, and nothing compiles here")


@bindax.jit
def layers(x: Any) -> Any:
    with bindax.named_scope("first_layer"):
        x = jnp.tanh(x @ x)
    with bindax.named_scope("second_layer"):
        return jnp.sort(x, axis=0).sum()


@pytest.mark.usefixtures("compiled")
def test_a_trace_has_marks_and_operations_and_opens_in_perfetto(tmp_path: Path) -> None:
    @partial(profiler.annotate_function, name="one pass", kind="forward")
    def forward(x: Any) -> Any:
        return layers(x).block_until_ready()

    forward(X)
    options = profiler.ProfileOptions(python_tracer_level=0)
    with profiler.trace(tmp_path, create_perfetto_trace=True, profiler_options=options):
        for step in range(2):
            with profiler.StepTraceAnnotation("train", step_num=step):
                forward(X)
    (file,) = tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz")
    recorded = json.loads(gzip.decompress(file.read_bytes()))
    assert recorded.keys() <= {"displayTimeUnit", "traceEvents"}
    events = [event for event in recorded["traceEvents"] if event.get("ph") == "X"]
    steps = [event for event in events if event["name"] == "train"]
    assert [event["args"]["step_num"] for event in steps] == ["0", "1"]
    passes = [event for event in events if event["name"] == "one pass"]
    assert [event["args"]["kind"] for event in passes] == ["forward"] * 2
    assert all(s["ts"] <= p["ts"] for s, p in zip(steps, passes, strict=True))
    operations = {e["args"]["hlo_op"] for e in events if "hlo_op" in e.get("args", {})}
    assert any("sort" in name for name in operations), operations
    modules = {e["args"]["hlo_module"] for e in events if "hlo_module" in e.get("args", {})}
    assert "jit_layers" in modules
    (written,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    data = profiler.ProfileData.from_file(str(written))
    names = {event.name for plane in data.planes for line in plane.lines for event in line.events}
    assert {"train", "one pass"} <= names


@pytest.mark.usefixtures("compiled")
def test_scopes_name_the_operations_of_compiled_programs() -> None:
    text = layers.lower(X).compile().as_text()
    names = set(re.findall(r'op_name="([^"]*)"', text))
    assert any(
        name.startswith("jit(layers)/first_layer/") and name.endswith("tanh") for name in names
    ), names
    assert any(
        name.startswith("jit(layers)/second_layer/") and name.endswith("sort") for name in names
    ), names


@pytest.mark.usefixtures("compiled")
def test_one_trace_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no trace is being recorded; call start_trace first"):
        profiler.stop_trace()
    profiler.start_trace(
        tmp_path, profiler_options=profiler.ProfileOptions(python_tracer_level=0, session_id="a")
    )
    try:
        with pytest.raises(RuntimeError, match=r"recorded already, for .*Call stop_trace first"):
            profiler.start_trace(tmp_path)
    finally:
        directory = profiler.stop_trace()
    assert directory == tmp_path / "plugins/profile/a"
    assert not list(directory.glob("perfetto*"))
    with pytest.raises(ValueError, match="open perfetto_trace"):
        profiler.start_trace(tmp_path, create_perfetto_link=True)


@pytest.mark.usefixtures("compiled")
def test_a_snapshot_of_memory(tmp_path: Path) -> None:
    held = bindax.jit(lambda x: x + 1)(X)
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    content = gzip.decompress((tmp_path / "memory.prof").read_bytes())
    assert b"buffer" in content
    assert held.shape == (64, 64)


@pytest.mark.usefixtures("compiled")
def test_the_server_starts_once() -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ValueError, match="no server of the profiler is running"):
        profiler.stop_server()
    profiler.start_server(port)
    try:
        with pytest.raises(ValueError, match="running already; stop_server ends it"):
            profiler.start_server(port)
    finally:
        profiler.stop_server()


def test_without_a_compiler_marks_do_nothing_and_traces_are_an_error(tmp_path: Path) -> None:
    with bindax.config.override(backend="numpy"):
        with profiler.TraceAnnotation("mark", n=1):
            assert float(layers(np.ones((2, 2), np.float32))) > 0
        for call in (
            lambda: profiler.start_trace(tmp_path),
            profiler.device_memory_profile,
            lambda: profiler.start_server(1),
        ):
            with pytest.raises(BackendError, match="the backend in use is 'numpy'"):
                call()


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="takes its name as a string, but got 3"):
        profiler.TraceAnnotation(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="annotate_function takes a function, but got 3"):
        profiler.annotate_function(3)  # type: ignore[type-var]
    with pytest.raises(AttributeError, match="has no attribute 'Trace'"):
        _ = profiler.Trace
