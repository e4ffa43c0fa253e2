"""``top_k`` and ``minmax``, beside sorting and reductions of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp

RNG = np.random.default_rng(5)


def expected(x: Any, k: int, axis: int, mode: str) -> tuple[Any, Any]:
    keys = -x.astype(float) if mode == "largest" else x
    order = np.take(np.argsort(keys, axis=axis, kind="stable"), range(k), axis=axis)
    return np.take_along_axis(x, order, axis), order


@pytest.mark.every(2)
@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "bool"])
@pytest.mark.parametrize("axis", [0, -1])
def test_top_k(mode: str, dtype: str, axis: int) -> None:
    x = RNG.integers(0, 4, (5, 6)).astype(dtype)
    for k in (0, 3, x.shape[axis]):
        wanted = expected(x, k, axis, mode)
        found = jnp.top_k(x, k, axis=axis, mode=mode)
        compiled = bindax.jit(lambda x, k=k: jnp.top_k(x, k, axis=axis, mode=mode))(x)
        for values, places in (found, compiled):
            assert values.dtype == np.dtype(dtype)
            assert places.dtype == jnp.arange(1).dtype
            np.testing.assert_array_equal(values, wanted[0])
            np.testing.assert_array_equal(places, wanted[1])


def test_top_k_of_nan_and_derivatives() -> None:
    x = jnp.array([3.0, 1.0, np.nan, 2.0])
    assert np.isnan(jnp.top_k(x, 1)[0][0])
    assert jnp.top_k(x, 2, mode="smallest")[0].tolist() == [1.0, 2.0]
    slope = bindax.grad(lambda x: jnp.top_k(x, 2, mode="smallest", sorted=False)[0].sum())(x)
    assert slope.tolist() == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"k": 4}, ValueError, "k must be between 0 and 3, the size of axis 0"),
        ({"k": -1, "mode": "smallest"}, ValueError, "top_k: k must be between 0 and 3"),
        ({"k": 1, "mode": "biggest"}, ValueError, "mode must be 'largest' or 'smallest', but it"),
        ({"k": 1, "axis": 1}, ValueError, "top_k"),
        ({"k": 1.5}, TypeError, "top_k takes an integer for k, but got 1.5"),
    ],
)
def test_arguments_of_top_k(arguments: dict[str, Any], kind: type, text: str) -> None:
    k = arguments.pop("k")
    with pytest.raises(kind, match=text):
        jnp.top_k(jnp.arange(3.0), k, **arguments)


@pytest.mark.parametrize("mode", ["largest", "smallest"])
def test_top_k_of_complex_numbers(mode: str) -> None:
    with pytest.raises(TypeError, match=r"top_k.* complex"):
        jnp.top_k(jnp.array([1j]), 1, mode=mode)


def test_minmax() -> None:
    x = RNG.normal(size=(3, 4))
    for axis, keepdims in ((None, False), (0, True), ((0, 1), False)):
        low, high = jnp.minmax(x, axis=axis, keepdims=keepdims)
        np.testing.assert_array_equal(low, x.min(axis, keepdims=keepdims))
        np.testing.assert_array_equal(high, x.max(axis, keepdims=keepdims))
    assert [int(v) for v in jnp.minmax(jnp.array([2, 5]), initial=(1, 9))] == [1, 9]
    mask = jnp.array([True, False])
    assert [int(v) for v in jnp.minmax(jnp.array([2, 5]), initial=(9, 1), where=mask)] == [2, 2]
    with pytest.raises(ValueError, match="give initial"):
        jnp.minmax(jnp.zeros(0))


def test_lexsort_takes_a_positive_batch_size() -> None:
    keys = (np.array([1, 0, 1]), np.array([2, 2, 1]))
    np.testing.assert_array_equal(jnp.lexsort(keys, batch_size=1), np.lexsort(keys))
    with pytest.raises(ValueError, match="lexsort: batch_size must be positive, but it is 0"):
        jnp.lexsort(keys, batch_size=0)


def test_negative_indices_of_take_along_axis_that_are_promised() -> None:
    x = jnp.arange(4.0)
    for mode in ("promise_in_bounds", "fill", "clip"):
        assert jnp.take_along_axis(x, jnp.array([-1, 0]), 0, mode).tolist() == [3.0, 0.0]
        assert x.at[jnp.array([-1])].get(mode=mode).tolist() == [3.0]
        assert x.at[jnp.array([-1])].set(9.0, mode=mode).tolist() == [0.0, 1.0, 2.0, 9.0]
