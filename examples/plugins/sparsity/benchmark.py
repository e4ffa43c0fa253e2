"""Time sparse Jacobians beside dense ones: ``python benchmark.py``.

A dense Jacobian of ten thousand unknowns takes 800 MB, so that dense ones are smaller.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bindax_example_sparsity import color_columns, sparse_jacobian, sparsity_pattern

from bindax_transforms import jacfwd, jit

sys.path.insert(0, str(Path(__file__).parent / "tests"))
import problems


def seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """The least of some times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        np.asarray(call())
        times.append(time.perf_counter() - start)
    return min(times)


def line(name: str, function: Callable[..., Any], size: int, *, with_dense: bool) -> str:
    """The times for one problem and size."""
    x = np.random.default_rng(0).uniform(0.0, 1.0, size)
    pattern = sparsity_pattern(function)(x)
    colors = color_columns(pattern).max() + 1
    jacobian = sparse_jacobian(function, pattern=pattern)
    jacobian(x)
    text = f"{name}, {size} unknowns, {len(pattern.rows)} places, {colors} colours: "
    text += f"pattern {seconds(lambda: sparsity_pattern(function)(x).rows, 1):.3f} s, "
    text += f"colouring {seconds(lambda: color_columns(pattern), 1):.3f} s, "
    text += f"values {1e3 * seconds(lambda: jacobian(x).data):.2f} ms"
    if with_dense:
        dense = jit(jacfwd(function))
        dense(x)
        text += f", dense {1e3 * seconds(lambda: dense(x)):.2f} ms"
    return text


def main() -> None:
    """Print a line for each problem and size."""
    for name, function, small, large in (
        ("Brusselator", problems.brusselator, 2 * 32**2, 2 * 71**2),
        ("obstacle", problems.obstacle, 45**2, 100**2),
        ("network", problems.network, 2000, 10**4),
    ):
        sys.stdout.write(f"{line(name, function, small, with_dense=True)}\n")
        sys.stdout.write(f"{line(name, function, large, with_dense=False)}\n")


if __name__ == "__main__":
    main()
