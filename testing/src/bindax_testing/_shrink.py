"""Smaller cases that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import is_differentiable, typeof
from bindax_testing._cases import AnyCall, Call, replaced
from bindax_testing._checks._base import differentiable
from bindax_testing._compare import host, wide

LIMIT = 40


def shrunk(case: AnyCall, others: Sequence[AnyCall], fails: Callable[[AnyCall], bool]) -> AnyCall:
    """The smallest case found that fails in the same way; ``fails`` decides when time is up."""
    attempts = iter(range(LIMIT))

    finite = _is_finite(case)

    def accepted(candidate: AnyCall) -> bool:
        if next(attempts, None) is None or not candidate.is_inside():
            return False
        # Where the domain is not known, results that are no numbers show that it was left.
        return fails(candidate) and (_is_finite(candidate) or not finite)

    smaller = sorted((c for c in others if 0 < c.size < case.size), key=lambda c: c.size)
    best = next((c for c in smaller[:6] if accepted(c)), case)
    while simpler := next((c for c in _candidates(best) if accepted(c)), None):
        best = simpler
    return best


def _is_finite(call: Call) -> bool:
    """Tell whether all results are numbers; True where there are none, as what fails may raise."""
    try:
        outs = call.call(*call.operands)
    except Exception:
        return True
    return all(np.all(np.isfinite(wide(outs[i]))) for i in differentiable(outs))


def _candidates(case: AnyCall) -> Iterator[AnyCall]:
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
