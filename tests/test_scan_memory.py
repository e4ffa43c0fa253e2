"""The memory of the gradient of a scan: what is kept, counted in bytes by the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax

jax: Any = pytest.importorskip("jax", reason="JAX is the reference of differential tests")

Module = Any
WIDTH = 8
FLOAT = 4
BLOCKS = {100: 10, 1_000: 25, 10_000: 100}
"""Numbers of steps, and of the blocks into which they are divided."""
CONSTANT = 2048
"""The bytes that may be needed whatever the length: the carry, the weights, a few temporaries."""


def rnn(module: Module) -> Callable[[Any, Any, Any], Any]:
    """The loss of a recurrent network as a function of its weights."""

    def loss(w: Any, h: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = module.lax.tanh(w @ h + x)
            return h, None

        h, _ = module.lax.scan(step, h, xs)
        return h.sum()

    return loss


def blocked(module: Module) -> Callable[[Any, Any, Any], Any]:
    """The same in blocks of √n steps, each of which is computed again in the backward pass."""

    def loss(w: Any, h: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = module.lax.tanh(w @ h + x)
            return h, None

        @module.checkpoint
        def block(h: Any, xs: Any) -> Any:
            return module.lax.scan(step, h, xs)

        blocks = BLOCKS[xs.shape[0]]
        h, _ = module.lax.scan(
            block, h, module.lax.reshape(xs, (blocks, xs.shape[0] // blocks, WIDTH))
        )
        return h.sum()

    return loss


def operands(length: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    w = random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 4
    xs = random.standard_normal((length, WIDTH)).astype(np.float32)
    return w, np.zeros(WIDTH, np.float32), xs


def temporary_bytes(module: Module, loss: Callable[..., Any], length: int) -> int:
    compiled = module.jit(module.grad(loss)).lower(*operands(length)).compile()
    memory = compiled.memory_analysis()
    return int(memory["temp_size_in_bytes"] if module is bindax else memory.temp_size_in_bytes)


@pytest.mark.parametrize("length", BLOCKS)
def test_a_gradient_keeps_the_residuals_alone(length: int) -> None:
    """For each step the state before it and the derivative of tanh."""
    residuals = length * 2 * WIDTH * FLOAT
    ours = temporary_bytes(bindax, rnn(bindax), length)
    assert residuals <= ours <= residuals + CONSTANT
    assert ours <= temporary_bytes(jax, rnn(jax), length) + CONSTANT


@pytest.mark.parametrize("length", BLOCKS)
def test_checkpointed_blocks_keep_one_state_each(length: int) -> None:
    """The states before the blocks, and for one block at a time its inputs and residuals."""
    blocks = BLOCKS[length]
    kept = (blocks + 3 * (length // blocks)) * WIDTH * FLOAT
    ours = temporary_bytes(bindax, blocked(bindax), length)
    assert kept <= ours <= kept + CONSTANT
    assert ours <= temporary_bytes(jax, blocked(jax), length) + CONSTANT


def test_the_blocks_compute_the_same_gradient() -> None:
    expected = jax.jit(jax.grad(rnn(jax)))(*operands(100))
    for loss in (rnn(bindax), blocked(bindax)):
        gradient = bindax.jit(bindax.grad(loss))(*operands(100))
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)
