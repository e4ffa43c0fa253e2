"""Single operations, beside JAX and NumPy: on small arrays the library is what takes the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, repeated

SIZES = (8, 1_000, 1_000_000)
MICROSECOND = 1e-6

Task = Callable[..., Any]
# An operation in the words of `lax`, in NumPy's, and how many operands it takes.
OPERATIONS: dict[str, tuple[Callable[[Any], Task], Task, int]] = {
    "add": (lambda lax: lax.add, np.add, 2),
    "mul": (lambda lax: lax.mul, np.multiply, 2),
    "sin": (lambda lax: lax.sin, np.sin, 1),
    "exp": (lambda lax: lax.exp, np.exp, 1),
    "sum": (lambda lax: lambda x: lax.reduce_sum(x, (0,)), np.sum, 1),
    "dot": (lambda lax: lax.dot, np.dot, 2),
    "cumsum": (lambda lax: lax.cumsum, np.cumsum, 1),
    "sort": (lambda lax: lax.sort, np.sort, 1),
}


def cases() -> Iterator[Case]:
    """Yield each operation at each size beside JAX, and at the smallest one beside NumPy."""
    for size in SIZES:
        x = np.random.default_rng(0).random(size, np.float32)
        own, other = bindax.lax.neg(x), jax.lax.neg(x)
        for name, (of, with_numpy, count) in OPERATIONS.items():
            ours = called(of(bindax.lax), own, count)
            theirs = called(of(jax.lax), other, count)
            yield Case(f"{name} of {size:,}", repeated(ours), repeated(theirs), 1.0, 0.7)
            if size == SIZES[0]:
                plain = called(with_numpy, x, count)
                yield Case(
                    f"{name} of {size:,} beside NumPy",
                    repeated(ours),
                    repeated(plain),
                    target=MICROSECOND,
                    goal=0.5 * MICROSECOND,
                    against="NumPy",
                    difference=True,
                )


def called(function: Task, x: Any, count: int) -> Callable[[], Any]:
    """Return a task that calls a function on an array, as often an operand, and waits for JAX."""
    if isinstance(x, jax.Array):
        return lambda: function(*[x] * count).block_until_ready()
    return lambda: function(*[x] * count)
