"""``shard_map`` along some axes of a mesh, while the compiler divides along the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import NamedSharding, P, lax
from bindax import numpy as jnp
from bindax.errors import BackendError
from bindax.sharding import AxisType

X = np.arange(64, dtype=np.float32).reshape(8, 8) / 16


def along(names: str, mesh: Any, in_specs: Any, out_specs: Any) -> Any:
    options = {"in_specs": in_specs, "out_specs": out_specs, "axis_names": set(names)}
    return lambda f: bindax.shard_map(f, mesh=mesh, **options)


@pytest.mark.parametrize("jit", [False, True])
def test_the_index_along_an_axis(jit: bool, mesh: Any, on: Any) -> None:
    @along("x", mesh, P("x"), P("x"))
    def shifted(x: Any) -> Any:
        return x + 10 * lax.axis_index("x") + lax.psum(lax.axis_index("x"), "x")

    run = bindax.jit(shifted) if jit else shifted
    wanted = X + 10 * np.arange(4, dtype=np.float32).repeat(2)[:, None] + 6
    np.testing.assert_array_equal(run(X), wanted)
    np.testing.assert_array_equal(run(bindax.device_put(X, on("x", "y"))), wanted)


@pytest.mark.parametrize("inner_axes", [{"y"}, None])
def test_one_inside_of_another(inner_axes: Any, mesh: Any) -> None:
    """The inner one divides along the axes that the outer one leaves."""

    def sums(x: Any) -> Any:
        return lax.psum(jnp.sin(x), "y") * (1 + lax.axis_index("x"))

    @along("x", mesh, P("x"), P("x"))
    def outer(x: Any) -> Any:
        specs = {"in_specs": P(None, "y"), "out_specs": P()}
        return bindax.shard_map(sums, axis_names=inner_axes, **specs)(x) + lax.axis_index("x")

    rows = np.arange(4, dtype=np.float32).repeat(2)[:, None]
    halves = np.sin(X)[:, :4] + np.sin(X)[:, 4:]
    np.testing.assert_allclose(bindax.jit(outer)(X), halves * (1 + rows) + rows, rtol=1e-5)
    slope = bindax.jit(bindax.grad(lambda x: outer(x).sum()))(X)
    np.testing.assert_allclose(slope, np.cos(X) * (1 + rows), rtol=1e-5)


def test_prints_come_once_from_each_part(mesh: Any, on: Any, capfd: Any) -> None:
    @bindax.jit
    @along("x", mesh, P("x"), P("x"))
    def printed(x: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            bindax.debug.print("row {i}: {c}", i=lax.axis_index("x"), c=c.sum())
            return c + 1, None

        return lax.scan(step, x, None, 2)[0]

    out = printed(bindax.device_put(X, on("x", "y")))
    bindax.effects_barrier()
    np.testing.assert_array_equal(out, X + 2)
    sums = X.reshape(4, -1).sum(1)
    wanted = [f"row {i}: {total + 16 * n}" for i, total in enumerate(sums) for n in range(2)]
    assert sorted(capfd.readouterr().out.splitlines()) == sorted(wanted)


def test_functions_of_the_host_see_whole_parts(mesh: Any, on: Any) -> None:
    shapes: set[Any] = set()

    def host(x: Any) -> Any:
        shapes.add(x.shape)
        return np.cumsum(x, 1)

    @bindax.jit
    @along("x", mesh, P("x"), P("x"))
    def summed(x: Any) -> Any:
        return bindax.pure_callback(host, bindax.ShapeDtypeStruct(x.shape, x.dtype), x)

    out = summed(bindax.device_put(X, on("x", "y")))
    np.testing.assert_allclose(out, np.cumsum(X, 1), rtol=1e-6)
    assert shapes == {(2, 8)}


def test_ordered_effects_are_refused(mesh: Any) -> None:
    @bindax.jit
    @along("x", mesh, P("x"), P("x"))
    def printed(x: Any) -> Any:
        bindax.debug.print("{x}", x=x, ordered=True)
        return x

    message = r"ordered effects need a shard_map along all axes .* divides along \['y'\] here"
    with pytest.raises(BackendError, match=message):
        printed(X)


@pytest.mark.parametrize("names", ["x", "xy"])
def test_constraints_name_axes_of_the_compiler_alone(names: str, mesh: Any) -> None:
    @bindax.jit
    @along(names, mesh, P("x"), P("x"))
    def constrained(x: Any) -> Any:
        return lax.with_sharding_constraint(x, P("x", "y"))

    message = r"with_sharding_constraint: shardings=P\('x', 'y'\) names 'x', a manual axis here"
    with pytest.raises(ValueError, match=message):
        constrained(X)

    @bindax.jit
    @along("x", mesh, P("x"), P("x"))
    def allowed(x: Any) -> Any:
        return lax.with_sharding_constraint(2 * x, P(None, "y"))

    out = allowed(X)
    np.testing.assert_array_equal(out, 2 * X)
    assert out.sharding.spec == P("x", "y")


def test_an_axis_is_divided_by_one_of_them(mesh: Any) -> None:
    def nested(axes: Any) -> Any:
        inner = bindax.shard_map(lambda x: x, in_specs=P(), out_specs=P(), axis_names=axes)
        return along("xy" if axes is None else "x", mesh, P("x"), P("x"))(inner)

    for axes, left in (({"x"}, "['y']"), (None, "[]")):
        message = rf"divides along 'x' already; axes of the mesh that are left are {left}".replace(
            "[", r"\["
        )
        with pytest.raises(ValueError, match=message):
            nested(axes)(X)


def test_groups_across_two_axes(mesh: Any, on: Any) -> None:
    groups = [[0, 3, 5, 6], [1, 2, 4, 7]]

    @bindax.jit
    @bindax.shard_map(mesh=mesh, in_specs=P(("x", "y")), out_specs=P(("x", "y")))
    def sums(x: Any) -> Any:
        part = lax.psum(x, ("x", "y"), axis_index_groups=groups)
        everything = lax.all_gather(x, ("x", "y"), axis_index_groups=groups)
        moved = lax.all_to_all(x.reshape(4, 2), ("x", "y"), 0, 0, axis_index_groups=groups)
        return part + everything.sum(0) + moved.reshape(1, 8)

    wanted = np.zeros_like(X)
    for group in groups:
        moved = X[group].reshape(4, 4, 2).swapaxes(0, 1).reshape(4, 8)
        wanted[group] = 2 * X[group].sum(0) + moved
    np.testing.assert_allclose(sums(X), wanted, rtol=1e-6)


@pytest.fixture(scope="module")
def explicit(eight_devices: Any) -> Any:
    types = (AxisType.Explicit,) * 2
    return bindax.make_mesh((4, 2), ("x", "y"), types, devices=eight_devices.devices())


def test_specs_that_are_left_out_are_those_of_the_arrays(explicit: Any) -> None:
    x = bindax.device_put(X, NamedSharding(explicit, P("x", "y")))
    shapes = []

    def part(x: Any) -> Any:
        shapes.append(x.shape)
        return x + lax.axis_index("x")

    rows = np.arange(4, dtype=np.float32).repeat(2)[:, None]
    whole = bindax.shard_map(part, mesh=explicit, out_specs=P("x", "y"))
    np.testing.assert_array_equal(whole(x), X + rows)
    with bindax.set_mesh(explicit):
        one = bindax.smap(part, out_axes=0, axis_name="x")(x)
    np.testing.assert_array_equal(one, X + rows)
    assert shapes == [(2, 4), (2, 8)]


def test_specs_unlike_those_of_the_arrays_are_refused(explicit: Any) -> None:
    x = bindax.device_put(X, NamedSharding(explicit, P("x", "y")))
    f = bindax.shard_map(lambda x: x, mesh=explicit, in_specs=P("y"), out_specs=P("y"))
    message = (
        r"shard_map: in_specs for x=P\('y'\), but the array lies as P\('x', 'y'\) along explicit "
        r"axes of the mesh; leave in_specs out, or lay it out by reshard\(x, P\('y'\)\) before."
    )
    with pytest.raises(ValueError, match=message):
        f(x)
    np.testing.assert_array_equal(f(bindax.device_put(X, NamedSharding(explicit, P("y")))), X)


def test_an_abstract_mesh_stands_for_the_devices_of_the_arguments(mesh: Any, on: Any) -> None:
    f = bindax.shard_map(
        lambda x: x * 2 + lax.axis_index("x"),
        mesh=mesh.abstract_mesh,
        in_specs=P("x"),
        out_specs=P("x"),
    )
    wanted = 2 * X + np.arange(4, dtype=np.float32).repeat(2)[:, None]
    x = bindax.device_put(X, on("x", "y"))
    for run in (f, bindax.jit(f)):
        out = run(x)
        np.testing.assert_array_equal(out, wanted)
        assert out.sharding == on("x")
        np.testing.assert_array_equal(run(X), wanted)


def every_collective(x: Any) -> Any:
    total = lax.psum(x, ("a", "b")) + lax.pmax(x, "b")
    gathered = lax.all_gather(x, "a", axis=1).sum(1)
    moved = lax.all_to_all(x, "b", 1, 1, tiled=True) + lax.ppermute(x, "a", [(0, 0)])
    return jnp.sin(total * x) + gathered * moved + lax.psum_scatter(x * x, "a", tiled=True)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2)])
def test_second_derivatives_along_axes_of_one_device(sizes: Any, eight_devices: Any) -> None:
    count = int(np.prod(sizes))
    mesh = bindax.make_mesh(sizes, ("a", "b"), devices=eight_devices.devices()[:count])
    options = {"in_specs": P("b"), "out_specs": P("b"), "check_vma": False}
    meshes = (mesh, mesh.abstract_mesh)
    f = {kind: bindax.shard_map(every_collective, mesh=kind, **options) for kind in meshes}
    w = np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32)

    def second(f: Any) -> Any:
        slope = bindax.grad(lambda x: (f(x) ** 2).sum())
        return lambda x: bindax.vjp(slope, x)[1](w)[0]

    x = w[::-1].copy() / 4
    np.testing.assert_allclose(f[mesh](x), f[mesh.abstract_mesh](x), rtol=1e-5, atol=1e-5)
    wanted = second(f[mesh.abstract_mesh])(x)
    np.testing.assert_allclose(bindax.jit(second(f[mesh]))(x), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("count", [1, 2])
def test_checks_of_functions_on_each_device(count: int) -> None:
    checkify = pytest.importorskip("bindax.experimental.checkify")

    def f(x: Any) -> Any:
        checkify.check(x.sum() > 0, "the sum is {total}", total=x.sum())
        return 2 * x

    run = checkify.checkify(bindax.pmap(f))
    error, out = run(X[1 : count + 1])
    np.testing.assert_array_equal(out, 2 * X[1 : count + 1])
    assert error.get() is None
    error, _ = run(-X[1 : count + 1])
    assert "the sum is -5.75" in error.get()
    only_last = np.ones((count, 8), np.float32)
    only_last[-1] = -2
    assert "the sum is -16.0" in run(only_last)[0].get()


def test_results_lie_as_their_specs_say() -> None:
    mesh = bindax.make_mesh((1, 8), ("x", "y"))
    numbers = np.arange(64.0).reshape(8, 8)
    for spec in (P("x", "y"), P(("y", "x")), P()):
        mapped = bindax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=spec, out_specs=spec)
        found = mapped(numbers)
        assert found.sharding == NamedSharding(mesh, spec)
        np.testing.assert_array_equal(found, 2 * numbers)


def test_arrays_are_put_where_they_lie_under_another_name() -> None:
    mesh = bindax.make_mesh((1, 8), ("x", "y"))
    x = bindax.device_put(np.arange(64.0).reshape(8, 8), NamedSharding(mesh, P(None, "y")))
    for spec in (P("x", "y"), P(None, ("x", "y"))):
        found = bindax.device_put(x, NamedSharding(mesh, spec))
        assert found.sharding.spec == spec
        np.testing.assert_array_equal(found, x)
