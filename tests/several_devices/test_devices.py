"""Devices, and arrays on one or several of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import NamedSharding, P
from bindax.sharding import Mesh, SingleDeviceSharding


def test_counts() -> None:
    devices = bindax.devices()
    assert [device.id for device in devices] == list(range(8))
    assert bindax.local_devices() == bindax.devices("cpu")[:0] + devices
    assert bindax.device_count() == bindax.local_device_count() == 8
    assert (bindax.process_index(), bindax.process_count()) == (0, 1)
    assert devices[3].platform == "cpu"
    assert devices[3].process_index == 0
    assert isinstance(devices[3].device_kind, str)
    with pytest.raises(TypeError, match=r"process_index must be an integer, but it is 'a'\.$"):
        bindax.local_devices("a")
    with pytest.raises(ValueError, match="process_index=1 is not one of the 1 processes"):
        bindax.local_devices(1)


def test_an_array_on_one_device(numbers: Any) -> None:
    third = bindax.devices()[3]
    x = bindax.device_put(numbers, third)
    assert x.device is third
    assert x.devices() == {third}
    assert x.committed
    assert x.sharding == SingleDeviceSharding(third)
    y = bindax.jit(lambda x: x + 1)(x)
    assert y.device is third
    assert y.committed
    z = (x + 1) * 2  # one operation after the other
    assert z.device is third
    np.testing.assert_array_equal(z, (numbers + 1) * 2)
    other = bindax.device_put(numbers, bindax.devices()[4])
    with pytest.raises(
        ValueError, match=r"argument args\[0\] of add .* ids \[3\] .* and argument arg"
    ):
        bindax.jit(jnp.add)(x, other)
    with pytest.raises(
        ValueError, match=r"argument 0 of .* ids \[3\] .* argument a\[0\]\['u'\] of"
    ):
        bindax.jit(lambda *a: x + a[0]["u"])({"u": other})


def test_what_is_bound_to_nothing_moves(numbers: Any) -> None:
    x = bindax.device_put(numbers)
    assert not x.committed
    assert x.device is bindax.devices()[0]
    add = bindax.jit(jnp.add)
    there = bindax.device_put(numbers, bindax.devices()[5])
    for given in (x, numbers, jnp.asarray(numbers)):
        assert add(given, there).device is bindax.devices()[5]
        assert add(given, given).device is bindax.devices()[0]
    assert not add(x, x).committed


def test_default_device(numbers: Any) -> None:
    double = bindax.jit(lambda x: x * 2)
    with bindax.default_device(bindax.devices()[2]):
        y = double(numbers)
        assert y.device is bindax.devices()[2]
        assert not y.committed
        assert jnp.asarray(numbers).device is bindax.devices()[2]
        put = bindax.device_put(numbers)
        assert put.device is bindax.devices()[2]
        assert not put.committed
    assert double(y).device is bindax.devices()[0]
    np.testing.assert_array_equal(double(y), numbers * 4)
    with pytest.raises(
        ValueError, match=r"default_device: device must be one of bindax.devices\(\)"
    ):
        bindax.default_device("cpu")


def test_shards(on: Any, mesh: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("y", None))
    assert x.sharding == on("y", None)
    assert x.device == x.sharding
    assert not x.is_fully_replicated
    assert x.is_fully_addressable
    assert bindax.device_put(numbers, on()).is_fully_replicated
    shards = x.addressable_shards
    assert [s.device for s in shards] == list(mesh.devices.flat)
    assert [s.replica_id for s in shards] == [0, 0, 1, 1, 2, 2, 3, 3]
    for shard in shards:
        assert shard.data.device is shard.device
        np.testing.assert_array_equal(shard.data, numbers[shard.index])
    assert len(x.global_shards) == 8
    assert x.addressable_data(1).shape == (4, 8)
    x.copy_to_host_async()
    np.testing.assert_array_equal(x, numbers)
    np.testing.assert_array_equal(bindax.device_get(x), numbers)
    copied = x.copy()
    x.delete()
    np.testing.assert_array_equal(copied, numbers)
    assert copied.sharding == on("y", None)
    with pytest.raises(RuntimeError, match="was deleted"):
        np.asarray(x)


@pytest.mark.parametrize("dtype", ["bool", "int4", "bfloat16", "complex64"])
def test_dtypes(on: Any, numbers: Any, dtype: str) -> None:
    x = jnp.asarray(numbers * 7).astype(dtype)
    put = bindax.device_put(x, on("x", "y"))
    np.testing.assert_array_equal(np.asarray(put), np.asarray(x))
    np.testing.assert_array_equal(
        np.asarray(put.addressable_shards[3].data), np.asarray(x)[2:4, 4:]
    )


def test_keys_and_trees(on: Any) -> None:
    keys = bindax.random.split(bindax.random.key(0), 8)
    draw = bindax.jit(bindax.vmap(lambda key: bindax.random.normal(key, (2,))))
    put = bindax.device_put({"keys": keys, "x": np.ones(4)}, {"keys": on("x"), "x": on()})
    assert put["keys"].sharding.spec == P("x")
    assert put["x"].sharding.spec == P()
    np.testing.assert_allclose(draw(put["keys"]), draw(keys), rtol=1e-6)


def test_moves(on: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("x", "y"))
    for sharding in (on(None, "x"), bindax.devices()[1]):
        y = bindax.device_put(x, sharding)
        np.testing.assert_array_equal(y, numbers)
        assert bindax.device_put(y, sharding) is y
        assert bindax.device_put(y, sharding, may_alias=False) is not y
        assert bindax.device_put(y) is y
        assert bindax.device_put(y, may_alias=False) is not y
        with pytest.raises(ValueError, match="may_alias and donate cannot be True"):
            bindax.device_put(y, may_alias=True, donate=True)
    one = bindax.device_put(numbers, bindax.devices()[1])
    for device in (bindax.devices()[2], bindax.devices()[1]):
        there = bindax.device_put(one, device, may_alias=False)
        assert there.device is device
        np.testing.assert_array_equal(there, numbers)
    z = bindax.device_put(x, on("y"), donate=True)
    assert x.is_deleted()
    assert z.sharding.spec == P("y")


def test_arrays_like_one_are_where_it_is(numbers: Any) -> None:
    last = bindax.devices()[-1]
    x = bindax.device_put(numbers, last)
    for function in (jnp.zeros_like, jnp.ones_like, jnp.empty_like):
        assert function(x).devices() == function(numbers, device=last).devices() == {last}
    assert jnp.full_like(x, 2.0).sharding == x.sharding
    assert (jnp.zeros_like(x) + x).devices() == {last}


def test_arrays_of_parts(on: Any, numbers: Any) -> None:
    for spec, parts in ((("x", "y"), 8), (("y",), 2), ((), 1), ((None, ("y", "x")), 8)):
        asked: list[Any] = []

        def part(index: Any, asked: list[Any] = asked) -> Any:
            asked.append(index)
            return numbers[index]

        x = bindax.make_array_from_callback((8, 8), on(*spec), part)
        assert len(asked) == parts
        assert x.sharding == on(*spec)
        pieces = [shard.data for shard in x.addressable_shards]
        y = bindax.make_array_from_single_device_arrays((8, 8), on(*spec), pieces[::-1])
        z = bindax.make_array_from_process_local_data(on(*spec), numbers)
        for made in (x, y, z):
            np.testing.assert_array_equal(made, numbers)


def test_random_keys_in_parts(on: Any) -> None:
    keys = bindax.random.split(bindax.random.key(0), 8)
    x = bindax.make_array_from_callback((8,), on("x"), lambda index: keys[index])
    assert (x.dtype, x.sharding) == (keys.dtype, on("x"))
    pieces = [shard.data for shard in x.addressable_shards]
    y = bindax.make_array_from_single_device_arrays((8,), on("x"), pieces)
    for made in (x, y):
        np.testing.assert_array_equal(bindax.random.key_data(made), bindax.random.key_data(keys))


def test_arrays_like_a_bound_one_lie_where_it_does(on: Any, numbers: Any) -> None:
    for sharding in (on("x"), SingleDeviceSharding(bindax.devices()[-1])):
        x = bindax.device_put(numbers, sharding)
        for like in (bindax.lax.full_like, jnp.full_like):
            made = like(x, 2)
            assert made.committed
            assert made.sharding == sharding
    assert not bindax.lax.full_like(numbers, 2).committed


def test_wrong_parts(on: Any, numbers: Any) -> None:
    x = bindax.device_put(numbers, on("x"))
    pieces = [shard.data for shard in x.addressable_shards]
    make = bindax.make_array_from_single_device_arrays
    with pytest.raises(ValueError, match=r"\(7 arrays\), but the sharding needs one on each"):
        make((8, 8), on("x"), pieces[:-1])
    with pytest.raises(ValueError, match=r"part 0 has shape \(2, 8\) and dtype float32, but the"):
        make((8, 8), on("x", "y"), pieces)
    with pytest.raises(ValueError, match=r"arrays\[0\] must be an array on one device"):
        make((8, 8), on("x"), [x] * 8)
    with pytest.raises(ValueError, match=r"takes parts of shape \(2, 8\) and dtype float64"):
        bindax.make_array_from_callback((8, 8), on("x"), lambda i: numbers[i], dtype=np.float64)
    with pytest.raises(ValueError, match=r"local_data has shape .* but along axis 0 the devices"):
        bindax.make_array_from_process_local_data(on("x"), numbers[:3], (8, 8))


def test_a_fresh_order_of_devices(numbers: Any) -> None:
    backwards = Mesh(np.array(bindax.devices())[::-1], "d")
    x = bindax.device_put(numbers, NamedSharding(backwards, P("d")))
    np.testing.assert_array_equal(x, numbers)
    y = bindax.jit(lambda x: x @ x.T)(x)
    np.testing.assert_allclose(y, numbers @ numbers.T, rtol=1e-5)
    assert y.sharding == NamedSharding(backwards, P("d"))
    np.testing.assert_array_equal(x.addressable_shards[0].data, numbers[:1])
    assert x.addressable_shards[0].device.id == 7


def test_pickles(mesh: Any, on: Any, numbers: Any) -> None:
    for value in (mesh, on("x", None), P("x", None, ("y", "z")), P(P.UNCONSTRAINED)):
        assert pickle.loads(pickle.dumps(value)) == value
    x = bindax.device_put(numbers, on("x"))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), numbers)
