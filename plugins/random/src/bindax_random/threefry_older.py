"""The older form of ``threefry2x32``, in which a number depends on the size of its array, too.

Counters of the whole array are hashed in pairs: one of the first half with one of the second. It is
what JAX computed by default until version 0.5, for programs whose results must stay the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Dimension
from bindax_random.threefry import threefry2x32

Shape = tuple[int, ...]
_MOST = (1 << 32) - 1


def older_split(key: Any, shape: Shape) -> Any:
    """The words of new keys, of a shape."""
    return lax.reshape(_words(key, 2 * math.prod(shape)), (*shape, 2))


def older_bits(key: Any, bit_width: int, shape: Shape) -> Any:
    """Random bits as unsigned integers of 8 to 64 bits, of a shape."""
    size = math.prod(shape)
    if bit_width == 64:
        words = lax.convert_element_type(_words(key, 2 * size), np.uint64)
        high, low = lax.slice_in_dim(words, 0, size), lax.slice_in_dim(words, size, 2 * size)
        made = lax.bitwise_or(lax.shift_left(high, np.uint64(32)), low)
    elif bit_width == 32:
        made = _words(key, size)
    else:
        made = lax.slice_in_dim(_parts(key, bit_width, size), 0, size)
    return lax.reshape(made, shape)


def _parts(key: Any, bit_width: int, size: int) -> Any:
    """Words cut into numbers of fewer bits, the lowest bits first."""
    each = 32 // bit_width
    count = -(-size // each)
    words = lax.broadcast_in_dim(_words(key, count), (count, each), (0,))
    places = lax.broadcast_in_dim(np.arange(0, 32, bit_width, dtype=np.uint32), (count, each), (1,))
    mask = lax.broadcast_in_dim(np.uint32((1 << bit_width) - 1), (count, each), ())
    cut = lax.bitwise_and(lax.shift_right_logical(words, places), mask)
    return lax.reshape(lax.convert_element_type(cut, f"uint{bit_width}"), (count * each,))


def _words(key: Any, count: int) -> Any:
    """Hash the counters below a count under a key, those of two halves with each other."""
    if isinstance(count, Dimension) or count > _MOST:
        raise ValueError(
            f"random numbers of the older form of threefry2x32 need a count of words that is "
            f"known and below 2**32, but got {count}. Make several smaller arrays from keys that "
            f"are split, or set config.threefry_partitionable to True."
        )
    half = -(-count // 2)
    first = lax.iota(np.uint32, half)
    second = lax.iota(np.uint32, count - half) + np.uint32(half)
    if count % 2:  # the hash of a zero more is dropped
        second = lax.pad(second, np.uint32(0), [(0, 1, 0)])
    k1, k2 = [lax.broadcast_in_dim(lax.index_in_dim(key, i, 0, False), (half,), ()) for i in (0, 1)]
    return lax.slice_in_dim(lax.concatenate(threefry2x32(k1, k2, first, second), 0), 0, count)
