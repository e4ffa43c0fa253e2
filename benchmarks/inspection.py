"""Reports of programs: their pages' sizes, and the time that one takes beyond the compilation."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bindax
import bindax.numpy as jnp
from benchmarks.measure import Case

EQUATIONS_OF_LAYER = 10
"""The equations of a layer in the gradient, about."""

MOST_SECONDS = 5.0
MOST_BYTES = 2_000_000.0


def network(layers: int) -> Callable[[Any, Any], Any]:
    """Make the gradient of a network with so many layers."""

    def loss(w: Any, x: Any) -> Any:
        for i in range(layers):
            with bindax.named_scope(f"layer{i}"):
                x = jnp.tanh(x @ w) * 2.0 + x
        return x.sum()

    gradient: Callable[[Any, Any], Any] = bindax.grad(loss)
    return gradient


@cache
def seconds_and_bytes(equations: int) -> tuple[float, float]:
    """Return the time that the report takes beyond the compilation, and the size of its page."""
    x = np.ones((16, 16), np.float32)
    report = bindax.inspect(network(equations // EQUATIONS_OF_LAYER))(x, x)
    if report.compiled is None:
        raise RuntimeError(f"the program was not compiled: {report.missing}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        start = time.perf_counter()
        report.save(page)
        return time.perf_counter() - start, float(page.stat().st_size)


def cases() -> Iterator[Case]:
    """Yield the time and the size of reports of 50, 500 and 5,000 equations."""
    for equations in (50, 500, 5_000):
        yield Case(
            f"report of {equations:,} equations, time",
            lambda equations=equations: seconds_and_bytes(equations)[0],  # type: ignore[misc]
            lambda: MOST_SECONDS,
            target=1.0,
            goal=0.5,
            against="5 s",
        )
        yield Case(
            f"report of {equations:,} equations, size",
            lambda equations=equations: seconds_and_bytes(equations)[1],  # type: ignore[misc]
            lambda: MOST_BYTES,
            target=1.0,
            goal=0.5,
            against="2 MB",
            unit="B",
        )
