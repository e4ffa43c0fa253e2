"""Transformations in many threads give what they give in one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt

pytestmark = pytest.mark.usefixtures("toy_operations")


def test_sixteen_threads() -> None:
    @bt.jit
    def shared(x: Any) -> Any:
        return toy.sin(x) * 2.0

    def work(i: int) -> list[Any]:
        x = np.float64(i)
        batch = np.arange(float(1 + i % 3))

        def g(y: Any) -> Any:
            return shared(toy.sin(y) * x)

        return [
            g(x),
            bt.grad(g)(x),
            bt.grad(bt.grad(g))(x),
            bt.vmap(bt.grad(g))(batch),
            bt.jit(bt.vmap(g))(batch),
            bt.linearize(g, x)[1](np.ones(())),
            str(bt.make_jaxpr(bt.grad(g))(x)),
        ]

    expected = [work(i) for i in range(64)]
    contexts = [copy_context() for _ in range(64)]  # the threads have the settings of the fixtures
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda context, i: context.run(work, i), contexts, range(64)))
    for row, other in zip(expected, found, strict=True):
        for x, y in zip(row, other, strict=True):
            if isinstance(x, str):
                assert x == y
            else:
                np.testing.assert_array_equal(x, y)
