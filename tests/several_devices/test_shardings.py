"""Shardings of ``jit`` and inside of programs, and what is refused before XLA sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import NamedSharding, P, lax
from bindax.sharding import (
    AbstractMesh,
    IndivisibleError,
    Mesh,
    SingleDeviceSharding,
    get_mesh,
)
from bindax_core import config


def test_given_to_jit(on: Any, numbers: Any) -> None:
    product = bindax.jit(
        lambda a, b: {"product": a @ b},
        in_shardings=(on("x", None), on(None, "y")),
        out_shardings={"product": on("x", "y")},
    )
    for given in (numbers, bindax.device_put(numbers, on("y", "x"))):
        out = product(given, numbers)["product"]
        assert out.sharding == on("x", "y")
        np.testing.assert_allclose(out, numbers @ numbers, rtol=1e-5)


def test_a_mesh_that_is_set(mesh: Any, numbers: Any) -> None:
    double = bindax.jit(lambda x: x * 2, out_shardings=P("x"))
    for context in (lambda: bindax.set_mesh(mesh), lambda: mesh):
        with context():
            assert get_mesh() is mesh
            out = double(numbers)
            assert out.sharding == NamedSharding(mesh, P("x"))
            assert lax.with_sharding_constraint(numbers, P(None, "y")).sharding.spec == P(None, "y")
            assert bindax.device_put(numbers, P("y")).sharding.spec == P("y")
            abstract = NamedSharding(mesh.abstract_mesh, P("x"))
            laid = lax.with_sharding_constraint(numbers, abstract)
            assert laid.sharding == abstract.update(mesh=mesh)
        assert get_mesh() is None
    bindax.set_mesh(mesh)
    assert get_mesh() is mesh
    bindax.set_mesh(None)
    with pytest.raises(ValueError, match=r"out_shardings=P\('x'\) names axes of a mesh, but no m"):
        bindax.jit(lambda x: x * 3, out_shardings=P("x"))(numbers)


def test_on_one_device(numbers: Any) -> None:
    fifth = bindax.devices()[5]
    assert bindax.jit(lambda x: x + 1, device=fifth)(numbers).device is fifth
    placed = bindax.jit(lambda x: x + 1, out_shardings=SingleDeviceSharding(fifth))
    assert placed(numbers).device is fifth


def test_constraints_follow_transformations(on: Any, numbers: Any) -> None:
    def f(x: Any) -> Any:
        return jnp.sum(lax.with_sharding_constraint(jnp.sin(x), on("y", "x")) * x)

    def plain(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * x)

    x = bindax.device_put(numbers, on("x", "y"))
    batch = np.stack([numbers, numbers + 1])
    np.testing.assert_allclose(
        bindax.jit(bindax.grad(f))(x), bindax.grad(plain)(numbers), rtol=1e-5
    )
    np.testing.assert_allclose(bindax.vmap(f)(batch), bindax.vmap(plain)(batch), rtol=1e-5)
    out, tangent = bindax.jit(lambda x: bindax.jvp(f, (x,), (x,)))(x)
    expected = bindax.jvp(plain, (numbers,), (numbers,))
    np.testing.assert_allclose((out, tangent), expected, rtol=1e-5)
    text = str(bindax.make_jaxpr(bindax.vmap(f))(batch))
    assert "P(UNCONSTRAINED, 'y', 'x')" in text


def test_operations_one_by_one(on: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("x", "y"))
    y = lax.with_sharding_constraint(x, on(None, "y"))
    assert y.sharding == on(None, "y")
    np.testing.assert_array_equal(y, numbers)
    np.testing.assert_array_equal(np.asarray(x), numbers)  # a look changes nothing
    z = jnp.sin(x) + 1
    assert z.sharding == on("x", "y")
    np.testing.assert_allclose(z, np.sin(numbers) + 1, rtol=1e-6)


def test_host_functions(on: Any, numbers: Any, capsys: Any) -> None:
    seen = []

    def on_host(x: Any) -> Any:
        seen.append(x.shape)
        return np.cos(x)

    @bindax.jit
    def f(x: Any) -> Any:
        bindax.debug.print("sum {:.1f}", x.sum(), ordered=True)
        kind = bindax.ShapeDtypeStruct(x.shape, x.dtype)
        return bindax.pure_callback(on_host, kind, x + 1)

    out = f(bindax.device_put(numbers, on("x", "y")))
    np.testing.assert_allclose(out, np.cos(numbers + 1), rtol=1e-5)
    bindax.effects_barrier()
    assert seen == [(8, 8)]  # once, with the whole array
    assert capsys.readouterr().out == "sum 31.5\n"


def test_looked_at(on: Any, numbers: Any, capsys: Any) -> None:
    found: list[Any] = []

    @bindax.jit
    def f(x: Any) -> Any:
        y = jnp.sin(x) @ x
        bindax.debug.inspect_array_sharding(y, callback=found.append)
        return y

    f(bindax.device_put(numbers, on("x", None)))
    assert found == [on("x")]
    bindax.debug.visualize_array_sharding(bindax.device_put(numbers, on(None, "y")))
    assert capsys.readouterr().out.splitlines() == [
        "┌─────────────┬─────────────┐",
        "│ cpu 0,2,4,6 │ cpu 1,3,5,7 │",
        "└─────────────┴─────────────┘",
    ]
    with pytest.raises(ValueError, match="arrays of one or two axes can be drawn"):
        bindax.debug.visualize_array_sharding(bindax.device_put(np.ones((2, 2, 2)), on()))


def test_constants_and_donation(on: Any, numbers: Any) -> None:
    table = np.arange(40.0, dtype=np.float32)
    closed_over = bindax.device_put(numbers, on("x"))
    f = bindax.jit(lambda x: x + table[:8] + closed_over, donate_argnums=0)
    x = bindax.device_put(numbers, on("x"))
    out = f(x)
    np.testing.assert_allclose(out, 2 * numbers + table[:8], rtol=1e-6)
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="was used after it was deleted or donated"):
        f(x)
    y = bindax.device_put(numbers, on("x"))
    twice = bindax.jit(lambda a, b: a + b, donate_argnums=0)
    with pytest.raises(TypeError, match=r"operand 0 of .* is donated and is another operand"):
        twice(y, y)
    np.testing.assert_array_equal(y, numbers)


def test_compiled_ahead_of_time(on: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("x"))
    lowered = bindax.jit(lambda x: x * 2).lower(x)
    assert 'sdy.mesh @mesh = <["x"=4, "y"=2]>' in lowered.as_text()
    compiled = lowered.compile()
    for given in (x, numbers):
        assert compiled(given).sharding == on("x")
    with pytest.raises(ValueError, match=r"operand 0 of the compiled .* is on NamedSharding"):
        compiled(bindax.device_put(numbers, on("y")))
    with pytest.raises(TypeError, match="Argument types differ from the types for which"):
        compiled(bindax.device_put(numbers[:4], on("x")))


# --------------------------------------------------------------------------------- what is refused


def test_meshes() -> None:
    devices = np.array(bindax.devices())
    with pytest.raises(ValueError, match=r"axis_names=\('x', 'x'\) has 'x' twice"):
        Mesh(devices.reshape(4, 2), ("x", "x"))
    with pytest.raises(ValueError, match=r"names 1 axes, but the devices are in a grid of 2"):
        Mesh(devices.reshape(4, 2), ("x",))
    with pytest.raises(ValueError, match=r"devices has Device\(cpu:0\) twice"):
        Mesh(np.array([devices[0], devices[0]]), ("x",))
    with pytest.raises(ValueError, match=r"axis_shapes=\(9,\) takes 9 devices, but there are 8"):
        bindax.make_mesh((9,), ("x",))
    with pytest.raises(TypeError, match="set_mesh: mesh must be a Mesh or None"):
        bindax.set_mesh("x")


def test_results_lie_in_the_words_of_operands(mesh: Any, on: Any) -> None:
    for sharding in (on("x", None), on(None, ("y",)), on(None, None)):
        x = bindax.device_put(np.ones((8, 4), np.float32), sharding)
        assert bindax.jit(lambda x: x + 1)(x).sharding == sharding
        assert (x * 2).sharding == sharding
    one = NamedSharding(Mesh(mesh.devices[:1, :1], ("x", "y")), P("x"))
    assert bindax.jit(lambda x: x)(bindax.device_put(np.ones(4), one)).sharding == one


def test_a_program_for_a_sharding_in_other_words(on: Any, numbers: Any) -> None:
    compiled = bindax.jit(lambda x: x + 1).lower(bindax.device_put(numbers, on("x"))).compile()
    for same in (on("x", None), on(("x",))):
        np.testing.assert_array_equal(compiled(bindax.device_put(numbers, same)), numbers + 1)
    with pytest.raises(ValueError, match="but the program was compiled for it on"):
        compiled(bindax.device_put(numbers, on("y")))


def test_values_inside_that_no_mesh_axis_divides_evenly(on: Any) -> None:
    def f(x: Any) -> Any:
        inside = lax.with_sharding_constraint(x[:6], on("x"))
        return jnp.pad(inside * 2, [(0, 2)]), inside

    padded, inside = bindax.jit(f)(np.arange(8.0))
    np.testing.assert_array_equal(padded, [0, 2, 4, 6, 8, 10, 0, 0])
    np.testing.assert_array_equal(inside, np.arange(6))
    slope = bindax.jit(bindax.grad(lambda x: f(x)[0].sum()))(np.arange(8.0))
    np.testing.assert_array_equal(slope, [2] * 6 + [0] * 2)
    with pytest.raises(IndivisibleError, match="axis 0 of size 6"):
        lax.with_sharding_constraint(np.ones(6), on("x"))


def test_a_mesh_as_a_decorator(mesh: Any, numbers: Any) -> None:
    @mesh
    def rows() -> Any:
        assert get_mesh() is mesh
        return bindax.jit(lambda x: x, out_shardings=P("x"))(numbers)

    assert rows().sharding.spec == P("x")
    assert get_mesh() is None


def test_types_of_results_say_what_was_given_to_jit(mesh: Any, on: Any, numbers: Any) -> None:
    f = bindax.jit(lambda x: (x * 2, {"sum": x.sum()}), out_shardings=(on("x"), None))
    plain = (bindax.typeof(numbers), {"sum": bindax.typeof(numbers.sum())})
    wanted = (plain[0].update(sharding=on("x")), plain[1])
    assert f.eval_shape(numbers) == f.trace(numbers).out_info == f.lower(numbers).out_info == wanted
    assert f.trace(numbers).out_avals == plain
    with bindax.set_mesh(mesh):
        traced = bindax.jit(lambda x: x, out_shardings=P("x")).trace(numbers)
    assert traced.out_info.sharding == on("x")


def test_errors_that_programs_catch(on: Any) -> None:
    with pytest.raises(IndivisibleError, match="should evenly divide the shape"):
        bindax.device_put(np.ones(6), on("x"))
    for error in (ValueError, RuntimeError):
        with pytest.raises(error, match="with_sharding_constraint requires a non-empty mesh in co"):
            lax.with_sharding_constraint(np.ones(4), P("x"))
    for option in ("in_shardings", "out_shardings"):
        with pytest.raises(ValueError, match=r"jit: Unconstrained dims are not allowed in in_sh"):
            bindax.jit(lambda x: x, **{option: on(P.UNCONSTRAINED, "x")})
    for sharding in (on(None, "x"), P(None, "x")):
        with pytest.raises(ValueError, match=r"only valid for values of rank at least 2, but was"):
            bindax.ShapeDtypeStruct((8,), np.float32, sharding=sharding)


def test_specs(mesh: Any, on: Any, numbers: Any) -> None:
    with pytest.raises(ValueError, match="has the mesh axis 'x' twice"):
        P("x", "x")
    with pytest.raises(
        ValueError, match=r"Resource axis: z of spec=P\('z'\) is not found in mesh: \('x', 'y'\)"
    ):
        NamedSharding(mesh, P("z"))
    with pytest.raises(TypeError, match=r"the entry \('x', None\) must hold names of mesh axes"):
        P(("x", None))
    with pytest.raises(
        ValueError,
        match=r"device_put: x .* spec=P\(None, 'x'\)\) is only valid for values of rank at least 2",
    ):
        bindax.device_put(numbers[0], on(None, "x"))
    with pytest.raises(
        ValueError, match="its axis 0 of size 6 cannot be divided into 4 equal parts"
    ):
        bindax.device_put(numbers[:6], on("x"))
    with pytest.raises(
        ValueError,
        match=r"out_shardings: One of pjit outputs, leaf 0, has shape .* should evenly divide",
    ):
        bindax.jit(lambda x: x[:6], out_shardings=on("x"))(numbers)
    with pytest.raises(
        ValueError, match=r"in_shardings: One of pjit arguments, leaf 0, .* of rank 1 "
    ):
        bindax.jit(lambda x: x, in_shardings=on("x", "y"))(numbers[0])
    with pytest.raises(
        ValueError, match=r"One of with_sharding_constraint arguments .* of rank 1 "
    ):
        bindax.jit(lambda x: lax.with_sharding_constraint(x, on("x", "y")))(numbers[0])
    with pytest.raises(ValueError, match="device is given besides in_shardings"):
        bindax.jit(lambda x: x, device=bindax.devices()[0], in_shardings=on())
    with pytest.raises(TypeError, match=r"in_shardings must be one of .* but it is 'x'"):
        bindax.jit(lambda x: x, in_shardings="x")(numbers)


def test_devices_that_do_not_fit(mesh: Any, on: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("x"))
    add = bindax.jit(jnp.add)
    backwards = Mesh(np.array(bindax.devices())[::-1], "d")
    with pytest.raises(ValueError, match="They are the same in another order"):
        add(x, bindax.device_put(numbers, NamedSharding(backwards, P("d"))))
    half = bindax.make_mesh((4,), ("x",))
    with pytest.raises(ValueError, match="Put both on the same devices with device_put"):
        add(x, bindax.device_put(numbers, NamedSharding(half, P("x"))))
    inside = bindax.jit(lambda x: lax.with_sharding_constraint(x, NamedSharding(half, P("x"))))
    with pytest.raises(ValueError, match="sharding_constraint inside jit with device ids"):
        inside(x)
    with config.override(backend=None):
        others = bindax.devices()
    foreign = Mesh(np.array(others), "d")
    with pytest.raises(ValueError, match=r"is not one of bindax\.devices"):
        bindax.device_put(numbers, NamedSharding(foreign, P("d")))
    abstract = NamedSharding(AbstractMesh((4, 2), ("x", "y")), P("x"))
    with pytest.raises(ValueError, match="has an abstract mesh, so it has no devices"):
        bindax.device_put(numbers, abstract)
    inside = bindax.jit(lambda x: lax.with_sharding_constraint(x * 2, abstract))
    assert inside(x).sharding.spec == P("x")
    with pytest.raises(ValueError, match="a program on 1 devices was to be divided among the 8"):
        inside(numbers)


def test_a_backend_with_one_device(mesh: Any, on: Any, numbers: Any) -> None:
    refused = r"the backend 'numpy' runs on HostDevice\(\) alone, but an array was to be on"
    with config.override(backend="numpy"):
        with pytest.raises(RuntimeError, match=refused):
            bindax.device_put(numbers, on("x"))
        with pytest.raises(RuntimeError, match=refused):
            bindax.jit(lambda x: x + 1, out_shardings=on("x"))(numbers)
        with pytest.raises(RuntimeError, match=refused):
            lax.with_sharding_constraint(numbers, on("x"))
        with pytest.raises(ValueError, match="takes 8 devices, but there are 1"):
            bindax.make_mesh((8,), ("x",))
        alone = NamedSharding(bindax.make_mesh((1,), ("x",)), P("x"))
        np.testing.assert_array_equal(bindax.device_put(numbers, alone), numbers)
        doubled = bindax.jit(lambda x: x * 2, out_shardings=alone)(numbers)
        np.testing.assert_array_equal(doubled, numbers * 2)


def test_the_number_of_devices() -> None:
    program = (
        "import os, sys, bindax\n"
        "from bindax import NamedSharding, P\n"
        "assert bindax.device_count() == 3\n"
        "mesh = bindax.make_mesh((3,), ('x',))\n"
        "x = bindax.device_put(bindax.numpy.arange(6.0), NamedSharding(mesh, P('x')))\n"
        "print(bindax.jit(lambda x: x.sum())(x), 'jax' in sys.modules)\n"
        "try:\n"
        "    bindax.config.num_cpu_devices = 4\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
        "child = os.fork()\n"
        "if not child:\n"  # which lacks the threads of XLA
        "    os._exit(int(float((x + 1).sum()) != 21.0))\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "BINDAX_NUM_CPU_DEVICES": "3"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    values, refused, child = done.stdout.splitlines()
    assert child == "0"
    assert values == "15.0 False"
    assert "config.num_cpu_devices was set to 4, but the CPU has 3 devices since its" in refused
