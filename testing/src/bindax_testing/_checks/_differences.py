"""Derivatives from differences of values, with Richardson extrapolation in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import abstract_eval, is_differentiable, typeof
from bindax_testing._cases import Case, replaced
from bindax_testing._checks._base import differentiable
from bindax_testing._compare import NotApplicable, real_size, wide

Values = list[np.ndarray[Any, Any]]


def widened(case: Case) -> Case:
    """The case in double precision; not applicable when its results are not of it even then."""
    rows = []
    for row in case.draws:
        full = list(row)
        for i in differentiable(row):
            full[i] = wide(row[i])
        rows.append(full)
    made = replaced(case, rows)
    try:
        abstract_eval.get(case.primitive)(*made.avals, **case.params)
        outs = made.call(*made.operands)
    except Exception as error:
        raise NotApplicable(f"it does not take double precision: {error!r:.80}") from error
    for out, narrow in zip(outs, case.call(*case.operands), strict=True):
        dtype = typeof(out).dtype
        if is_differentiable(typeof(narrow).dtype) and real_size(dtype) != 8:
            raise NotApplicable(f"it computes in {dtype.name} even for double precision")
    return made


def precise(case: Case) -> Case:
    """The case in double precision where it can, else in its own if that is enough."""
    try:
        return widened(case)
    except NotApplicable as reason:
        results = case.call(*case.operands)
        used = [case.operands[i] for i in case.positions]
        used += [results[i] for i in differentiable(results)]
        if any(real_size(typeof(x).dtype) < 4 for x in used):
            raise NotApplicable(f"half precision is too coarse, and {reason}") from reason
        return case


def step(values: Sequence[Any]) -> float:
    """The step of differences, for the precision of values."""
    least = min((real_size(typeof(x).dtype) for x in values), default=8)
    return 1e-3 if least == 8 else 3e-2


def differences(
    function: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    h: float,
) -> tuple[Values, Values]:
    """The derivatives of results along tangents, and where the extrapolation can be trusted."""

    def along(s: float) -> Values:
        moved = [
            np.asarray(wide(x) + s * wide(t)).astype(typeof(x).dtype)
            for x, t in zip(primals, tangents, strict=True)
        ]
        return [wide(out) for out in function(*moved)]

    def central(s: float) -> Values:
        return [(a - b) / (2 * s) for a, b in zip(along(s), along(-s), strict=True)]

    coarse, fine, finest = central(h), central(h / 2), central(h / 4)
    estimates, trusted = [], []
    for a, b, c in zip(coarse, fine, finest, strict=True):
        first, second = (4 * b - a) / 3, (4 * c - b) / 3
        size = np.maximum(np.abs(second), 1e-2)
        limit = 1e-5 if h < 1e-2 else 1e-2
        estimates.append(second)
        trusted.append(np.isfinite(second) & (np.abs(first - second) <= limit * size))
    return estimates, trusted


def difference_tolerance(got: Any, h: float) -> float:
    """The relative error of a derivative that rounding explains."""
    own = {8: 1e-6, 4: 2e-4, 2: 1e-1, 1: 5e-1}[min(real_size(typeof(got).dtype), 8)]
    return own if h < 1e-2 else max(own, 1e-2)
