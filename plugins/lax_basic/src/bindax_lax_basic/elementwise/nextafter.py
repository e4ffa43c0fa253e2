"""The next float in a direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive
from bindax_lax_basic.dtypes import FLOAT
from bindax_lax_basic.rules.elementwise import elementwise, nonlinear
from bindax_lax_basic.rules.operands import adopt_type, constant

__all__ = ["nextafter", "nextafter_p"]


def nextafter(x1: Any, x2: Any) -> Array:
    """Elementwise next float after ``x1`` in the direction of ``x2``.

    Args:
        x1: an array of real floats.
        x2: an array of the same dtype.

    The derivative is one with respect to ``x1``, zero with respect to ``x2``.

    >>> nextafter(np.array([1.0]), 2.0) - 1.0 == np.finfo(np.float64).eps
    Array([ True], dtype=bool)
    """
    return nextafter_p.bind(*adopt_type(x1, x2))


nextafter_p: Primitive = primitive(
    "nextafter",
    *elementwise("nextafter", np.nextafter, FLOAT, FLOAT),
    *nonlinear("chlo.next_after", lambda x, y, out: constant(1.0, x), None),
)
