"""A backend with two devices, made of the public doors: what arrays ask of any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
from bindax_core.extend import (
    as_array,
    default_placement,
    eval_jaxpr,
    register_backend,
    sharding_of,
    typeof,
    unregister_backend,
)
from bindax_core.sharding import NamedSharding, P, SingleDeviceSharding, make_mesh

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@dataclass(frozen=True)
class Half:
    """A pretended device, whose memory is a NumPy array for each buffer."""

    id: int
    platform: str = "pretended"


class HalfPlace:
    """Parts by device: buffers are dicts."""

    host_accessible = False

    def __init__(self, backend: Any, sharding: Any, committed: bool) -> None:
        self.backend, self.sharding, self.committed = backend, sharding, committed
        self.name = backend.name

    def put(self, array: Any, aval: Any, *, copy: bool = True) -> Any:
        self.sharding.check(aval.shape, "the array")
        return {d: array[i] for d, i in self.sharding.devices_indices_map(aval.shape).items()}

    def assemble(self, aval: Any, buffers: Sequence[Any]) -> Any:
        given = [x if isinstance(x, np.ndarray) else next(iter(x.values())) for x in buffers]
        return dict(zip(self.sharding.device_assignment, given, strict=True))

    def shards(self, buffer: Any) -> list[tuple[Any, Any]]:
        return [(device, {device: part}) for device, part in buffer.items()]

    def to_host(self, buffer: Any, aval: Any) -> Any:
        whole = np.empty(aval.shape, aval.dtype)
        for device, index in self.sharding.devices_indices_map(aval.shape).items():
            whole[index] = buffer[device]
        return whole

    def copy(self, buffer: Any, aval: Any) -> Any:
        return dict(buffer)

    def delete(self, buffer: Any) -> None:
        buffer.clear()

    def is_deleted(self, buffer: Any) -> bool:
        return not buffer

    def block_until_ready(self, buffer: Any) -> None:
        return


class Halves:
    """Evaluates programs, and remembers where it was told that operands are."""

    name = "halves"
    priority = -1
    platform = "pretended"
    host_accessible = False

    def __init__(self) -> None:
        self.told: list[Any] = []
        self._devices = [Half(0), Half(1)]
        self._places: dict[Any, HalfPlace] = {}

    def devices(self) -> list[Half]:
        return self._devices

    def place(self, sharding: Any, *, committed: bool = True) -> HalfPlace:
        key = (sharding, committed)
        return self._places.setdefault(key, HalfPlace(self, sharding, committed))

    def put(self, array: Any, aval: Any, device: Any = None) -> Any:
        return array

    def to_host(self, buffer: Any, aval: Any) -> Any:
        return buffer

    def compile(self, jaxpr: Any, *, in_shardings: Any = None, **options: Any) -> Any:
        self.told.append(in_shardings)

        def run(*operands: Any) -> list[Any]:
            values = [np.asarray(x) for x in operands]
            with bx.config.override(backend="numpy"):
                return [as_array(x) for x in eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *values)]

        return run


@pytest.fixture
def halves() -> Iterator[Halves]:
    backend: Any = Halves()
    register_backend(backend)
    with bx.config.override(backend="halves"):
        yield backend
    unregister_backend(backend)


def test_arrays_in_parts(halves: Halves) -> None:
    rows = NamedSharding(make_mesh((2,), ("rows",)), P("rows"))
    x = bx.device_put(X, rows)
    assert x.sharding is rows
    assert x.committed
    assert [s.device.id for s in x.addressable_shards] == [0, 1]
    np.testing.assert_array_equal(x.addressable_shards[1].data, X[1:])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(x.copy(), X)
    one = bx.device_put(x, bx.devices()[1])
    assert one.device.id == 1
    np.testing.assert_array_equal(one, X)
    with pytest.raises(ValueError, match="axis 0 of size 3 cannot be divided into 2 equal parts"):
        bx.device_put(X.T, rows)
    x.delete()
    with pytest.raises(RuntimeError, match="was used after it was deleted"):
        np.asarray(x)


def test_arrays_are_made_of_parts(halves: Halves) -> None:
    pytest.importorskip("bindax_parallel")
    rows = NamedSharding(make_mesh((2,), ("rows",)), P("rows"))
    parts = [shard.data for shard in bx.device_put(X, rows).addressable_shards]
    again = bx.make_array_from_single_device_arrays((2, 3), rows, parts)
    np.testing.assert_array_equal(again, X)


def test_the_placement_of_an_array_is_never_the_backend(halves: Halves) -> None:
    aval = typeof(X)
    x = bx.Array.from_buffer(aval, X, halves)  # as plugin API 1 names the owner of a buffer
    assert x.placement is default_placement(halves)
    assert x.placement.backend is x.place is halves
    assert not x.committed
    assert x.buffer_on(halves) is X
    assert sharding_of(halves) == x.sharding == SingleDeviceSharding(bx.devices()[0])
    assert bx.Array.from_numpy(X).placement is None
    y = bx.device_put(X, bx.devices()[1])
    assert y.placement is y.place is halves.place(y.sharding)
    assert bx.Array.from_buffer(aval, {}, y.placement).placement is y.placement


def test_programs_are_told_where_operands_are(halves: Halves) -> None:
    lax = pytest.importorskip("bindax_lax_basic")
    transforms = pytest.importorskip("bindax_transforms")
    x = bx.device_put(X, SingleDeviceSharding(bx.devices()[1]))
    y = lax.add(x, X)
    assert halves.told == [[x.sharding, None]]
    np.testing.assert_array_equal(y, X + X)
    np.testing.assert_array_equal(transforms.jit(lax.neg)(x), -X)
    assert halves.told[1:] == [[x.sharding]]
    assert typeof(y).shape == (2, 3)


def test_printing_brings_no_huge_array_to_the_host(halves: Halves, monkeypatch: Any) -> None:
    first = halves.place(SingleDeviceSharding(halves.devices()[0]))
    aval = bx.ShapedArray((2**28 + 1,), np.int8)
    huge = bx.Array.from_buffer(aval, {halves.devices()[0]: np.empty(0)}, first)
    monkeypatch.setattr(HalfPlace, "to_host", None)
    assert repr(huge) == str(huge) == f"Array(shape=({2**28 + 1},), dtype=int8)"


def test_the_text_of_a_spec_by_jax_s_conventions_is_that_of_a_tuple():
    specs = [
        P("x"),
        P("x", None),
        P(),
        P(("x", "y")),
    ]
    assert repr(specs) == "[P('x'), P('x', None), P(), P(('x', 'y'))]"
    with bx.config.override(conventions="jax"):
        assert repr(specs) == "[P('x',), P('x', None), P(), P(('x', 'y'),)]"
        assert repr(P("x", unreduced={"y"})) == "P('x', unreduced={'y'})"
        assert repr(P(unreduced={"y"})) == "P(unreduced={'y'})"
