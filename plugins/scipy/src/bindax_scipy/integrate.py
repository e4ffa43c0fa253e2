"""Integrals of samples."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array

__all__ = ["trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of samples by the trapezoidal rule.

    Args:
        y: the samples.
        x: their places; by default they are at equal distances.
        dx: the distance.
        axis: the axis of the samples.

    >>> integrate.trapezoid(jnp.array([1.0, 2.0, 3.0]))
    Array(4., dtype=float32)
    """
    return jnp.trapezoid(y, x, dx, axis)
