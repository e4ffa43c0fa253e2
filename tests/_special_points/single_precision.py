"""Derivatives in single precision beside those in double precision, at ordinary and large numbers.

A formula that overflows where its result is not used has a right value and a derivative of nan, and
overflows in single precision long before it does in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

import bindax
import bindax.numpy as jnp

_NUMBERS = {
    1: (0.3, 1.7, 2.6, -1.3, 7.3, 30.0, -30.0, 0.01, 90.0, -90.0, 0.0, 1.0, -2.0),
    2: (0.3, 1.7, 2.6, -1.3, 7.3, 30.0, 90.0, -90.0),
    3: (0.3, 1.7, 2.6, -0.6),
}
_PARAMETERS = (0.6, 1.5, 2.5)
_CLOSE = 0.02
_LARGE = 1e3
"""Derivatives beyond it are sensitive to the last digits of arguments."""


def points(arity: int, *, distribution: bool) -> Any:
    """All combinations of numbers that half precision holds, each in a row."""
    choices = [_NUMBERS[2], *[_PARAMETERS] * (arity - 1)] if distribution else None
    rows = product(*choices) if choices else product(_NUMBERS[arity], repeat=arity)
    return np.array(list(rows)).astype(np.float16)


def _derivatives(call: Callable[..., Any], at: Any, place: int, dtype: str) -> list[Any]:
    """Value, first and second derivative in one operand at each row, forward over reverse."""

    def of_row(row: Any) -> tuple[Any, ...]:
        def moved(x: Any) -> Any:
            return call(*row[:place], x, *row[place + 1 :])

        slope = bindax.grad(moved)
        return (moved(row[place]), *bindax.jvp(slope, (row[place],), (jnp.ones((), dtype),)))

    with np.errstate(all="ignore"):
        found = bindax.vmap(of_row)(list(jnp.asarray(at.T, dtype=dtype)))
    return [np.asarray(one, np.float64) for one in found]


def unlike_double(call: Callable[..., Any], arity: int, *, distribution: bool = False) -> list[str]:
    """Say which derivatives are others in single precision, each with its first point."""
    at, found = points(arity, distribution=distribution), []
    for place in range(arity):
        single, double = (_derivatives(call, at, place, d) for d in ("float32", "float64"))
        for order, (got, wanted) in enumerate(zip(single, double, strict=True)):
            with np.errstate(invalid="ignore"):
                ordinary = np.isfinite(single[0]) & (np.abs(wanted) < _LARGE)
                far = ~(np.abs(got - wanted) <= _CLOSE * np.maximum(1, np.abs(wanted)))
            found += [
                f"derivative {order} in operand {place} at {tuple(at[i].tolist())}: "
                f"{got[i]:.6g}, in double precision {wanted[i]:.6g}"
                for i in np.flatnonzero(ordinary & far)[:1]
            ]
    return found
