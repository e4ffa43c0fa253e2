"""Programs that JAX exported run on bindax, and the reverse, with the numbers of JAX."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import more_programs
import numpy as np
import pytest
from exported_programs import PROGRAMS, Program, library, operands

import bindax
from bindax import export, lax

pytest.importorskip("jaxlib")

BINDAX = library(bindax)
REFERENCES = np.load(Path(__file__).with_name("references.npz"))


def expected(name: str) -> list[Any]:
    found = [key for key in REFERENCES.files if key.startswith(f"{name}/")]
    return [REFERENCES[f"{name}/{i}"] for i in range(sum(key[-1].isdigit() for key in found))]


def check(outs: Any, name: str) -> None:
    leaves = [np.asarray(x) for x in outs]
    wanted = expected(name)
    assert [(x.shape, x.dtype) for x in leaves] == [(x.shape, x.dtype) for x in wanted]
    for x, y in zip(leaves, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=3e-5, atol=3e-5)


def exported(program: Program) -> export.Exported:
    scope = export.SymbolicScope()
    types = [
        bindax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), np.float32)
        for text in program.shapes
    ]
    return export.export(bindax.jit(program.make(BINDAX)))(*types)


@pytest.fixture(scope="module")
def jax() -> Any:
    return SimpleNamespace(
        root=pytest.importorskip("jax"), export=pytest.importorskip("jax.export")
    )


@pytest.mark.every(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_jax_wrote_runs_here(name: str) -> None:
    program = export.deserialize(REFERENCES[f"{name}/program"].tobytes())
    check(bindax.tree.leaves(program.call(*operands(PROGRAMS[name]))), name)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_here_runs_in_jax(name: str, jax: Any) -> None:
    blob = exported(PROGRAMS[name]).serialize()
    program = jax.export.deserialize(blob)
    check(jax.root.tree.leaves(program.call(*operands(PROGRAMS[name]))), name)


def test_derivative_that_jax_wrote() -> None:
    program = export.deserialize(REFERENCES["mlp/program"].tobytes())
    loss = bindax.grad(lambda *xs: program.call(*xs)[:, 0].sum(), argnums=1)
    found = loss(*operands(PROGRAMS["mlp"]))
    np.testing.assert_allclose(found, REFERENCES["mlp/derivative"], rtol=1e-4, atol=1e-6)


def test_derivative_that_is_written_here(jax: Any) -> None:
    blob = exported(PROGRAMS["mlp"]).serialize(vjp_order=1)
    for call, grad in (
        (jax.export.deserialize(blob).call, jax.root.grad),
        (export.deserialize(blob).call, bindax.grad),
    ):
        loss = grad(lambda *xs, call=call: call(*xs)[:, 0].sum(), argnums=1)
        found = np.asarray(loss(*operands(PROGRAMS["mlp"])))
        np.testing.assert_allclose(found, REFERENCES["mlp/derivative"], rtol=1e-4, atol=1e-6)


def test_containers_and_keywords_both_ways(jax: Any) -> None:
    def f(p: Any, *, x: Any) -> Any:
        return {"y": x @ p["w"], "n": (p["w"].sum(), [x.sum(), None])}

    w, x = np.ones((4, 2), np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    (b,) = export.symbolic_shape("b")
    types = [bindax.ShapeDtypeStruct(shape, np.float32) for shape in ((4, 2), (b, 4))]
    ours = export.export(bindax.jit(f))({"w": types[0]}, x=types[1])
    out = jax.export.deserialize(ours.serialize()).call({"w": w}, x=x)
    np.testing.assert_array_equal(out["y"], x @ w)
    assert out["n"][1][1] is None
    assert float(out["n"][1][0]) == 66.0
    (c,) = jax.export.symbolic_shape("b")
    types = [jax.root.ShapeDtypeStruct(shape, np.float32) for shape in ((4, 2), (c, 4))]
    theirs = jax.export.export(jax.root.jit(f))({"w": types[0]}, x=types[1])
    read = export.deserialize(theirs.serialize())
    assert (read.in_tree, read.out_tree) == (ours.in_tree, ours.out_tree)
    np.testing.assert_array_equal(read.call({"w": w}, x=x)["y"], x @ w)


def test_platforms_both_ways(jax: Any) -> None:
    x = np.ones(3, np.float32)

    def program(lax: Any) -> Any:
        return lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x - 1)

    (b,) = export.symbolic_shape("b")
    names = ["cpu", "tpu"]
    ours = export.export(bindax.jit(program(lax)), platforms=names)(
        bindax.ShapeDtypeStruct((b,), np.float32)
    )
    theirs = jax.export.export(jax.root.jit(program(jax.root.lax)), platforms=names)(x)
    for call in (
        ours.call,
        export.deserialize(theirs.serialize()).call,
        jax.export.deserialize(ours.serialize()).call,
    ):
        np.testing.assert_array_equal(call(x), x + 1)


@pytest.mark.every(3)
@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_both_ways(impl: str, jax: Any) -> None:
    x = np.arange(3, dtype=np.float32)

    def program(lib: Any) -> Any:
        def f(keys: Any, x: Any) -> Any:
            first, second = keys
            return lib.random.split(first), lib.random.normal(second, (3,)) * x

        return f

    def results(lib: Any, call: Any) -> Any:
        keys = lib.random.split(lib.random.key(1, impl=impl))
        drawn, product = call(keys, x)
        slope = lib.grad(lambda x: call(keys, x)[1].sum())(x)
        return [np.asarray(y) for y in (lib.random.key_data(drawn), product, slope)]

    wanted = results(jax.root, jax.root.jit(program(jax.root)))
    ours = export.export(bindax.jit(program(bindax)))(bindax.random.split(_key(impl)), x)
    keys = jax.root.random.split(jax.root.random.key(0, impl=impl))
    theirs = jax.export.export(jax.root.jit(program(jax.root)))(keys, x)
    blobs = [one.serialize(vjp_order=1) for one in (ours, theirs)]
    for lib, call in (
        (bindax, export.deserialize(blobs[1]).call),
        (bindax, bindax.jit(export.deserialize(blobs[0]).call)),
        (jax.root, jax.export.deserialize(blobs[0]).call),
    ):
        for y, expected in zip(results(lib, call), wanted, strict=True):
            np.testing.assert_allclose(y, expected, rtol=1e-5)


def _key(impl: str) -> Any:
    return bindax.random.key(0, impl=impl)


def test_keys_of_all_sizes_and_wrong_ones() -> None:
    (b,) = export.symbolic_shape("b")
    draw = bindax.jit(bindax.vmap(lambda key: bindax.random.normal(key, (2,))))
    fry = _key("threefry2x32")
    written = export.export(draw)(bindax.ShapeDtypeStruct((b,), fry.dtype))
    read = export.deserialize(written.serialize())
    assert repr(read).startswith("Exported(<lambda>: (key<fry>[b]) -> (float32[b,2]),")
    keys = bindax.random.split(fry, 5)
    np.testing.assert_array_equal(read.call(keys), draw(keys))
    words = bindax.random.key_data(keys)
    for wrong in (words, fry, bindax.random.split(_key("rbg"))):
        with pytest.raises(export.ExportError, match=r"of type key<fry>\[b\], but was called"):
            read.call(wrong)
    of_words = export.export(bindax.jit(lambda words: words[0]))(words)
    np.testing.assert_array_equal(of_words.call(keys), words[0])


def test_donated_arguments_both_ways(jax: Any) -> None:
    x = np.ones(3, np.float32)
    ours = export.export(bindax.jit(lambda x: x + 1, donate_argnums=0))(x)
    theirs = jax.export.export(jax.root.jit(lambda x: x + 1, donate_argnums=0))(x)
    given = bindax.device_put(x)
    np.testing.assert_array_equal(export.deserialize(theirs.serialize()).call(given), x + 1)
    assert not given.is_deleted()  # the call decides, as in JAX: jit(read.call, donate_argnums=0)
    np.testing.assert_array_equal(jax.export.deserialize(ours.serialize()).call(x), x + 1)


def test_constraints_of_a_program_that_jax_wrote(jax: Any) -> None:
    (n,) = jax.export.symbolic_shape("n", constraints=["n >= 3"])
    theirs = jax.export.export(jax.root.jit(lambda x: x * 2))(
        jax.root.ShapeDtypeStruct((n,), np.float32)
    )
    read = export.deserialize(theirs.serialize())
    assert read.call(np.ones(4, np.float32)).shape == (4,)
    with pytest.raises(bindax.errors.BackendError, match="n >= 3"):
        read.call(np.ones(2, np.float32))


def test_a_mesh_of_one_device() -> None:
    mesh, spec = bindax.make_mesh((1,), ("i",)), bindax.P("i")
    mapped = bindax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=spec, out_specs=spec)
    exported = export.export(bindax.jit(mapped))(np.ones(4, np.float32))
    assert exported.nr_devices == 1
    read = export.deserialize(exported.serialize())
    np.testing.assert_array_equal(read.call(np.ones(4, np.float32)), 2)


@pytest.mark.nightly
def test_programs_for_eight_devices_both_ways(jax: Any) -> None:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("several_devices_program.py"))],
        env={**environment, "BINDAX_NUM_CPU_DEVICES": "8"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "done"
    assert len(lines) == 10


@pytest.mark.nightly
@pytest.mark.parametrize("name", more_programs.programs(bindax))
def test_small_programs_both_ways(name: str, jax: Any) -> None:
    function, shapes = more_programs.programs(bindax)[name]
    theirs, _ = more_programs.programs(jax.root)[name]
    arrays = operands(Program(lambda m: None, shapes))
    wanted = jax.root.tree.leaves(jax.root.jit(theirs)(*arrays))
    ours = exported(Program(lambda m: function, shapes))
    scope = jax.export.SymbolicScope()
    types = [
        jax.root.ShapeDtypeStruct(jax.export.symbolic_shape(text, scope=scope), np.float32)
        for text in shapes
    ]
    written = jax.export.export(jax.root.jit(theirs))(*types)
    for outs in (
        bindax.tree.leaves(ours.call(*arrays)),
        jax.root.tree.leaves(jax.export.deserialize(ours.serialize()).call(*arrays)),
        bindax.tree.leaves(export.deserialize(written.serialize()).call(*arrays)),
    ):
        assert len(outs) == len(wanted)
        for x, y in zip(outs, wanted, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4)
