"""Compiled functions compute what NumPy computes, for every dtype and every kind of result."""

from __future__ import annotations

import copy
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

from bindax_core import Array, ShapedArray, devices, errors, float0
from bindax_core.extend import ClosedJaxpr, Jaxpr, Var
from bindax_transforms import jit
from bindax_xla_backend.extend import ArgumentError, UnsupportedTypeError

DTYPES = [
    *(np.dtype(code) for code in "?bhilBHILefdFD"),
    *(
        np.dtype(getattr(ml_dtypes, name))
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz")
    ),
    *(np.dtype(getattr(ml_dtypes, name)) for name in ("int2", "int4", "uint4", "float4_e2m1fn")),
]


def same(x, expected):
    """Whether an array has the bits of a NumPy array, and its type."""
    host = np.asarray(x)
    assert host.dtype == expected.dtype
    assert host.shape == expected.shape
    return host.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_dtype(backend, dtype, shape):
    x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    many = np.broadcast_to(x, (20, *shape))
    v, c, d = (Var(ShapedArray(a.shape, a.dtype)) for a in (x, x, many))
    # An argument, the same again, a constant in the program, one beside it (or an empty one).
    program = ClosedJaxpr(Jaxpr([c, d], [v], [v, v, c, d], []), [x, many])
    results = backend.compile(program, name="f")(x)
    assert all(isinstance(r, Array) for r in results)
    assert all(same(r, e) for r, e in zip(results, [x, x, x, many], strict=True))
    assert not any(r.numpy().flags.writeable for r in results)


def test_float0(backend):
    v, w = Var(ShapedArray((2,), float0)), Var(ShapedArray((2,), np.float32))
    run = backend.compile(ClosedJaxpr(Jaxpr([], [v, w], [v, w], [])), name="f")
    first, second = run(np.zeros(2, float0), np.ones(2, np.float32))
    assert first.dtype == float0
    assert same(first, np.zeros(2, float0))
    assert same(second, np.ones(2, np.float32))


def test_unsupported_dtype(backend):
    v = Var(ShapedArray((2,), np.longdouble))
    with pytest.raises(UnsupportedTypeError, match="no element type for the dtype"):
        backend.compile(ClosedJaxpr(Jaxpr([], [v], [v], [])), name="f")


def test_results_stay_on_the_device(ops, backend):
    f = jit(ops.sin)
    y = f(np.ones(3, np.float32))
    assert y.devices() == {backend.device()}
    z = f(y)  # no trip to the host
    assert y._host is None
    np.testing.assert_allclose(z, np.sin(np.sin(np.ones(3))), rtol=1e-6)


def test_zero_arguments_and_no_results(ops):
    assert float(jit(lambda: ops.sin(np.float32(1.0)))()) == pytest.approx(np.sin(1.0))
    assert jit(lambda: ())() == ()
    assert jit(lambda x: None)(1.0) is None


def test_constant_duplicate_and_passed_results(ops):
    table = np.arange(100.0)

    def f(x, unused):
        y = ops.sin(x)
        return y, x, y, table, 3.0

    y, x, again, constant, literal = jit(f)(np.ones(2), np.ones(7))
    np.testing.assert_allclose(y, np.sin(np.ones(2)))
    np.testing.assert_array_equal(again, y)
    np.testing.assert_array_equal(x, np.ones(2))
    np.testing.assert_array_equal(constant, table)
    assert float(literal) == 3.0


def test_nested_jit_is_one_function(ops):
    inner = jit(lambda x: ops.mul(ops.sin(x), x))
    text = jit(lambda x: inner(inner(x))).lower(np.ones(2)).as_text()
    assert text.count("func.func private") == 1
    assert text.count("call @") == 2
    assert text.count("stablehlo.sine") == 1


def test_inline_is_no_function(ops):
    inner = jit(lambda x: ops.mul(ops.sin(x), x), inline=True)
    text = jit(lambda x: inner(inner(x))).lower(np.ones(2)).as_text()
    assert "call" not in text
    assert text.count("stablehlo.sine") == 2


def test_region(ops):
    x = np.arange(6.0).reshape(2, 3)
    assert float(jit(ops.total)(x)) == 15.0


def test_numpy_arguments_are_not_aliased():
    memory = np.zeros(2048, np.uint8)
    start = -memory.ctypes.data % 64  # aligned so that XLA could use it where it is
    x = memory[start : start + 1024].view(np.float32)
    y = jit(lambda x: x)(x)
    x[:] = 7.0
    assert not np.asarray(y).any()


@pytest.mark.parametrize("order", ["F", "negative", "swapped"])
def test_layouts(ops, order):
    x = np.arange(6.0).reshape(2, 3)
    given = {"F": np.asfortranarray(x), "negative": x[::-1, ::-1], "swapped": x.astype(">f8")}
    np.testing.assert_allclose(jit(ops.sin)(given[order]), np.sin(given[order]))


def test_donation(ops):
    f = jit(ops.sin, donate_argnums=0)
    x = jit(lambda x: x)(np.ones(1000, np.float32))
    before = x.numpy()
    y = f(x)
    assert x.is_deleted()
    assert not y.is_deleted()
    assert before[0] == 1.0  # the view outlives the array that it came from
    with pytest.raises(errors.DeletedArrayError, match="deleted or donated"):
        x.numpy()
    with pytest.raises(errors.DeletedArrayError, match="deleted or donated"):
        f(x)
    assert "input_output_alias" in f.lower(y).compile().as_text()


def test_donation_of_a_viewed_bfloat16_array(ops):
    f = jit(ops.sin, donate_argnums=0)
    x = jit(lambda x: x)(np.ones(1000, ml_dtypes.bfloat16))
    before = x.numpy()
    y = f(x)
    assert x.is_deleted()
    del x
    np.asarray(f(y))
    assert (before == 1).all()
    assert not before.flags.writeable


def test_a_donation_that_cannot_be_used_is_reported(ops):
    f = jit(ops.total, donate_argnums=0)
    x = jit(lambda x: x)(np.ones(4))
    expected = (
        r"^Some donated buffers were not usable: .* 0 \(float64\[4\]\) of .* cannot be reused"
    )
    with pytest.warns(UserWarning, match=expected):
        f(x)
    assert not x.is_deleted()


def test_donating_an_operand_that_is_passed_twice(ops):
    f = jit(ops.add, donate_argnums=0)
    x = jit(lambda x: x)(np.ones(4))
    with pytest.raises(ArgumentError, match="is another operand of the same call"):
        f(x, x)


def test_deleted_views_of_small_floats():
    x = jit(lambda x: x)(np.ones(8, ml_dtypes.float8_e5m2))
    view = x.numpy()
    x.delete()
    assert x.is_deleted()
    assert (view == 1).all()


def test_sixteen_threads(ops):
    results: dict[int, np.ndarray] = {}
    barrier = threading.Barrier(16)

    def work(i):
        barrier.wait()
        f = jit(lambda x: ops.mul(ops.sin(x), x))
        x = np.full(3 + i % 4, i, np.float64)
        for _ in range(5):
            x = f(x)
        results[i] = np.asarray(x)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(16):
        x = np.full(3 + i % 4, i, np.float64)
        for _ in range(5):
            x = np.sin(x) * x
        np.testing.assert_allclose(results[i], x, rtol=1e-12)


def test_backend_facts(backend):
    assert (backend.name, backend.platform, backend.host_accessible) == ("xla", "cpu", True)
    assert [device.platform for device in backend.devices()] == ["cpu"]
    buffer = backend.put(np.arange(3))
    backend.block_until_ready(buffer)
    assert same(backend.to_host(buffer, ShapedArray((3,), np.int64)), np.arange(3))
    with pytest.raises(ArgumentError, match="was put on a device as float32"):
        backend.put(np.arange(3), ShapedArray((3,), np.float32))
    backend.delete(buffer)
    assert backend.is_deleted(buffer)
    with pytest.raises(errors.DeletedArrayError, match="deleted or donated"):
        backend.to_host(buffer, ShapedArray((3,), np.int64))
    with pytest.raises(errors.DeletedArrayError, match="deleted or donated"):
        backend.block_until_ready(buffer)


def test_a_device_is_its_own_copy():
    (device,) = devices()
    for copied in (copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))):
        assert copied(device) is device
    sharding = jit(lambda x: x)(np.ones(2)).sharding
    assert pickle.loads(pickle.dumps(sharding)) == sharding
