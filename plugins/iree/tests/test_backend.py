"""The backend gives what others give, or an error that names what it cannot do."""

from __future__ import annotations

import functools
import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax.extend import BackendError, DeletedArrayError
from bindax_iree import CompilationError
from bindax_testing import check_backend

pytestmark = pytest.mark.usefixtures("iree")


def on_iree(function: object) -> object:
    return bindax.jit(function, backend="iree")


def test_transformed_functions() -> None:
    x = np.linspace(0.1, 2, 5)
    slopes = bindax.vmap(bindax.grad(lambda x: bnp.sin(x) * bnp.exp(x)))
    expected = np.cos(x) * np.exp(x) + np.sin(x) * np.exp(x)
    np.testing.assert_allclose(on_iree(slopes)(x), expected, rtol=1e-12)


def test_eager_operations_and_loops() -> None:
    with bindax.config.override(backend="iree"):
        x = bnp.arange(5.0) + 1
        assert float((x * 2).sum()) == 30
        assert repr(x.devices()) == "{IreeDevice('local-task')}"
        total, steps = bindax.lax.scan(lambda c, x: (c + x, c * x), 0.0, x)
        assert float(total) == 15
        np.testing.assert_array_equal(steps, [0, 2, 9, 24, 50])


@pytest.mark.parametrize(
    "dtype",
    [
        *(np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64),
        *(np.uint64, ml_dtypes.bfloat16, np.float16, np.float32, np.float64, np.complex64),
        np.complex128,
    ],
    ids=lambda dtype: np.dtype(dtype).name,
)
def test_dtypes_pass_through(dtype: type) -> None:
    x = np.array([0, 1, 1, 3]).astype(dtype)
    out = on_iree(lambda x: bnp.stack([x, x[::-1]]))(x)
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(out), np.stack([x, x[::-1]]))


def test_empty_arrays() -> None:
    out = on_iree(lambda x: (x + 1, x.sum(0)))(np.zeros((0, 3), np.float32))
    assert [y.shape for y in out] == [(0, 3), (3,)]
    np.testing.assert_array_equal(out[1], np.zeros(3))


def test_random_bits_are_those_of_other_backends() -> None:
    def draw() -> object:
        return bindax.random.bits(bindax.random.key(3), (7,))

    np.testing.assert_array_equal(on_iree(draw)(), bindax.jit(draw, backend="numpy")())


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32])
def test_sorts_keep_the_order_of_equal_elements(dtype: type) -> None:
    x = np.random.default_rng(0).integers(0, 5, 100).astype(dtype)
    order = on_iree(lambda x: bnp.argsort(x, stable=True))(x)
    np.testing.assert_array_equal(order, np.argsort(x, stable=True))
    falling = on_iree(lambda x: bnp.argsort(x, stable=True, descending=True))(x)
    np.testing.assert_array_equal(x[falling], np.sort(x)[::-1])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.float32])
def test_the_greatest_come_with_the_first_places(dtype: type) -> None:
    x = np.random.default_rng(0).integers(0, 4, (3, 20)).astype(dtype)
    x[1, 5:8] = np.nan if dtype is np.float32 else 1
    for axis, k in ((1, 7), (0, 2), (1, 0)):
        top = functools.partial(bindax.lax.top_k, k=k, axis=axis)
        for got, wanted in zip(on_iree(top)(x), bindax.jit(top, backend="numpy")(x), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_programs_divided_among_devices_are_refused() -> None:
    report = check_backend("iree", primitives=["shard_map"], checks=["float32"])
    assert not report.failures, str(report)
    assert "divided among several devices" in report.unsupported["shard_map"]


def test_large_constants_are_operands() -> None:
    table = np.arange(100, dtype=np.float32)
    look_up = on_iree(lambda i: bnp.asarray(table)[i])
    assert float(look_up(7)) == 7
    assert "99" not in look_up.lower(7).as_text().partition("func.func")[2].partition("{")[0]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_indices_out_of_bounds_are_moved_into_bounds(dtype: type) -> None:
    x, at = np.arange(5.0), np.array([-2, -100, 0, 4, 5, 100]).astype(dtype)
    cut = bindax.vmap(lambda i: bindax.lax.dynamic_slice(x, (i,), (1,))[0])
    np.testing.assert_array_equal(on_iree(cut)(at), bindax.jit(cut, backend="numpy")(at))


def test_no_index_changes_nothing() -> None:
    changed = on_iree(lambda x, at: [x.at[at].set(0), x.at[at].multiply(2), x[at]])
    one, other, none = changed(np.arange(3), np.zeros(0, int))
    np.testing.assert_array_equal([one, other], [np.arange(3)] * 2)
    assert none.shape == (0,)


def test_products_of_nothing_are_zero() -> None:
    product = on_iree(lambda x, y: x @ y)
    x, y = np.ones((2, 0), np.float32), np.ones((0, 3), np.float32)
    np.testing.assert_array_equal(product(x, y), np.zeros((2, 3)))


def test_single_elements_are_read_by_several_indices() -> None:
    rows, columns = np.array([[0, 1], [2, 2]]), np.array([[1, 1], [3, 4]])

    def squares(x: Any) -> Any:
        return (x[rows, columns] ** 2).sum()

    x = np.arange(36.0).reshape(6, 6)
    slopes = bindax.grad(squares)
    np.testing.assert_array_equal(on_iree(slopes)(x), bindax.jit(slopes, backend="numpy")(x))


def test_pairs_of_indices_out_of_bounds_are_moved_into_bounds() -> None:
    x, at = np.arange(12.0).reshape(3, 4), np.array([[-5, 1], [2, 9], [7, -1], [1, 2]])
    cut = bindax.vmap(lambda i: bindax.lax.dynamic_slice(x, tuple(i), (1, 2)))
    np.testing.assert_array_equal(on_iree(cut)(at), bindax.jit(cut, backend="numpy")(at))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("mode", ["drop", "clip", "promise_in_bounds"])
def test_updates_out_of_bounds_change_nothing_else(dtype: type, mode: str) -> None:
    at, updates = np.array([-2, -100, 0, 4, 5, 100, 1, 4]).astype(dtype), np.arange(1.0, 9)
    beyond = np.array([[-5, 1], [2, 9], [2, 1], [1, 2]])

    def changed(x: object, y: object) -> list[object]:
        places = bnp.asarray(x).at[at]
        pairs = bnp.asarray(y).at[beyond[:, 0], beyond[:, 1]]
        return [
            *(places.add(updates, mode=mode), places.max(updates, mode=mode)),
            *(pairs.multiply(np.arange(2.0, 6), mode=mode), places.min(-1.0, mode=mode)),
        ]

    operands = np.ones(5), np.arange(12.0).reshape(3, 4)
    wanted = bindax.jit(changed, backend="numpy")(*operands)
    for got, one in zip(on_iree(changed)(*operands), wanted, strict=True):
        np.testing.assert_array_equal(got, one)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.complex64])
def test_numbers_beyond_the_range_of_integers_become_its_ends(dtype: type) -> None:
    x = np.array([1.7, -1.7, -0.5, 300, -300, 1e30, np.inf, -np.inf, np.nan]).astype(dtype)

    def converted(x: object) -> list[object]:
        kinds = (np.int8, np.uint8, np.int32, np.uint64)
        return [bindax.lax.convert_element_type(x, kind) for kind in kinds]

    for got, wanted in zip(
        on_iree(converted)(x), bindax.jit(converted, backend="numpy")(x), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)


def test_logarithms_and_exponentials_near_zero_are_precise() -> None:
    x = np.array([1e-6, -1e-9, -1e-30, 0.0, 0.5, -0.9, 50.0, np.inf, -1.0, np.nan])
    logs, powers = on_iree(lambda x: (bnp.log1p(x), bnp.expm1(x)))(x)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(logs, np.log1p(x), rtol=1e-15)
    np.testing.assert_allclose(powers, np.expm1(x), rtol=1e-15)


def test_results_outlive_programs() -> None:
    kept = np.asarray(on_iree(lambda x: x * 2)(np.arange(1000.0)))
    gc.collect()
    assert kept[999] == 1998
    assert not kept.flags.writeable


def test_deleted_arrays() -> None:
    x = on_iree(lambda x: x * 2)(np.arange(3.0))
    x.delete()
    with pytest.raises(DeletedArrayError):
        np.asarray(x)


def test_threads() -> None:
    double = on_iree(lambda x: x * 2)
    inputs = [np.full(100, i, np.float32) for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for x, y in zip(inputs, pool.map(double, inputs), strict=True):
            np.testing.assert_array_equal(y, 2 * x)


def test_what_it_cannot_compile_is_named() -> None:
    with pytest.raises(CompilationError, match="cannot compile the primitive fft in"):
        on_iree(lambda x: bnp.fft.rfft(x))(np.ones(6, np.float32))
    with pytest.raises(CompilationError, match=r"eigh in .* a function of this process"):
        on_iree(lambda x: bnp.linalg.eigh(x))(np.eye(3, dtype=np.float32))
    with pytest.raises(CompilationError, match="made of add, because IREE has no element type"):
        on_iree(lambda x: x + x)(np.ones(3, ml_dtypes.int4))


def test_special_values_are_right_or_stated_to_differ() -> None:
    chosen = ["cbrt", "log1p", "max"]
    report = check_backend("iree", primitives=chosen, checks=["special values"], time_limit=120.0)
    assert report.ok, str(report)
    assert set(report.differences) == {
        *(f"cbrt {dtype}: special values" for dtype in ("bfloat16", "float16", "float32")),
        "log1p complex64: special values",
    }


def test_the_driver_is_chosen_before_its_first_use() -> None:
    on_iree(lambda x: x)(np.float32(1))
    with (
        pytest.raises(BackendError, match="programs run with 'local-task' since its first use"),
        bindax.config.override(iree_driver="local-sync"),
    ):
        pass


def test_a_forked_process_interprets() -> None:
    program = (
        "import os, warnings, numpy as np, bindax\n"
        "warnings.simplefilter('ignore')\n"
        "f = bindax.jit(lambda x: x + 1, backend='iree')\n"
        "f(np.float32(1))\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    print(float(f(np.float32(2))), flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert (ran.stdout, ran.stderr) == ("3.0\n", "")
