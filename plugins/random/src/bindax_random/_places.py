"""Numbers of places of an array, which generators hash under a key."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Dimension


def place_numbers(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Number the places of an array of a shape.

    Returns:
        The high and the low 32 bits of each number, uint32 of that shape.
    """
    size = math.prod(shape)
    if isinstance(size, Dimension) or size > 1 << 32:
        flat = lax.iota(np.uint64, size)
        high = lax.convert_element_type(lax.shift_right_logical(flat, np.uint64(32)), np.uint32)
        low = lax.convert_element_type(flat, np.uint32)
    else:
        high, low = lax.broadcast_in_dim(np.uint32(0), (size,), ()), lax.iota(np.uint32, size)
    return lax.reshape(high, shape), lax.reshape(low, shape)
