"""Memory that compiled gradients of scans need besides their arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import jax
import numpy as np

import bindax
from benchmarks.measure import Case, Sampler

WIDTH = 8
BLOCKS = {100: 10, 1_000: 25, 10_000: 100}


def loss(library: ModuleType, blocks: int | None) -> Callable[[Any, Any], Any]:
    """Make the loss of a recurrent network, in checkpointed blocks of steps if there are any."""
    lax = library.lax

    def run(weights: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return lax.tanh(weights @ h + x), None

        if blocks is None:
            return lax.scan(step, xs[0], xs)[0].sum()
        rows = lax.reshape(xs, (blocks, xs.shape[0] // blocks, WIDTH))
        block = library.checkpoint(lambda h, rows: lax.scan(step, h, rows))
        return lax.scan(block, xs[0], rows)[0].sum()

    return run


def temporary_bytes(library: ModuleType, length: int, blocks: int | None) -> Sampler:
    """Make a sampler that counts the bytes once."""

    @cache
    def count() -> float:
        operands = np.zeros((WIDTH, WIDTH), np.float32), np.zeros((length, WIDTH), np.float32)
        compiled = library.jit(library.grad(loss(library, blocks))).lower(*operands).compile()
        memory = compiled.memory_analysis()
        key = "temp_size_in_bytes"
        return float(memory[key] if isinstance(memory, dict) else getattr(memory, key))

    return count


def cases() -> Iterator[Case]:
    """Yield gradients of scans of three lengths, as they are and with checkpoints."""
    for length, blocks in BLOCKS.items():
        for number, way in ((None, ""), (blocks, f", {blocks} checkpointed blocks")):
            own, other = (temporary_bytes(lib, length, number) for lib in (bindax, jax))
            name = f"memory of scan gradient, {length:,} steps{way}"
            yield Case(name, own, other, target=1.1, goal=1.0, unit="B")
