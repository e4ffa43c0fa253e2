"""Smaller cases that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import is_differentiable, typeof
from bindax_testing._cases import Case, replaced
from bindax_testing._compare import host, wide

LIMIT = 40


def shrunk(case: Case, others: Sequence[Case], fails: Callable[[Case], bool]) -> Case:
    """The smallest case found that fails in the same way; ``fails`` decides when time is up."""
    attempts = iter(range(LIMIT))

    def accepted(candidate: Case) -> bool:
        return next(attempts, None) is not None and fails(candidate)

    smaller = sorted((c for c in others if 0 < c.size < case.size), key=lambda c: c.size)
    best = next((c for c in smaller[:6] if accepted(c)), case)
    while simpler := next((c for c in _candidates(best) if accepted(c)), None):
        best = simpler
    return best


def _candidates(case: Case) -> Iterator[Case]:
    """Simpler cases: shorter axes, one draw instead of several, rounder values."""
    sizes = sorted({n for aval in case.avals for n in aval.shape if n > 1}, reverse=True)
    for size in sizes:
        for shorter in (1, size // 2, size - 1):
            if 0 < shorter < size:
                yield replaced(case, [[_cut(x, size, shorter) for x in row] for row in case.draws])
    if any(row is not case.draws[0] for row in case.draws):
        yield replaced(case, [case.draws[0]])
    for digits in (0, 1):
        rounded = [[_rounded(x, digits) for x in row] for row in case.draws]
        if any(
            host(a).tobytes() != host(b).tobytes()
            for old, new in zip(case.draws, rounded, strict=True)
            for a, b in zip(old, new, strict=True)
        ):
            yield replaced(case, rounded)


def _cut(x: Any, size: int, shorter: int) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    return x[tuple(slice(0, shorter if n == size else n) for n in x.shape)].copy()


def _rounded(x: Any, digits: int) -> Any:
    if not isinstance(x, np.ndarray) or not is_differentiable(typeof(x).dtype):
        return x
    return np.asarray(np.round(wide(x), digits)).astype(x.dtype)
