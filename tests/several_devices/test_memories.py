"""Memory kinds, types with shardings, and mapped axes that a mesh divides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import NamedSharding, P, lax
from bindax.memory import Space
from bindax.sharding import SingleDeviceSharding

EIGHT = np.arange(8.0, dtype=np.float32)


def test_the_memories_of_a_device() -> None:
    device = bindax.devices()[0]
    kinds = [memory.kind for memory in device.addressable_memories()]
    assert kinds == ["device", "pinned_host", "unpinned_host"]
    assert device.default_memory() == device.memory("device")
    with pytest.raises(ValueError, match="has no memory of the kind 'disk'; it has 'device', 'pin"):
        device.memory("disk")


@pytest.mark.parametrize("kind", ["pinned_host", "unpinned_host"])
@pytest.mark.parametrize("place", ["mesh", 0, 1])
def test_arrays_in_another_memory(kind: str, place: Any, on: Any) -> None:
    own = on("x") if place == "mesh" else SingleDeviceSharding(bindax.devices()[place])
    other = own.with_memory_kind(kind)
    assert other != own == own.with_memory_kind("device")
    assert own.memory_kind == "device"
    x = bindax.device_put(EIGHT, other)
    assert x.sharding == other
    assert x.sharding.memory_kind == kind
    assert f"memory_kind={kind!r}" in repr(other)
    np.testing.assert_array_equal(x, EIGHT)
    doubled = bindax.jit(lambda x: x * 2)
    for y in (doubled(x), doubled.lower(x).compile()(x), x * 2):
        np.testing.assert_array_equal(y, 2 * EIGHT)
        assert y.sharding.memory_kind == "device"
    back = bindax.device_put(x, own)
    assert back.sharding == own
    np.testing.assert_array_equal(bindax.device_put(back, other), EIGHT)


def test_constraints_move_values_between_memories(on: Any) -> None:
    own = on("x")
    other = own.with_memory_kind("pinned_host")
    there = lax.with_sharding_constraint(bindax.device_put(EIGHT, own), other)
    back = lax.with_sharding_constraint(there, own)
    for x, sharding in ((there, other), (back, own)):
        assert x.sharding == sharding
        np.testing.assert_array_equal(x, EIGHT)


def test_wrong_memories(on: Any) -> None:
    with pytest.raises(
        ValueError, match=r"NamedSharding: memory_kind: .* no memory of the kind 'd'"
    ):
        NamedSharding(on().mesh, P(), memory_kind="d")
    with (
        bindax.config.override(backend="numpy"),
        pytest.raises(ValueError, match="no memory of the kind 'pinned_host'"),
    ):
        bindax.device_put(EIGHT, Space.Host)


@pytest.mark.parametrize("kind", ["pinned_host", "unpinned_host"])
@pytest.mark.parametrize("place", ["mesh", 1])
def test_results_are_left_in_another_memory(kind: str, place: Any, on: Any) -> None:
    own = on("x") if place == "mesh" else SingleDeviceSharding(bindax.devices()[place])
    other = own.with_memory_kind(kind)

    def moved(x: Any) -> Any:
        there = bindax.device_put(2 * x, other)
        return there, bindax.device_put(there, own), there + x

    results = bindax.jit(moved)(EIGHT)
    assert [x.sharding.memory_kind for x in results] == [kind, "device", "device"]
    for factor, x in zip((2, 2, 3), results, strict=True):
        np.testing.assert_array_equal(x, factor * EIGHT)
    asked = bindax.jit(lambda x: x + 1, in_shardings=other, out_shardings=other)
    assert asked(EIGHT).sharding == other == asked(bindax.device_put(EIGHT, other)).sharding
    assert asked.lower(EIGHT).compile().output_shardings == other
    assert bindax.jit(bindax.vmap(moved))(EIGHT.reshape(2, 4))[0].sharding.memory_kind == kind
    slope = bindax.jit(bindax.grad(lambda x: moved(x)[1].sum()))(EIGHT)
    np.testing.assert_array_equal(slope, np.full(8, 2.0))


def test_another_memory_of_the_same_devices(on: Any) -> None:
    x = bindax.device_put(EIGHT, on("x"))
    kept = bindax.device_put(x, Space.Host)
    assert kept.sharding == on("x").with_memory_kind("pinned_host")
    assert bindax.device_put(kept, Space.Device).sharding == on("x")
    halves = bindax.jit(lambda x: [bindax.device_put(x / 2, space) for space in Space])(kept)
    assert [half.sharding.memory_kind for half in halves] == ["device", "pinned_host"]
    with pytest.warns(UserWarning, match="cannot be reused"):
        bindax.jit(lambda x: bindax.device_put(x + 1, Space.Host), donate_argnums=0)(x)


def test_memories_of_results_in_the_text_of_a_program() -> None:
    closed = bindax.make_jaxpr(lambda x: bindax.device_put(x, Space.Host))(EIGHT)
    text = bindax.jaxpr_to_text(closed)
    assert bindax.jaxpr_to_text(bindax.jaxpr_from_text(text)) == text


def test_types_with_shardings(on: Any) -> None:
    kind = bindax.ShapeDtypeStruct((8, 2), np.float32, sharding=on("x"))
    assert kind.sharding == on("x")
    assert "sharding=NamedSharding" in repr(kind)
    compiled = bindax.jit(lambda x: x * 2).lower(kind).compile()
    assert compiled.input_shardings == ((on("x"),), {})
    assert compiled(np.ones((8, 2), np.float32)).sharding == on("x")
    assert bindax.eval_shape(lambda x: x, kind) == bindax.ShapeDtypeStruct((8, 2), np.float32)
    wrong = bindax.device_put(np.ones((8, 2), np.float32), bindax.devices()[1])
    with pytest.raises(bindax.errors.PlacementError, match="was compiled for it on NamedSharding"):
        compiled(wrong)
    with pytest.raises(ValueError, match="of size 7 cannot be divided into 4 equal parts"):
        bindax.jit(lambda x: x).lower(kind.update(shape=(7,), sharding=on("x")))


def test_device_put_says_where_from() -> None:
    one, two = bindax.devices()[:2]
    assert bindax.device_put(EIGHT, two, src=one).device is two
    with pytest.raises(ValueError, match=r"device_put: src must be one of bindax.devices"):
        bindax.device_put(EIGHT, two, src=0)


def test_a_mapped_axis_on_a_mesh(on: Any) -> None:
    x = np.arange(32.0, dtype=np.float32).reshape(4, 8)

    def laid(row: Any) -> Any:
        return lax.with_sharding_constraint(row, on("y"))

    assert bindax.jit(bindax.vmap(laid, spmd_axis_name="x"))(x).sharding == on("x", "y")
    moved = bindax.vmap(laid, 1, 1, spmd_axis_name="x")
    assert bindax.jit(moved)(x.T).sharding == on("y", "x")
    with pytest.raises(ValueError, match="the mesh axis 'y' divides the mapped axis"):
        bindax.vmap(laid, spmd_axis_name="y")(x)


def test_shard_map_of_a_mapped_axis_on_a_mesh(mesh: Any, on: Any) -> None:
    x = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    shares = bindax.shard_map(
        lambda x: x * lax.psum(x, "y"), mesh=mesh, in_specs=P("y"), out_specs=P("y")
    )
    divided, whole = (bindax.vmap(shares, spmd_axis_name=name) for name in ("x", None))
    out = bindax.jit(divided)(x)
    assert out.sharding == on("x", "y")
    np.testing.assert_allclose(out, whole(x), rtol=1e-6)
    slopes = [
        bindax.jit(bindax.grad(lambda x, f=f: (f(x) ** 2).sum()))(x) for f in (divided, whole)
    ]
    np.testing.assert_allclose(*slopes, rtol=1e-5)
    with pytest.raises(ValueError, match="spmd_axis_name cannot appear in the in_specs"):
        bindax.vmap(shares, spmd_axis_name="y")(x)
    with pytest.raises(ValueError, match="the axis has the size 3"):
        bindax.vmap(shares, spmd_axis_name="x")(x[:3])
    with pytest.raises(ValueError, match="the axis has the name 'n'"):
        bindax.vmap(shares, axis_name="n", spmd_axis_name="x")(x)
