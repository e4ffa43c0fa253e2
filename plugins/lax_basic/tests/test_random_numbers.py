"""Random numbers between bounds: where they are, and that they differ."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_core.errors import MissingRuleError

BACKENDS = ["numpy", "xla"]
COUNT = 4000


def drawn(low, high, dtype, backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    low, high = (np.asarray(value, lax.dtype(dtype)) for value in (low, high))
    with bx.config.override(backend=backend):
        return np.asarray(bt.jit(lambda a, b: lax.rng_uniform(a, b, (COUNT,)))(low, high))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "float8_e5m2"])
def test_floats_fill_the_interval_evenly(dtype, backend):
    values = drawn(-1.0, 3.0, dtype, backend).astype(np.float64)
    assert values.min() >= -1.0
    assert values.max() < 3.0 or backend == "xla"  # which rounds to the bound now and then
    even = np.linspace(-1.0, 3.0, 16 * COUNT, endpoint=False).astype(lax.dtype(dtype))
    counts, expected = (
        np.histogram(x.astype(np.float64), bins=4, range=(-1.0, 3.0))[0] for x in (values, even)
    )
    assert np.abs(counts - expected / 16).max() < 6 * np.sqrt(COUNT / 4)


@pytest.mark.every(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "dtype",
    ["int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"],
)
def test_integers_are_below_the_upper_bound(dtype, backend):
    numbers = drawn(2, 6, dtype, backend)
    assert numbers.dtype == lax.dtype(dtype)
    values, counts = np.unique(numbers.astype(int), return_counts=True)
    assert values.tolist() == [2, 3, 4, 5]
    assert np.abs(counts - COUNT / 4).max() < 6 * np.sqrt(COUNT / 4)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_call_draws_other_numbers(backend):
    if backend == "xla":
        pytest.importorskip("bindax_xla_backend")
    with bx.config.override(backend=backend):
        draw = bt.jit(lambda a: lax.rng_uniform(a, a + 1, (8,)))
        assert not np.array_equal(draw(0.0), draw(0.0))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_numbers_of_eight_bytes_are_drawn_from_all_of_the_interval(dtype, backend):
    values = drawn(2**36, 2**40, dtype, backend)
    assert 2**36 <= values.min() < 2**38
    assert 2**39 < values.max() < 2**40


def test_nothing_between_the_bounds_gives_the_lower_one():
    np.testing.assert_array_equal(lax.rng_uniform(np.int32(5), np.int32(5), (2,)), [5, 5])
    assert lax.rng_uniform(1.0, 1.0, ()).item() == 1.0


def test_there_is_no_derivative_and_the_error_names_the_way_around():
    with pytest.raises(MissingRuleError, match="draw from 0 to 1 and scale"):
        bt.jvp(lambda a: lax.rng_uniform(a, 2.0, (2,)), (1.0,), (1.0,))


def test_each_pair_of_bounds_draws_by_itself():
    low = np.array([0.0, 5.0, 5.0])
    with bx.config.override(derived_rules="silent"):
        values = np.asarray(bt.vmap(lambda a: lax.rng_uniform(a, a + 1, (4,)))(low))
    np.testing.assert_array_equal(np.floor(values), np.repeat(low, 4).reshape(3, 4))
    assert not np.array_equal(values[1], values[2])
