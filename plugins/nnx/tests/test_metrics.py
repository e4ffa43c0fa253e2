"""Metrics after more updates than a float32 can count."""

import numpy as np
import pytest

import bindax
from bindax import nnx

MANY = 2**24
MODES = ["explicit", False, True]


def mode(x64):
    return bindax.enable_x64(x64)


@nnx.jit
def update(metric, **batch):
    metric.update(**batch)


@pytest.mark.parametrize("x64", MODES)
def test_average_goes_on_after_many_updates(x64):
    with mode(x64):
        metric = nnx.Average()
        update(metric, values=np.ones(4, np.float32))
        # As after many updates with ones.
        metric.total.value, metric.count.value = (
            v.value + np.array(MANY, v.value.dtype) for v in (metric.total, metric.count)
        )
        for _ in range(100):
            update(metric, values=np.array([3.0], np.float32))
            metric.update(values=3.0)
        assert int(metric.count) == MANY + 204
        total = float(metric.total.value) + float(metric.remainder.value)
        assert total == MANY + 604
        assert np.asarray(metric.compute()) == np.float32(total / (MANY + 204))


@pytest.mark.parametrize("x64", MODES)
def test_accuracy_goes_on_after_many_updates(x64):
    with mode(x64):
        metric = nnx.Accuracy()
        metric.update(logits=np.eye(2), labels=np.array([0, 0]))
        metric.total.value = np.float32(MANY)
        metric.count.value += MANY
        for _ in range(51):
            update(metric, logits=np.eye(3), labels=np.array([0, 1, 1]))
        assert int(metric.count) == MANY + 155
        assert float(metric.total.value) + float(metric.remainder.value) == MANY + 102


@pytest.mark.parametrize("x64", MODES)
def test_welford_goes_on_after_many_updates(x64):
    with mode(x64):
        metric = nnx.Welford()
        metric.update(values=np.array([0.0, 2.0], np.float32))
        # As after many updates with equally many 0 and 2.
        metric.count.value += MANY
        metric.m2.value += np.float32(MANY)
        for _ in range(200):
            update(metric, values=np.array([1.5], np.float32))
        count, mean = MANY + 202, 1 + 100 / (MANY + 202)
        squares = MANY + 2 + (MANY + 2) * 200 / count * 0.25
        assert int(metric.count) == count
        found = metric.compute()
        np.testing.assert_allclose(
            float(metric.mean.value) + float(metric.mean_remainder.value), mean, rtol=1e-9
        )
        parts = float(metric.m2.value) + float(metric.m2_remainder.value)
        np.testing.assert_allclose(parts, squares, rtol=1e-9)
        np.testing.assert_allclose(found.standard_deviation, np.sqrt(squares / count), rtol=1e-6)


def test_counts_beyond_32_bits():
    metric = nnx.Average()
    metric.count.value += 2**33
    update(metric, values=np.zeros(3, np.float32), mask=np.array([True, False, True]))
    assert int(metric.count) == 2**33 + 2


def test_wide_totals_of_one_batch():
    metric = nnx.Average()
    metric.update(values=np.array([MANY, 1, 1, 1]))
    metric.update(values=np.array([0.25], np.float64))
    assert float(metric.total.value) + float(metric.remainder.value) == MANY + 3.25
    narrow = nnx.Average()
    narrow.update(values=np.ones(5001, np.float16))
    assert float(narrow.compute()) == 1.0


def test_what_is_not_finite_stays():
    for value in (np.inf, -np.inf, np.nan):
        metric = nnx.Average()
        for x in (1.0, value, 1.0):
            metric.update(values=np.float32(x))
        np.testing.assert_equal(float(metric.compute()), value)


def test_threshold_itself_is_label_1():
    metric = nnx.Accuracy(threshold=0.5)
    metric.update(logits=np.array([0.5, 0.4, 0.6]), labels=np.array([1, 1, 1]))
    np.testing.assert_allclose(metric.compute(), 2 / 3, rtol=1e-6)


def test_names_of_states():
    """Those of Flax come with the remainders."""
    names = {
        nnx.Average: {"total", "count", "remainder"},
        nnx.Welford: {"count", "mean", "m2", "mean_remainder", "m2_remainder"},
    }
    for kind, expected in names.items():
        assert {path for (path,) in nnx.state(kind()).flat_state()} == expected
