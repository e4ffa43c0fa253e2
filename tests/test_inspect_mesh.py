"""``inspect_mesh``: bytes, exchanges, work and the least time on a mesh that need not exist."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bindax
import bindax.numpy as jnp
from bindax import NamedSharding, P, grad, inspect_mesh, jit, lax, shard_map
from bindax.sharding import AbstractMesh
from bindax_core.extend import config, find_backend
from bindax_inspect import MeshReport, device_kinds

MESH = AbstractMesh((4, 2), ("data", "model"))
FLOAT = 4  # bytes


@pytest.fixture
def compiled() -> None:
    """Skip where nothing compiles."""
    if bindax.default_backend() == "numpy":
        pytest.skip("programs are divided by XLA")


def array(*shape: int, dtype: Any = "float32") -> bindax.ShapeDtypeStruct:
    return bindax.ShapeDtypeStruct(shape, dtype)


def kinds(report: MeshReport) -> Counter[tuple[str, tuple[str, ...], float]]:
    return Counter((one.kind, one.axes, one.bytes * one.times) for one in report.exchanges)


def layers(ws: Any, x: Any) -> Any:
    for w in ws:
        x = jnp.tanh(x @ w)
    return jnp.sum(x)


def step(ws: Any, x: Any) -> Any:
    return [w - slope for w, slope in zip(ws, grad(layers)(ws, x), strict=True)]


WEIGHTS = [array(64, 256), array(256, 64)]


def test_data_parallel_step(compiled: None) -> None:
    mesh = AbstractMesh((8,), ("data",))
    report = inspect_mesh(step, mesh, P(), P("data"))(WEIGHTS, array(32, 64))
    size = 64 * 256 * FLOAT
    assert kinds(report) == {("all-reduce", ("data",), size): 2}
    assert report.sent == 2 * 2 * size * 7 / 8
    assert [one.bytes for one in report.arguments] == [size, size, 32 * 64 * FLOAT / 8]
    assert [one.copies for one in report.arguments] == [8, 8, 1]
    assert report.memory.results == 2 * size
    assert report.missing == ()
    assert repr(report) == "MeshReport(step: 8 devices)"


def test_lines_of_exchanges(compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # code is shown where there is room
    report = inspect_mesh(step, MESH, P(None, "model"), P("data"))(WEIGHTS, array(32, 64))
    line = layers.__code__.co_firstlineno + 2
    assert {one.line.number for one in report.exchanges} == {line}
    assert "x = jnp.tanh(x @ w)" in str(report)
    assert report.lines[0].line.function == "layers"


def test_tensor_parallel_block(compiled: None) -> None:
    def block(up: Any, down: Any, x: Any) -> Any:
        return x + jnp.tanh(x @ up) @ down

    mesh = AbstractMesh((2, 4), ("data", "model"))
    specs = P(None, "model"), P("model"), P("data")
    report = inspect_mesh(block, mesh, *specs)(*WEIGHTS, array(32, 64))
    assert kinds(report) == {("all-reduce", ("model",), 16 * 64 * FLOAT): 1}
    assert report.repeated == pytest.approx(1.0, abs=0.02)
    assert report.results[0].spec == P("data")


def test_weights_that_are_gathered(compiled: None) -> None:
    mesh = AbstractMesh((4,), ("data",))
    rows = NamedSharding(mesh, P("data"))
    divided = jit(step, out_shardings=rows)
    report = inspect_mesh(divided, mesh, P("data"), P("data"))(WEIGHTS, array(1024, 64))
    size = 64 * 256 * FLOAT
    found = kinds(report)
    assert found["reduce-scatter", ("data",), size] == 2
    assert found["all-gather", ("data",), size] >= 2
    assert {one.kind for one in report.exchanges} == {"reduce-scatter", "all-gather"}
    assert report.memory.arguments == 2 * size / 4 + 1024 * 64 * FLOAT / 4


def test_work_that_every_device_repeats(compiled: None) -> None:
    def product(x: Any, w: Any) -> Any:
        return x @ w

    report = inspect_mesh(product, MESH, P(), P())(array(64, 64), array(64, 64))
    assert report.repeated == 8.0
    assert report.operations == 2 * 64**3
    repeated, copied = report.remarks
    assert repeated.startswith("repeated: the devices compute 8.0 times what the program needs,")
    assert "where each does 1/1 of the work, not 1/8. Divide its operands along" in repeated
    assert copied.startswith(
        "copied: every device holds the whole of x, float32[64,64], and of 2 more large arrays: "
    )
    assert repeated[:40] in str(report)
    backward = inspect_mesh(step, MESH, P(), P())(WEIGHTS, array(32, 64))
    assert backward.repeated == pytest.approx(8.0, rel=0.01)
    divided = inspect_mesh(product, MESH, P("data"), P(None, "model"))
    assert divided(array(64, 64), array(64, 64)).repeated == 1.0


def exchanging(x: Any) -> Any:
    y = lax.all_to_all(x, "data", 1, 0, tiled=True)
    y = lax.psum(y, "model")
    z = lax.ppermute(y, "data", [(i, (i + 1) % 4) for i in range(4)])
    whole = lax.all_gather(z, "data")
    part = lax.psum_scatter(y.reshape(-1), "data", tiled=True)
    return whole.sum(0) + jnp.sum(part) + lax.psum(jnp.sum(y), ("data", "model"))


MAPPED = shard_map(exchanging, mesh=MESH, in_specs=(P("data"),), out_specs=P("data"))
PART = 16 * 256 * FLOAT


def test_exchanges_of_shard_map(compiled: None) -> None:
    report = inspect_mesh(MAPPED, MESH)(array(64, 256))
    assert kinds(report) == {
        ("all-to-all", ("data",), PART): 1,
        ("all-reduce", ("model",), PART): 1,
        ("collective-permute", ("data",), PART): 1,
        ("all-gather", ("data",), 4 * PART): 1,
        ("reduce-scatter", ("data",), PART): 1,
        ("all-reduce", ("data", "model"), FLOAT): 1,
    }
    assert report.arguments[0].spec == P("data")


def test_exchanges_of_shard_map_by_rules() -> None:
    with config.override(backend="numpy"):
        report = inspect_mesh(MAPPED, MESH, P("data"))(array(64, 256))
    found = kinds(report)
    assert found.pop(("all-reduce", ("data",), FLOAT)) == 1  # which a compiler joins
    assert found.pop(("all-reduce", ("model",), FLOAT)) == 1
    assert len(found) == 5
    assert found["all-gather", ("data",), 4 * PART] == 1
    assert found["reduce-scatter", ("data",), PART] == 1
    assert report.memory.temporaries is None
    assert report.missing[0].startswith("exchanges outside of shard_map")
    assert "Install a compiler, as with bindax[xla]." in report.missing[0]
    assert [one.line.number for one in report.exchanges[:2]] == [
        exchanging.__code__.co_firstlineno + 1,
        exchanging.__code__.co_firstlineno + 2,
    ]


def test_work_that_shard_map_repeats() -> None:
    def total(x: Any) -> Any:
        return x @ x.T

    mapped = shard_map(total, mesh=MESH, in_specs=(P("data"),), out_specs=P("data"))
    report = inspect_mesh(mapped, MESH, P("data"))(array(64, 8))
    assert report.operations == 2 * 16 * 16 * 8
    assert report.repeated == 2.0  # along the axis "model" all compute the same


def test_a_mesh_of_other_axes_inside(compiled: None) -> None:
    def total(x: Any) -> Any:
        return lax.psum(x, "all")

    def mapped(count: int) -> Any:
        mesh = AbstractMesh((count,), ("all",))
        return shard_map(total, mesh=mesh, in_specs=(P("all"),), out_specs=P())

    report = inspect_mesh(mapped(8), MESH)(array(8, 4))
    assert kinds(report) == {("all-reduce", ("data", "model"), 16.0): 1}
    with pytest.raises(bindax.errors.PlacementError, match="a program on 8 devices was to be"):
        inspect_mesh(mapped(2), MESH)(array(8, 4))
    with config.override(backend="numpy"):
        by_rules = inspect_mesh(mapped(8), MESH)(array(8, 4))
    assert kinds(by_rules) == {("all-reduce", ("all",), 16.0): 1}


def test_loops_count_as_often_as_they_run(compiled: None) -> None:
    def deep(ws: Any, x: Any) -> Any:
        return lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, ws)[0]

    specs = P(None, "model"), P("data")
    report = inspect_mesh(deep, MESH, *specs)(array(5, 64, 64), array(32, 64))
    assert sum(one.times for one in report.exchanges) == 5
    assert report.repeated == pytest.approx(1.0)

    def until(x: Any) -> Any:
        return lax.while_loop(lambda x: jnp.sum(x) < 1.0, lambda x: x @ x, x)

    report = inspect_mesh(until, MESH, P("data"))(array(8, 8))
    assert report.missing == (
        "the length of a loop, which depends on values: what is in it counts once.",
    )


def test_what_a_checkpoint_computes_again(compiled: None) -> None:
    def deep(ws: Any, x: Any) -> Any:
        layer = bindax.checkpoint(lambda x, w: (jnp.tanh(x @ w), None))
        return lax.scan(layer, x, ws)[0].sum()

    mesh = AbstractMesh((4,), ("data",))
    report = inspect_mesh(grad(deep), mesh, P(), P("data"))(array(6, 64, 64), array(32, 64))
    assert kinds(report) == {("all-reduce", ("data",), 6 * 64 * 64 * FLOAT): 1}


def test_branches_run_equally_often(compiled: None) -> None:
    def either(flag: Any, x: Any) -> Any:
        return lax.cond(flag, lambda x: x.sum(0), lambda x: (x * x).sum(0) * 2.0, x)

    mesh = AbstractMesh((4,), ("data",))
    report = inspect_mesh(either, mesh, P(), P("data"))(array(dtype="bool"), array(32, 64))
    assert {one.times for one in report.exchanges} <= {0.5, 1.0}
    assert sum(one.times * one.bytes for one in report.exchanges) == 64 * FLOAT


def test_numbers_of_16_bits_are_counted_as_such(compiled: None) -> None:
    weights = [array(*w.shape, dtype="bfloat16") for w in WEIGHTS]
    report = inspect_mesh(step, AbstractMesh((8,), "data"), P(), P("data"))(
        weights, array(32, 64, dtype="bfloat16")
    )
    assert kinds(report) == {("all-reduce", ("data",), 64 * 256 * 2): 2}


def test_donated_arguments(compiled: None) -> None:
    report = inspect_mesh(jit(step, donate_argnums=0), MESH, P(), P("data"))(WEIGHTS, array(32, 64))
    assert report.memory.reused == 2 * 64 * 256 * FLOAT
    assert report.memory.total < report.memory.arguments + report.memory.results + 1e6


def test_bound_of_the_time(compiled: None) -> None:
    mesh = AbstractMesh((16,), ("data",))
    report = inspect_mesh(step, mesh, P(), P("data"))(WEIGHTS, array(32, 64))
    h100, size = device_kinds()["h100"], 64 * 256 * FLOAT
    inside = 2 * size * 7 / 8 / h100.link
    across = 2 * (size / 8) / 2 / h100.network
    assert report.bound.exchanges == pytest.approx(2 * max(inside, across))
    assert [one.parts(h100) for one in report.exchanges] == [(inside, across)] * 2
    moved = report.memory.arguments + report.memory.results
    assert report.bound.memory == moved / h100.bandwidth
    assert report.bound.operations == pytest.approx(report.operations / 494.7e12)
    assert (report.bound.least, report.bound.limit) == (report.bound.exchanges, "exchanges")


def test_bound_of_an_exchange_of_parts() -> None:
    mesh = AbstractMesh((32,), ("data",))

    def turned(x: Any) -> Any:
        return lax.all_to_all(x, "data", 1, 0, tiled=True)

    mapped = shard_map(turned, mesh=mesh, in_specs=(P("data"),), out_specs=P("data"))
    with config.override(backend="numpy"):
        report = inspect_mesh(mapped, mesh, P("data"))(array(64, 1024))
    (one,), h100 = report.exchanges, device_kinds()["h100"]
    size = 2 * 1024 * FLOAT
    assert one.sent == size * 31 / 32
    assert one.seconds(h100) == pytest.approx(size * 24 / 32 / h100.network)


def test_links_and_network_work_together() -> None:
    mesh = AbstractMesh((4, 8), ("data", "model"))

    def summed(x: Any) -> Any:
        return lax.psum(lax.psum(x, "model") * 2.0, "data")

    mapped = shard_map(summed, mesh=mesh, in_specs=(P("data"),), out_specs=P())
    with config.override(backend="numpy"):
        report = inspect_mesh(mapped, mesh, P("data"))(array(64, 1024))
    h100, size = device_kinds()["h100"], 16 * 1024 * FLOAT
    on_links, on_network = 2 * size * 7 / 8 / h100.link, 2 * size * 3 / 4 / h100.network
    assert report.bound.exchanges == pytest.approx(max(on_links, on_network))


def test_memory_that_does_not_suffice() -> None:
    report = inspect_mesh(jnp.sin, MESH, P("data"), device="tpu_v5e")(array(2**34))
    assert not report.fits
    assert report.remarks[-1].startswith("too large: a device of the kind tpu_v5e has 14.9 GiB of")


def test_names_of_arguments_and_results(compiled: None) -> None:
    def f(params: Any, *, scale: Any) -> Any:
        return {"y": params["w"] * scale}

    report = inspect_mesh(f, MESH, {"w": P("data")})({"w": array(8)}, scale=array())
    assert [one.name for one in report.arguments] == ["params['w']", "scale"]
    assert [one.name for one in report.results] == ["result['y']"]
    assert json.loads(json.dumps(report.as_dict()))["arguments"][0]["spec"] == "P('data')"


def test_a_spec_alone_refers_to_the_mesh(compiled: None) -> None:
    def f(x: Any) -> Any:
        return lax.with_sharding_constraint(jnp.sin(x), P("model"))

    assert inspect_mesh(f, MESH, P("data"))(array(8, 4)).results[0].spec == P("model")


def test_one_device_and_no_arguments(compiled: None) -> None:
    one = inspect_mesh(jnp.sin, AbstractMesh((1,), "x"), P("x"))(array(8))
    assert (one.exchanges, one.repeated, one.arguments[0].copies) == ((), 1.0, 1.0)
    nothing = inspect_mesh(lambda: jnp.float32(2.0), MESH)()
    assert nothing.memory.arguments == 0.0
    assert "a call takes" in str(nothing)


def test_more_devices_than_are_compiled_for(compiled: None) -> None:
    mesh = AbstractMesh((8192,), "x")
    report = inspect_mesh(jnp.sin, mesh, P("x"))(array(8192))
    (text,) = report.missing
    assert text == (
        "exchanges outside of shard_map, and what is in between: XLA compiles for 4,096 devices at "
        "most, and the mesh has 8,192."
    )
    assert report.arguments[0].bytes == FLOAT


def test_a_limit_of_threads(compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    virtual = find_backend().virtual  # type: ignore[attr-defined]
    monkeypatch.setattr(virtual, "_thread_limit", lambda: 600)
    assert virtual.refusal(64) is None
    assert virtual.refusal(128) == (
        "XLA starts a thread for each of the 128 devices, but the system allows 600 threads. Raise "
        "the limit (ulimit -u, or pids.max of the container)."
    )


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system lists no threads")
def test_threads_of_the_devices_end_with_the_report(compiled: None) -> None:
    before = len(list(Path("/proc/self/task").iterdir()))
    inspect_mesh(jnp.sin, AbstractMesh((512,), "x"), P("x"))(array(512))
    assert len(list(Path("/proc/self/task").iterdir())) < before + 256


@pytest.mark.nightly
def test_as_many_devices_as_there_can_be(compiled: None) -> None:
    mesh = AbstractMesh((512, 8), ("data", "model"))
    report = inspect_mesh(step, mesh, P(None, "model"), P("data"))(WEIGHTS, array(1024, 64))
    assert report.missing == ()
    assert report.memory.arguments == 2 * 64 * 256 * FLOAT / 8 + 1024 * 64 * FLOAT / 512
    assert {one.devices for one in report.exchanges} <= {8, 512}


def bad(value: Any) -> Any:
    """Return a value of a type that the signature does not allow."""
    return value


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: inspect_mesh(bad(3), MESH), TypeError, "inspect_mesh"),
        (
            lambda: inspect_mesh(jnp.sin, bad((4, 2))),
            TypeError,
            r"mesh must be an AbstractMesh or a Mesh, but it is \(4, 2\)\.",
        ),
        (
            lambda: inspect_mesh(jnp.sin, MESH, device="abacus"),
            ValueError,
            "device='abacus' is no kind of device that is known; there are a100, b200, h100",
        ),
        (
            lambda: inspect_mesh(jnp.sin, MESH, device=bad(3)),
            TypeError,
            "device must be the name of a kind of device or a DeviceKind, but it is 3",
        ),
        (
            lambda: inspect_mesh(jnp.sin, MESH, P("rows"))(array(8)),
            ValueError,
            r"Resource axis: rows of spec=P\('rows'\) is not found in mesh: \('data', 'model'\)",
        ),
        (
            lambda: inspect_mesh(jnp.sin, MESH, P("data"))(array(6)),
            ValueError,
            r"inspect_mesh: x\w* has shape \(6,\): its axis 0 of size 6 cannot be divided into 4",
        ),
        (
            lambda: inspect_mesh(jnp.sin, MESH, P(), P())(array(8)),
            ValueError,
            "2 specs were given, but sin was called with 1 positional arguments",
        ),
        (
            lambda: inspect_mesh(jnp.sin, MESH, "data")(array(8)),
            TypeError,
            r"the spec of x\w* must be a PartitionSpec or None, but it is 'data'",
        ),
        (
            lambda: inspect_mesh(
                jnp.sin, MESH, NamedSharding(AbstractMesh((2,), "data"), P("data"))
            )(array(8)),
            ValueError,
            r"is on AbstractMesh\('data': 2.*give a PartitionSpec",
        ),
        (
            lambda: inspect_mesh(layers, MESH, {"w": P()})(WEIGHTS, array(8, 64)),
            ValueError,
            "specs is not a tree prefix of args",
        ),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
