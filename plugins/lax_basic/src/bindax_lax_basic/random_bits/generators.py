"""Philox4x32-10 and Threefry2x32-20 in NumPy, laid out as XLA lays out their numbers.

J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
States are rows ``(stream, counter)`` of two 64-bit words; there is one for each batch element.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NumPyArray = np.ndarray[Any, Any]
Shape = tuple[int, ...]
Halves = tuple[NumPyArray, NumPyArray]

_PHILOX_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_PHILOX_KEY_STEPS = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_PHILOX_ROUNDS = 10
_THREEFRY_PARITY = np.uint32(0x1BD11BDA)
_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_GROUPS = 5


def _halves(words: NumPyArray) -> Halves:
    """The low and the high 32 bits of 64-bit words."""
    return words.astype(np.uint32), (words >> np.uint64(32)).astype(np.uint32)


def _joined(low: NumPyArray, high: NumPyArray) -> NumPyArray:
    return low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))


def philox_bits(states: NumPyArray, shape: Shape, dtype: Any) -> tuple[NumPyArray, int]:
    """Bits of a shape for each state, and by how much their counters advance: 128 bits a count."""
    size = math.prod(shape)
    per_block = 2 if dtype.itemsize == 8 else 4
    blocks = -(-size // per_block)
    stream, counter = states[:, :1], states[:, 1:]
    low = counter + np.arange(blocks, dtype=np.uint64)
    # The block number has 128 bits: the counter, and above it the stream with the carry.
    high = stream + (low < counter).astype(np.uint64)
    words = _philox((*_halves(low), *_halves(high)), _halves(stream))
    if dtype.itemsize == 8:
        parts = [_joined(words[0], words[1]), _joined(words[2], words[3])]
    else:
        parts = list(words)
    numbers = np.stack(parts, axis=-1).reshape(len(states), blocks * per_block)
    return numbers[:, :size].astype(dtype), blocks


def _philox(block: tuple[NumPyArray, ...], key: Halves) -> tuple[NumPyArray, ...]:
    a, b, c, d = block
    for _ in range(_PHILOX_ROUNDS):
        low_a, high_a = _halves(a.astype(np.uint64) * _PHILOX_MULTIPLIERS[0])
        low_c, high_c = _halves(c.astype(np.uint64) * _PHILOX_MULTIPLIERS[1])
        a, b, c, d = high_c ^ b ^ key[0], low_c, high_a ^ d ^ key[1], low_a
        key = (key[0] + _PHILOX_KEY_STEPS[0], key[1] + _PHILOX_KEY_STEPS[1])
    return a, b, c, d


def threefry_bits(states: NumPyArray, shape: Shape, dtype: Any) -> tuple[NumPyArray, int]:
    """Bits of a shape for each state, and by how much their counters advance: two words a count."""
    count = len(states)
    stream, counter = states[:, :1], states[:, 1:]
    if dtype.itemsize == 8:
        used = math.prod(shape)
        words = _threefry(_halves(counter + np.arange(used, dtype=np.uint64)), _halves(stream))
        return _joined(*words), used
    sizes = shape or (1,)
    # The two words are neighbours along one axis: the first of even size, or else the longest.
    even = [axis for axis, size in enumerate(sizes) if size % 2 == 0]
    axis = even[0] if even else sizes.index(max(sizes))
    half = (*sizes[:axis], -(-sizes[axis] // 2), *sizes[axis + 1 :])
    used = math.prod(half)
    words = _threefry(_halves(counter + np.arange(used, dtype=np.uint64)), _halves(stream))
    paired = np.stack([word.reshape(count, *half) for word in words], axis=axis + 2)
    rounded = (*sizes[:axis], 2 * half[axis], *sizes[axis + 1 :])
    whole = (slice(None), *[slice(size) for size in sizes])
    return paired.reshape(count, *rounded)[whole].astype(dtype), used


def _threefry(block: Halves, key: Halves) -> Halves:
    keys = (*key, key[0] ^ key[1] ^ _THREEFRY_PARITY)
    x, y = block[0] + keys[0], block[1] + keys[1]
    for group in range(_THREEFRY_GROUPS):
        for distance in _THREEFRY_ROTATIONS[group % 2]:
            x = x + y
            y = x ^ ((y << np.uint32(distance)) | (y >> np.uint32(32 - distance)))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y
