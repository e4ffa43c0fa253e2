"""Transformations of a function of three operations, applied and called without `jit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, repeated

EIGHT = np.linspace(0.1, 0.8, 8, dtype=np.float32)


def tasks(library: ModuleType) -> dict[str, Callable[[], Any]]:
    """Make the tasks, which are the same program for both libraries."""
    lax = library.lax

    def function(x: Any) -> Any:
        return lax.mul(lax.sin(x), lax.exp(x))

    vector, scalar = lax.neg(EIGHT), lax.neg(np.float32(0.5))
    return {
        "eager jvp": lambda: library.jvp(function, (vector,), (vector,)),
        "eager vmap": lambda: library.vmap(function)(vector),
        "eager grad": lambda: library.grad(function)(scalar),
        "eager vmap of grad": lambda: library.vmap(library.grad(function))(vector),
    }


def cases() -> Iterator[Case]:
    """Yield the eager transformations."""
    reference = tasks(jax)
    for name, task in tasks(bindax).items():
        yield Case(name, repeated(task), repeated(reference[name]), target=0.2, goal=0.05)
