"""Derivatives in half precision stay in its range where they are finite."""

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nn


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("algorithm", ["fast", "stable"])
def test_standardize_of_equal_elements_has_a_derivative(dtype, algorithm):
    weights = jnp.arange(4, dtype=dtype)

    def f(x):
        return (nn.standardize(x, algorithm=algorithm) * weights).sum()

    slope = bindax.grad(f)(jnp.ones(4, dtype))
    assert slope.dtype == dtype
    expected = (np.arange(4) - 1.5) / np.sqrt(1e-5)
    np.testing.assert_allclose(slope.astype("float32"), expected, rtol=4e-3)


def test_standardize_keeps_half_precision_beside_numbers():
    x = jnp.ones(4, "float16")
    assert nn.standardize(x, mean=1.0, variance=2.0).dtype == np.float16
    assert nn.standardize(x, variance=jnp.ones((), "float32")).dtype == np.float32
