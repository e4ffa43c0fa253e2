"""Transformations of compiled functions in sixteen threads give what they give in one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import bindax
from bindax import lax


def test_sixteen_threads_compile_and_transform() -> None:
    @bindax.jit
    def shared(x: Any) -> Any:
        return lax.sin(x) * 2.0 + lax.cond(x > 2.0, lambda y: y, lambda y: y * y, x)

    composed = bindax.jit(bindax.grad(lambda y: shared(lax.cos(y)) * y))

    def work(i: int) -> list[Any]:
        x = np.float64(i % 5)
        batch = np.arange(float(1 + i % 3))
        return [
            shared(x),
            bindax.grad(shared)(x),
            bindax.grad(bindax.grad(shared))(x),
            composed(x),
            bindax.vmap(bindax.grad(shared))(batch),
            bindax.jit(bindax.vmap(composed))(batch),
            bindax.linearize(shared, x)[1](np.ones(())),
        ]

    expected = [work(i) for i in range(48)]
    shared.clear_cache()
    composed.clear_cache()
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, range(48)))
    for row, other in zip(expected, found, strict=True):
        for x, y in zip(row, other, strict=True):
            np.testing.assert_array_equal(x, y)
