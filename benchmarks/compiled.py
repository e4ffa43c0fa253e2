"""Run time of compiled programs that compute something."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, repeated

LAYERS = 8
WIDTH = 256


def matmul_chain(library: ModuleType) -> Callable[[Any, Any], Any]:
    """Make a chain of matrix products with a nonlinearity between them."""

    def chain(matrices: list[Any], x: Any) -> Any:
        for matrix in matrices:
            x = library.lax.tanh(x @ matrix)
        return x.sum()

    return chain


def task(library: ModuleType, transform: Callable[[Any], Any]) -> Callable[[], Any]:
    """Make the task of running the compiled chain, or what a transformation makes of it."""
    random = np.random.default_rng(0)
    shape = (WIDTH, WIDTH)
    numbers = [random.standard_normal(shape).astype(np.float32) / 16 for _ in range(LAYERS + 1)]
    *matrices, x = library.jit(lambda leaves: [leaf + 0 for leaf in leaves])(numbers)
    program = library.jit(transform(matmul_chain(library)))
    leaves = library.tree.leaves
    return lambda: np.asarray(leaves(program(matrices, x))[0])


def cases() -> Iterator[Case]:
    """Yield the chain of matrix products and its gradient."""
    tasks = {
        "run matmul chain": (task(bindax, _itself), task(jax, _itself)),
        "run matmul chain gradient": (task(bindax, bindax.grad), task(jax, jax.grad)),
    }
    for name, (own, other) in tasks.items():
        yield Case(name, repeated(own, 0.1), repeated(other, 0.1), target=1.05, goal=1.0)


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
