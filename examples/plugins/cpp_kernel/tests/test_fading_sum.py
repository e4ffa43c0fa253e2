"""The function is its definition, eagerly and compiled, and so are its derivatives."""

import importlib.util
import os

import numpy as np
import pytest
from bindax_example_cpp import fading_sum

from bindax_transforms import grad, jit, vmap

COMPILES = importlib.util.find_spec("jaxlib") and not os.environ.get("BINDAX_PLUGINS_DENY")
STAGES = pytest.mark.parametrize("stage", [lambda f: f, jit], ids=["eager", "jit"])
X = np.random.default_rng(0).normal(size=(3, 7))


def matrix(decay):
    steps = np.arange(7)[:, None] - np.arange(7)
    return np.where(steps >= 0, decay ** np.maximum(steps, 0).astype(float), 0.0)


@STAGES
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_value(stage, dtype):
    y = stage(lambda x: fading_sum(x, decay=0.5))(X.astype(dtype))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, X @ matrix(0.5).T, rtol=1e-5)


@STAGES
def test_derivative(stage):
    weights = np.arange(1.0, 8.0)
    slope = stage(grad(lambda x: (fading_sum(x, decay=0.5) * weights).sum()))(X[0])
    np.testing.assert_allclose(slope, matrix(0.5).T @ weights)


@STAGES
def test_batching(stage):
    y = stage(vmap(lambda x: fading_sum(x, decay=0.5, reverse=True), in_axes=1))(X.T)
    np.testing.assert_allclose(y, X @ matrix(0.5))


@pytest.mark.skipif(not COMPILES, reason="nothing that compiles is in use")
def test_the_kernel_is_what_runs():
    text = jit(lambda x: fading_sum(x, decay=0.5)).lower(X).as_text()
    assert "@example.fading_sum" in text
    assert "python" not in text


def test_integers_are_an_error_that_says_what_to_do():
    with pytest.raises(TypeError, match=r"float32 or float64 .* got int32\[2\]. Convert it"):
        fading_sum(np.ones(2, np.int32), decay=0.5)
