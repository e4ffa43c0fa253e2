"""Functions that are checked once for each type of arguments give what they gave before."""

import math
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import nn
from bindax import numpy as jnp
from bindax.errors import RuleOutputError
from bindax.extend import rules
from bindax_core.extend import config
from bindax_transforms.staging import evaluated

jax = pytest.importorskip("jax")

OFTEN = 8

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
CASES: dict[str, Any] = {
    "dot": lambda np, x: np.dot(x, x.T),
    "matmul": lambda np, x: np.matmul(x.T, x),
    "mean": lambda np, x: np.mean(x, axis=1, keepdims=True),
    "mean of integers": lambda np, x: np.mean((10 * x).astype("int32"), axis=(0, 1)),
    "var": lambda np, x: np.var(x, 0, ddof=1),
    "std": lambda np, x: np.std(x),
    "argmax": lambda np, x: np.argmax(x * x, axis=-1),
    "argmin": lambda np, x: np.argmin(x),
    "where": lambda np, x: np.where(x > 0, x, 0.0),
    "einsum": lambda np, x: np.einsum("ij,kj->ik", x, x),
}


def repeated(function: Any, *args: Any, **kwargs: Any) -> Any:
    for _ in range(OFTEN):
        result = function(*args, **kwargs)
    return result


@pytest.mark.parametrize("name", CASES)
def test_values_and_types_are_those_of_jax(name):
    ours, theirs = jnp.asarray(X), jax.numpy.asarray(X)
    first = CASES[name](jnp, ours)
    last = repeated(CASES[name], jnp, ours)
    expected = CASES[name](jax.numpy, theirs)
    assert last.dtype == first.dtype == expected.dtype
    assert (last.shape, last.weak_type) == (first.shape, first.weak_type)
    assert last.tolist() == first.tolist()
    np.testing.assert_allclose(last, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax, nn.logsumexp])
def test_normalizations(function):
    expected = getattr(jax.nn, function.__name__)(X)
    x = jnp.asarray(X)
    np.testing.assert_allclose(repeated(function, x), expected, rtol=1e-5)
    other = repeated(function, x * 2)
    assert not np.allclose(other, expected)
    gradient = bindax.grad(lambda x: function(x).sum())(x)
    expected = jax.grad(lambda x: getattr(jax.nn, function.__name__)(x).sum())(X)
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("number", [0.0, -0.0, math.nan, 1, 1.0, True, np.float16(2)])
def test_numbers_are_part_of_what_is_remembered(number):
    x, mask = jnp.zeros(2), jnp.asarray([True, False])
    for other in (0.0, -0.0, 1, True, number):
        result = repeated(jnp.where, mask, other, x)
        expected = jax.numpy.where(np.array([True, False]), other, np.zeros(2, np.float32))
        np.testing.assert_array_equal(result, expected)
        assert np.signbit(result).tolist() == np.signbit(expected).tolist()
        assert result.dtype == expected.dtype


def test_transformed_arguments_after_evaluated_ones():
    x = jnp.asarray(X)
    repeated(jnp.dot, x, x.T)
    assert "dot_general" in str(bindax.make_jaxpr(jnp.dot)(x, x.T))
    assert bindax.vmap(lambda row: jnp.dot(row, row))(x).shape == (3,)
    assert bindax.grad(lambda x: jnp.mean(x))(x).shape == x.shape
    assert bindax.jit(lambda x: jnp.dot(x, x.T))(x).shape == (3, 3)


def test_arrays_are_evaluated_under_a_transformation_that_they_take_no_part_in():
    x = jnp.asarray(X)
    expected = repeated(jnp.mean, x)

    def f(row):
        center = jnp.mean(x)
        assert type(center) is type(x)
        return (row - center).sum()

    np.testing.assert_allclose(bindax.vmap(f)(x), (X - expected).sum(1), rtol=1e-5)
    np.testing.assert_allclose(bindax.grad(lambda row: f(row))(x[0]), np.ones(4))


def test_a_vector_is_searched_as_it_is():
    (eqn,) = bindax.make_jaxpr(jnp.argmax)(X[0]).eqns
    assert eqn.primitive.name == "argmax"
    for case in (X[0], X, X[:, None], X[0, 0]):
        ours, theirs = jnp.asarray(case), jax.numpy.asarray(case)
        for keepdims in (False, True):
            found = repeated(jnp.argmax, ours, keepdims=keepdims)
            expected = jax.numpy.argmax(theirs, keepdims=keepdims)
            assert (found.tolist(), found.shape) == (expected.tolist(), expected.shape)


def test_settings_belong_to_what_is_remembered():
    mask = jnp.asarray([True, False])
    assert repeated(jnp.where, mask, 1.0, 2.0).dtype == np.float32
    with config.override(default_dtype_bits=64):
        assert repeated(jnp.where, mask, 1.0, 2.0).dtype == np.float64
    assert repeated(jnp.where, mask, 1.0, 2.0).dtype == np.float32
    ones = jnp.ones(2)
    with config.override(debug_nans=True), pytest.raises(FloatingPointError, match="nan"):
        repeated(jnp.mean, ones * np.float32(np.nan))


def test_errors_are_those_of_the_function():
    x = jnp.asarray(X)
    repeated(jnp.mean, x, 1)
    for axis in (1.0, 5):
        with pytest.raises((TypeError, ValueError)) as first:
            jnp.mean.__wrapped__(x, axis)
        with pytest.raises(type(first.value)) as second:
            repeated(jnp.mean, x, axis)
        assert str(second.value) == str(first.value)
    deleted = jnp.asarray(X) + 1
    deleted.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        jnp.mean(deleted, 1)


def test_what_is_remembered_is_bounded_and_can_be_forgotten():
    for size in range(1, 400):
        repeated(jnp.mean, jnp.zeros(size))
    assert 0 < len(evaluated._plans) <= evaluated._MOST_PLANS
    bindax.clear_caches()
    assert not evaluated._plans
    assert float(repeated(jnp.mean, jnp.ones(3))) == 1.0


def test_results_share_no_memory_that_can_be_written():
    x = jnp.asarray(X)
    result = repeated(jnp.where, jnp.ones((3, 4), bool), x, x)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(result)[0] = 1


def test_rules_of_the_steps_are_those_of_the_moment():
    x = jnp.asarray(X)
    repeated(jnp.mean, x)
    div = bindax.make_jaxpr(jnp.mean)(x).eqns[-1].primitive
    with rules.impl.scoped(div, rules.impl(lambda x, y: x * np.float32(0) + 7)):
        assert float(jnp.mean(x)) == 7.0
    wrong = rules.impl.scoped(div, rules.impl(lambda x, y: np.zeros(3)))
    with wrong, pytest.raises(RuleOutputError, match="the impl rule of div returned float64"):
        jnp.mean(x)
    assert float(jnp.mean(x)) == pytest.approx(float(X.mean()), abs=1e-6)


def test_what_numpy_reports_of_floats_is_not_shown():
    with np.errstate(all="raise"):
        assert math.isnan(repeated(jnp.mean, jnp.zeros(0)))
        assert math.isinf(repeated(jnp.mean, jnp.full(3, 3e38)))
