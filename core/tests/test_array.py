"""The array value: printing, conversion, immutability, pickling."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import bindax_core as bx
from bindax_core import Array, ShapedArray, config, typeof
from bindax_core.errors import AbstractionError


def array(*values: float, dtype: object = np.float32) -> Array:
    return Array.from_numpy(np.array(values, dtype))


def test_prints() -> None:
    assert repr(array(0.0, 0.0)) == "Array([0., 0.], dtype=float32)"
    assert repr(Array.from_numpy(np.int32(3))) == "Array(3, dtype=int32)"
    for n in (1, 11, 12, 13, 40):  # lines break as NumPy's
        plain = np.arange(n, dtype=np.float32)
        assert repr(Array.from_numpy(plain)) == repr(plain).replace("array", "Array")
    weak = Array(ShapedArray((), np.float64, weak_type=True), np.asarray(2.5))
    assert repr(weak) == "Array(2.5, dtype=float64, weak_type=True)"
    assert str(weak) == "2.5"
    assert f"{weak:.2f}" == "2.50"
    assert repr(Array.from_numpy(np.zeros((0, 2)))) == "Array([], shape=(0, 2), dtype=float64)"
    assert repr(Array.from_numpy(np.zeros(2, bx.float0))) == "Array(shape=(2,), dtype=float0)"


def test_converts() -> None:
    scalar = Array.from_numpy(np.float32(3.0))
    assert float(scalar) == 3.0
    assert int(scalar) == 3
    assert bool(scalar)
    assert complex(scalar) == 3
    assert scalar.item() == 3.0
    x = array(3.0)
    assert x.tolist() == [3.0]
    assert len(x) == 1
    assert list(range(4))[Array.from_numpy(np.int32(2))] == 2
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(x, np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.from_dlpack(x), [3.0])
    with pytest.raises(TypeError, match=r"len\(\) of an array without axes"):
        len(Array.from_numpy(np.float32(1.0)))
    with pytest.raises(ValueError, match=r"needs a copy|Unable to avoid copy"):  # or NumPy's words
        np.asarray(x, np.float64, copy=False)


def test_is_immutable() -> None:
    x = array(1.0, 2.0)
    with pytest.raises(TypeError, match=r"arrays are immutable, so x\[i\] = y is not possible"):
        x[0] = 3.0
    with pytest.raises(ValueError, match=r"read-only"):
        np.asarray(x)[0] = 3.0
    with pytest.raises(TypeError, match=r"unhashable"):
        hash(x)


def test_copies_and_pickles() -> None:
    weak = Array(ShapedArray((1,), np.float32, weak_type=True), np.ones(1, np.float32))
    again = pickle.loads(pickle.dumps(weak))
    assert again.aval is weak.aval
    np.testing.assert_array_equal(again, weak)
    for copied in (copy.deepcopy(weak), copy.copy(weak), weak.copy()):
        assert copied.aval is weak.aval
        copied.delete()
    np.testing.assert_array_equal(again, weak)
    assert np.array(weak, copy=True) is not weak.numpy()


def test_describes_itself() -> None:
    x = array(1.0, 2.0)
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes) == ((2,), 1, 2, 4, 8)
    assert x.on_host
    assert not x.is_deleted()
    assert x.devices() == {x.device} == x.sharding.device_set
    assert x.block_until_ready() is x
    assert bx.typeof(x) is ShapedArray((2,), np.float32)
    big_endian = Array.from_numpy(np.arange(3, dtype=">f4"))
    assert big_endian.dtype == np.dtype("float32")
    assert big_endian.dtype.isnative


def test_moves_on_request() -> None:
    with bx.config.override(backend="numpy"):
        x = bx.device_put({"a": 1.5, "b": np.ones(2)})
        assert isinstance(x["a"], Array)
        assert x["a"].weak_type
        assert bx.device_get(x)["a"] == 1.5
        assert isinstance(bx.device_get(x)["a"], np.ndarray)
        plain = [1, 2.0, True, "a", None]
        assert all(new is old for new, old in zip(bx.device_get(plain), plain, strict=True))
        assert bx.block_until_ready(x) is x
        assert bx.default_backend() == "numpy"
        assert repr(bx.devices()) == "[HostDevice()]"


def test_types_are_interned_and_immutable() -> None:
    aval = ShapedArray((3,), np.float32)
    assert ShapedArray((3,), "float32") is aval
    assert ShapedArray((np.int64(3),), np.float32) == aval  # type: ignore[arg-type]
    assert hash(aval) == hash(ShapedArray((3,), np.float32))
    assert aval != ShapedArray((3,), np.float32, weak_type=True)
    assert pickle.loads(pickle.dumps(aval)) is aval
    assert aval.update(shape=(2,)).str_short() == "float32[2]"
    assert ShapedArray((), np.int32).tangent_aval().dtype == bx.float0
    with pytest.raises(AttributeError, match=r"ShapedArray is immutable; use .update"):
        aval.shape = (4,)


def test_printing_stays_short_whatever_the_size():
    assert len(repr(Array.from_numpy(np.zeros(10_000_000, np.int8)))) < 100
    many_axes = Array.from_numpy(np.zeros((2,) * 15, np.int8))
    assert repr(many_axes) == str(many_axes) == f"Array(shape={(2,) * 15}, dtype=int8)"
    with np.printoptions(threshold=2**15):
        assert len(repr(many_axes)) > 2**15
    given_away = Array.from_numpy(np.zeros(3, np.int8))
    given_away.delete()
    assert repr(given_away) == str(given_away) == "Array(shape=(3,), dtype=int8, deleted)"


def test_types_of_numpy_arrays_that_were_met_before_are_the_same():
    for _ in range(2):
        assert typeof(np.zeros((2, 3), ">f4")) is ShapedArray((2, 3), np.float32)
        assert typeof(np.zeros((2, 3), "<f4")) is ShapedArray((2, 3), np.float32)
        assert typeof(np.int8(3)) is ShapedArray((), np.int8)
        for dtype in ("U2", "S1", "M8[s]", object):
            with pytest.raises(AbstractionError, match="not a legal operand: only booleans and"):
                typeof(np.zeros(2, dtype))
        with config.override(enable_x64=False):
            assert typeof(np.zeros(2)) is ShapedArray((2,), np.float32)
        assert typeof(np.zeros(2)) is ShapedArray((2,), np.float64)
