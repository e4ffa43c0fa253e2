"""Programs on a GPU: values, derivatives, where arrays are, and arrays of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax

X = np.random.default_rng(0).normal(size=(16, 16)).astype("float32")


def on_cpu(function: Any, *args: Any) -> Any:
    """What NumPy computes, without a compiler."""
    with bindax.config.override(backend="numpy"):
        return bindax.tree.map(np.asarray, function(*args))


def platforms(x: Any) -> set[str]:
    """The platforms of the devices that an array is on."""
    return {device.platform for device in x.devices()}


def platforms_of(backend: str) -> set[str]:
    """The platforms of the devices of a backend."""
    return {device.platform for device in bindax.devices(backend)}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 + 1,
        lambda x: jnp.tanh(x @ x.T),
        lambda x: jnp.sort(x, axis=0).sum(1),
        lambda x: jnp.linalg.cholesky(x @ x.T + 16 * jnp.eye(16)),
        lambda x: jnp.linalg.solve(x + 16 * jnp.eye(16), x),
        lambda x: jnp.fft.rfft(x).real,
        lambda x: lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] + x, s[1] + 1), (x, 0))[0],
    ],
    ids=["elementwise", "product", "sort", "cholesky", "solve", "fft", "loop"],
)
def test_values_and_derivatives(gpu: str, function: Any) -> None:
    def both(x: Any) -> Any:
        return bindax.jvp(function, (x,), (x,))

    for got, wanted in zip(bindax.jit(both)(X), on_cpu(both, X), strict=True):
        assert platforms(got) == platforms_of(gpu)
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=2e-2, atol=2e-2)


def test_arrays_stay_on_the_device(gpu: str) -> None:
    x = bindax.device_put(X)
    y = bindax.jit(lambda x: x + 1)(x)
    assert platforms(x) == platforms(y) == platforms_of(gpu)
    np.testing.assert_array_equal(bindax.device_get(y), X + 1)


def test_a_training_step_is_that_of_numpy() -> None:
    def loss(w: Any) -> Any:
        return ((jnp.tanh(X @ w) - 1) ** 2).mean()

    step = bindax.grad(loss)
    wanted = on_cpu(lambda w: w - step(w), X)
    got = bindax.jit(lambda w: w - step(w))(X)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-2, atol=1e-3)


def test_random_numbers() -> None:
    key = bindax.random.key(0)
    wanted = on_cpu(lambda: bindax.random.normal(key, (5,)))
    got = bindax.jit(lambda: bindax.random.normal(key, (5,)))()
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-4)


def test_arrays_of_pytorch(gpu: str) -> None:
    torch = pytest.importorskip("torch")
    x = bindax.device_put(X)
    theirs = torch.from_dlpack(x).to(gpu)
    ours = bindax.dlpack.from_dlpack(2 * theirs)
    np.testing.assert_array_equal(np.asarray(ours), 2 * X)
