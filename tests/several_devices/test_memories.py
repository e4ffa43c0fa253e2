"""Memory kinds, types with shardings, and mapped axes that a mesh divides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import NamedSharding, P, lax
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


def test_wrong_memories(on: Any) -> None:
    with pytest.raises(
        ValueError, match=r"NamedSharding: memory_kind: .* no memory of the kind 'd'"
    ):
        NamedSharding(on().mesh, P(), memory_kind="d")
    host = on("x").with_memory_kind("pinned_host")
    with pytest.raises(ValueError, match="asked for inside of a program"):
        bindax.jit(lambda x: x, out_shardings=host)(EIGHT)


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
        bindax.jit(lambda x: x).lower(kind.update(shape=(7,)))


def test_device_put_says_where_from() -> None:
    one, two = bindax.devices()[:2]
    assert bindax.device_put(EIGHT, two, src=one).device is two
    with pytest.raises(TypeError, match=r"device_put: src must be one of bindax.devices"):
        bindax.device_put(EIGHT, two, src=0)


def test_a_mapped_axis_on_a_mesh(on: Any) -> None:
    x = np.arange(32.0, dtype=np.float32).reshape(4, 8)

    def laid(row: Any) -> Any:
        return lax.with_sharding_constraint(row, on("y"))

    assert bindax.jit(bindax.vmap(laid, spmd_axis_name="x"))(x).sharding == on("x", "y")
    moved = bindax.vmap(laid, 1, 1, spmd_axis_name="x")
    assert bindax.jit(moved)(x.T).sharding == on("y", "x")
    with pytest.raises(ValueError, match="spmd_axis_name has 'y', but P"):
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
    with pytest.raises(ValueError, match="divide by that mesh axis already"):
        bindax.vmap(shares, spmd_axis_name="y")(x)
    with pytest.raises(ValueError, match="the axis has the size 3"):
        bindax.vmap(shares, spmd_axis_name="x")(x[:3])
    with pytest.raises(ValueError, match="the axis has the name 'n'"):
        bindax.vmap(shares, axis_name="n", spmd_axis_name="x")(x)
