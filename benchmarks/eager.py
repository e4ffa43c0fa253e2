"""Single operations on small arrays, where the library is what takes the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, repeated

EIGHT = np.linspace(0.1, 0.8, 8, dtype=np.float32)


def cases() -> Iterator[Case]:
    """Yield eager operations on arrays of 8 elements."""
    own, other = bindax.lax.neg(EIGHT), jax.lax.neg(EIGHT)
    tasks: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "eager sin": (lambda: bindax.lax.sin(own), lambda: jax.lax.sin(other)),
        "eager add": (lambda: own + own, lambda: other + other),
        "eager sum": (lambda: own.sum(), lambda: other.sum()),
    }
    for name, (task, reference) in tasks.items():
        yield Case(name, repeated(task), repeated(reference), target=0.7, goal=0.4)
