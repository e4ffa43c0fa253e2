"""Large arrays are computed in parts on several cores, and summed by products with ones."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_core import config
from bindax_core.extend import Array, as_array
from bindax_lax_basic import _large_arrays, division, rounding, selection

SIZE = 3 * _large_arrays._PART + 5
REAL = ("cbrt", "erf", "lgamma")
FUNCTIONS = (
    *REAL,
    *("exp", "exp2", "log", "log1p", "logistic"),
    *("sin", "cos", "tan", "tanh", "atan"),
    *("sqrt", "rsqrt", "sign"),
)

BY_PARTS = (
    *("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "log"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
)
MOST = 8
"""Units of the last digit: two of each real function, which the tangent multiplies four times."""


@pytest.fixture
def three_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(_large_arrays, "cores", lambda: 3)
    _large_arrays._workers.cache_clear()
    yield
    _large_arrays._workers.cache_clear()


def numbers(dtype: Any, size: int = SIZE) -> Any:
    return np.random.default_rng(0).normal(size=size).astype(dtype)


def evaluated(function: Any, x: Any) -> Any:
    with config.override(backend="numpy"):
        return function(x)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in FUNCTIONS
        for dtype in ("float16", "float32", "float64", "complex64", "complex128")
        if name not in REAL or dtype.startswith("float")
    ],
)
def test_parts_are_those_of_the_whole(three_cores: None, name: str, dtype: str) -> None:
    function = partial(evaluated, getattr(lax, name))
    x = np.abs(numbers(dtype)).astype(dtype)
    out = function(Array.from_numpy(x))

    assert out.dtype == dtype
    pieces = [function(piece) for piece in np.array_split(x, 8)]
    if name in (*BY_PARTS, "log1p") and dtype.startswith("complex"):
        assert units_off(out.numpy(), np.concatenate(pieces)) <= MOST
    else:
        np.testing.assert_array_equal(out, np.concatenate(pieces))


def units_off(found: Any, expected: Any) -> float:
    """How far the parts of complex numbers are off, in units of their last digits."""
    parts = found.real.dtype
    found, expected = found.reshape(-1).view(parts), expected.reshape(-1).view(parts)
    return float(np.max(np.abs(found - expected) / np.spacing(np.abs(expected))))


@pytest.mark.parametrize("name", BY_PARTS)
def test_functions_of_many_complex_numbers(name: str) -> None:
    rng = np.random.default_rng(2)
    shape = (2, _large_arrays.LARGE)
    for scale in (1e-3, 1.0, 10.0 ** rng.uniform(-30, 1.5, shape)):
        a, b = rng.normal(size=shape) * scale
        x = (a + 1j * b).astype(np.complex64)
        with config.override(backend="numpy"):
            out = getattr(lax, name)(x).numpy()
        expected = getattr(np, name)(x.astype(complex))
        large = (np.abs(expected.real) > 1e-37) & (np.abs(expected.imag) > 1e-37)
        large &= np.abs(expected) < 1e38
        assert large.sum() > 1000
        assert units_off(out[large], expected[large].astype(np.complex64)) <= MOST


def test_log1p_of_many_complex_numbers() -> None:
    rng = np.random.default_rng(3)
    for scale in (1e-3, 1.0, 10.0 ** rng.uniform(-3, 1, _large_arrays.LARGE)):
        a, b = rng.normal(size=(2, _large_arrays.LARGE)) * scale
        x = (a + 1j * b).astype(np.complex64)
        with config.override(backend="numpy"):
            out = lax.log1p(x).numpy()
        expected = np.log1p(x.astype(complex))  # whose real part may be a difference: not exact
        assert np.all(np.abs(out - expected) <= np.finfo(np.float32).eps * np.abs(expected))


@pytest.mark.parametrize("name", [*BY_PARTS, "log1p"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_many_special_complex_numbers(name: str, dtype: Any) -> None:
    special = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3, -3, 50, 100, -100, 710, -710, 1e30]
    x = np.empty((len(special), len(special)), dtype)
    x.real, x.imag = np.meshgrid(special, special)
    with config.override(backend="numpy"):
        expected = getattr(lax, name)(x).numpy().view(x.real.dtype)
        many = getattr(lax, name)(np.resize(x, _large_arrays.LARGE + x.size)).numpy()
    out = many[: x.size].reshape(x.shape).view(x.real.dtype)

    np.testing.assert_allclose(out, expected, rtol=8 * np.finfo(dtype).eps)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out)[known], np.signbit(expected)[known])


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.complex64])
def test_accumulations_in_parts(three_cores: None, name: str, dtype: Any) -> None:
    ufunc = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 4, SIZE) if name != "cumprod" else rng.choice([-1, 1], SIZE)
    x = x.astype(dtype)  # what is computed of these is exact, in any order

    for layout in (x, x[::-1], np.repeat(x, 2)[::2]):
        for reverse in (False, True):
            source = np.flip(layout) if reverse else layout
            expected = ufunc[name].accumulate(source, 0, dtype)
            expected = np.flip(expected) if reverse else expected
            np.testing.assert_array_equal(getattr(lax, name)(layout, reverse=reverse), expected)


def test_accumulations_do_not_depend_on_the_number_of_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.abs(numbers(np.float32))
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(_large_arrays, "cores", lambda count=count: count)
        _large_arrays._workers.cache_clear()
        results.append(lax.cumsum(x).numpy())
    _large_arrays._workers.cache_clear()

    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    assert (np.diff(results[0]) >= 0).all()
    np.testing.assert_allclose(results[0], np.cumsum(x, dtype=np.float64), rtol=2e-5)
    x[1000] = np.nan
    assert np.isfinite(lax.cumsum(x)[:1000]).all()
    assert np.isnan(lax.cumsum(x)[1000:]).all()


@pytest.mark.parametrize("name", ["cumsum", "cummax"])
@pytest.mark.parametrize("rest", range(6))
def test_accumulations_of_any_length(name: str, rest: int) -> None:
    accumulation = {"cumsum": np.add, "cummax": np.maximum}[name]
    x = np.random.default_rng(rest).integers(-3, 4, 2 * _large_arrays._PART + rest).astype(float)
    expected = accumulation.accumulate(x)

    np.testing.assert_array_equal(getattr(lax, name)(x), expected)
    place = 1000 + rest
    x[place] = np.nan
    out = getattr(lax, name)(x).numpy()
    np.testing.assert_array_equal(out[:place], expected[:place])
    assert np.isnan(out[place:]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64, np.bool_])
def test_compilers_can_take_results_where_they_are(dtype: Any) -> None:
    x = as_array(np.ones((1 << 11, 1 << 10), dtype))
    with config.override(backend="numpy"):
        results = [lax.bitwise_and(x, x) if dtype == np.bool_ else lax.add(x, x)]
        if dtype != np.bool_:
            results += [lax.mul(x, dtype(3)), lax.neg(x)]
        if dtype == np.float32:
            results += [lax.sin(x), lax.select_n(lax.gt(x, x), x, x)]
        if dtype == np.complex64:
            results += [lax.sin(x)]
    for result in results:
        assert result.numpy().ctypes.data % 64 == 0
        assert result.shape == x.shape
        assert result.dtype == dtype


def test_results_keep_the_order_of_the_axes() -> None:
    x = Array.from_numpy(np.ones((1 << 10, 1 << 10), np.float32).T)

    assert lax.add(x, x).numpy().flags.f_contiguous
    assert lax.sin(x).numpy().flags.f_contiguous


def test_other_layouts(three_cores: None) -> None:
    x = numbers(np.float64, 700 * 701).reshape(700, 701)
    for layout in (x, x.T, x[:, ::-1], np.asfortranarray(x), x.reshape(70, 10, 701)):
        np.testing.assert_array_equal(lax.sin(layout), np.sin(layout))


def test_parts_are_silent(three_cores: None) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert np.isnan(lax.log(Array.from_numpy(np.full(SIZE, -1.0)))).all()
        assert np.isinf(lax.exp(Array.from_numpy(np.full(SIZE, 1e3)))).all()
        assert lax.reduce_sum(Array.from_numpy(np.full(SIZE, 1e308)), (0,)) == np.inf


def test_many_threads_share_the_workers(three_cores: None) -> None:
    x = Array.from_numpy(numbers(np.float32))
    expected, results = np.cos(x.numpy()), dict[int, Any]()

    def run(number: int) -> None:
        for _ in range(5):
            results[number] = lax.cos(x)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == len(threads)
    for result in results.values():
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("allowed", [0, 1])
def test_system_without_threads(
    three_cores: None, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    start, started = threading.Thread.start, list[threading.Thread]()

    def limited(thread: threading.Thread) -> None:
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    x = numbers(np.float64)

    np.testing.assert_array_equal(lax.sin(x), np.sin(x))
    np.testing.assert_array_equal(lax.cummax(x), np.maximum.accumulate(x))
    assert len(started) == allowed


def run_python(code: str, **environment: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert not finished.stderr
    return finished.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_process_has_workers_of_its_own() -> None:
    code = f"""
import multiprocessing
import numpy as np
import bindax_lax_basic as lax
from bindax_lax_basic import _large_arrays

_large_arrays.cores = lambda: 3
x = np.random.default_rng(0).normal(size={SIZE})
expected = lax.sin(x).numpy()

def same(x):
    return bool((lax.sin(x).numpy() == expected).all())

with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(pool.map(same, [x, x])))
"""
    # From 3.12 on, Python warns of any fork beside threads.
    assert run_python(code, PYTHONWARNINGS="ignore::DeprecationWarning").strip() == "True"


def test_while_the_interpreter_ends() -> None:
    code = f"""
import atexit
import numpy as np
import bindax_lax_basic as lax
from bindax_lax_basic import _large_arrays

_large_arrays.cores = lambda: 3
x = np.ones({SIZE})
lax.exp(x)
atexit.register(lambda: print(lax.sin(x).numpy().sum() / np.sin(1) / {SIZE}))
"""
    assert float(run_python(code)) == pytest.approx(1)


@pytest.mark.parametrize("limit", ["1", "0", "", "many", "100000"])
def test_number_of_cores(limit: str) -> None:
    code = "from bindax_lax_basic._large_arrays import cores; print(cores())"
    has_affinity = hasattr(os, "sched_getaffinity")
    available = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count()

    found = int(run_python(code, OMP_NUM_THREADS=limit))

    assert found == (1 if limit == "1" else available)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1 << 15, (1 << 15) + 1, 999_999])
def test_large_sums_are_exact(dtype: Any, size: int) -> None:
    x = numbers(dtype, size) + dtype(1)
    exact = math.fsum(x.astype(np.float64))

    for layout in (x, x[::-1], np.repeat(x, 2)[::2]):
        out = lax.reduce_sum(layout, (0,))
        assert out.dtype == dtype
        assert float(out) == pytest.approx(exact, rel=4 * float(np.finfo(dtype).eps))


def test_large_sums_over_some_and_over_all_axes() -> None:
    x = numbers(np.float64, 1 << 18).reshape(64, 64, 64)

    np.testing.assert_allclose(lax.reduce_sum(x, (0, 1, 2)), x.sum(), rtol=1e-12)
    np.testing.assert_allclose(lax.reduce_sum(x, (0, 2)), x.sum((0, 2)), rtol=1e-12)
    np.testing.assert_allclose(lax.reduce_sum(x.T, (2, 1, 0)), x.sum(), rtol=1e-12)
    np.testing.assert_array_equal(lax.reduce_sum(x, ()), x)
    np.testing.assert_array_equal(lax.reduce_sum(x[..., None], (3,)), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5000, 8), (300, 1000), (40, 1024), (100, 3000), (7, 20001)])
def test_large_sums_over_last_axes(dtype: Any, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).random((*shape, 1)).astype(dtype)
    expected = x.astype(np.longdouble).sum((1, 2))

    for layout in (x, np.asfortranarray(x), x[::-1][::-1]):
        out = lax.reduce_sum(layout, (2, 1))
        assert out.dtype == dtype
        np.testing.assert_allclose(out, expected.astype(dtype), rtol=6 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_large_sums_of_special_values(value: float) -> None:
    for place in (0, 5000, SIZE - 1):
        x = np.ones(SIZE)
        x[place] = value
        np.testing.assert_array_equal(lax.reduce_sum(x, (0,)), value)
    both = np.zeros(SIZE)
    both[:2] = np.inf, -np.inf
    assert np.isnan(lax.reduce_sum(both, (0,)))


@pytest.mark.parametrize("dtype", ["bool", "int4", "uint8", "float8_e4m3fn", "int16", "bfloat16"])
@pytest.mark.parametrize("size", [selection._FEWEST - 1, selection._FEWEST, selection._BLOCK + 3])
def test_choices_among_many_narrow_elements(dtype: str, size: int) -> None:
    random = np.random.default_rng(size)
    x, y = random.integers(0, 2, (2, size)).astype(getattr(ml_dtypes, dtype, dtype))
    which = random.random(size) > 0.5

    for value in (which, which.astype(np.int32)):
        out = np.asarray(lax.select_n(value, x, y))
        assert out.dtype == x.dtype
        np.testing.assert_array_equal(out, np.where(which, y, x))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64, np.complex64, np.complex128])
def test_choices_keep_all_bits_in_every_layout(dtype: Any) -> None:
    random = np.random.default_rng(0)
    many = selection._MANY.get(np.dtype(dtype).itemsize, selection._FEWEST)
    shape = (2 * many // 100 + 1, 100)  # many also where every other is taken
    bits = f"V{np.dtype(dtype).itemsize}"
    x, y = (
        np.frombuffer(random.bytes(math.prod(shape) * np.dtype(dtype).itemsize), dtype)
        for _ in range(2)
    )  # NaNs with every payload among them
    x, y, which = x.reshape(shape), y.reshape(shape), random.random(shape) > 0.5

    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], np.asfortranarray):
        out = np.asarray(lax.select_n(turn(which), turn(x), turn(y)))
        expected = np.where(turn(which), turn(y), turn(x))
        assert out.dtype == dtype
        assert (np.ascontiguousarray(out).view(bits) == expected.view(bits)).all()
    assert (np.asarray(lax.select_n(which, x, x)).view(bits) == x.view(bits)).all()


def test_one_choice_for_many_elements() -> None:
    x, y = np.zeros(selection._FEWEST, np.float32), np.ones(selection._FEWEST, np.float32)

    assert np.asarray(lax.select_n(True, x, y)).all()
    assert not np.asarray(lax.select_n(False, x, y)).any()


def special_floats(dtype: Any, size: int) -> Any:
    """Random bits, and all pairs of numbers that are special."""
    info = np.finfo(dtype)
    values = [0.0, info.smallest_subnormal, info.tiny, 1.0, info.max, np.inf, np.nan]
    values = np.array([*values, *np.negative(values)], dtype)
    first, second = (grid.ravel() for grid in np.meshgrid(values, values))
    random = np.random.default_rng(0)
    more = [np.frombuffer(random.bytes(size * np.dtype(dtype).itemsize), dtype) for _ in range(2)]
    return np.concatenate([first, more[0]]), np.concatenate([second, more[1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_of_many_floats(dtype: Any) -> None:
    x, y = special_floats(dtype, 2 * division._MANY)

    for turn in (lambda a: a, lambda a: a[::2], lambda a: a[:-4].reshape(2, -1).T):
        for target in (turn(y), turn(x).copy(), -turn(x)):
            out = np.asarray(evaluated(lambda x, y=target: lax.nextafter(x, y), turn(x)))
            with np.errstate(all="ignore"):
                expected = np.nextafter(turn(x), target)
            assert out.dtype == dtype
            np.testing.assert_array_equal(out, expected)
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(out[number]), np.signbit(expected[number]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_signs_of_many_floats(dtype: Any) -> None:
    x, _ = special_floats(dtype, rounding._MANY)

    for layout in (x, x[:-2].reshape(-1, 2).T):
        few = [evaluated(lax.sign, part) for part in np.array_split(layout.ravel(), 9)]
        out, expected = np.asarray(evaluated(lax.sign, layout)), np.concatenate(few)
        assert out.dtype == dtype
        np.testing.assert_array_equal(out.ravel(), expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(out.ravel()[number]), np.signbit(expected[number]))
