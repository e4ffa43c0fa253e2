"""Threefry2x32-20 in NumPy, and in Python's integers where there are few numbers.

J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
Twenty rounds of five operations each cost a hundred calls of NumPy, whatever the size. A Python
integer holds many 32-bit numbers as well, each in 64 bits of its own so that no carry or shift
reaches the next: on up to about a hundred numbers that is several times as fast.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

NumPyArray = np.ndarray[Any, Any]
Words = tuple[NumPyArray, NumPyArray]

PARITY = 0x1BD11BDA
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
GROUPS = 5
FEW = 96
_BLOCK = 1 << 13
_LOW = 0xFFFFFFFF


def hashed(k1: NumPyArray, k2: NumPyArray, x1: NumPyArray, x2: NumPyArray) -> Words:
    """The hash of two words under two words of key, elementwise; all are uint32 of one shape."""
    shape, size = x1.shape, x1.size
    if 0 < size <= FEW:
        a, b, c, d = [_as_lanes(x) for x in (k1, k2, x1, x2)]
        pairs = _from_lanes(*_hash_lanes(a, b, c, d, _ones(size)), size)
        first, second = [np.ascontiguousarray(pairs[:, i]).reshape(shape) for i in (0, 1)]
        return first, second
    flat = [np.ascontiguousarray(x).reshape(-1) for x in (k1, k2, x1, x2)]
    out = np.empty(size, np.uint32), np.empty(size, np.uint32)
    for start in range(0, size, _BLOCK):
        part = slice(start, start + _BLOCK)
        _hash_block([x[part] for x in flat], (out[0][part], out[1][part]))
    return out[0].reshape(shape), out[1].reshape(shape)


def numbered(keys: NumPyArray, count: int) -> NumPyArray:
    """The hashes of the 64-bit numbers below a count, high half first, under keys uint32[n, 2]."""
    batch = len(keys)
    size = batch * count
    if 0 < size <= FEW:
        k1, k2 = keys.tolist()[0] if batch == 1 else (0, 0)
        ones = _ones(size)
        if batch == 1:
            pair = _hash_lanes(k1 * ones, k2 * ones, 0, _counters(count), ones)
        else:
            first, second = [_as_lanes(np.repeat(keys[:, i], count)) for i in (0, 1)]
            counters = _as_lanes(np.tile(np.arange(count), batch))
            pair = _hash_lanes(first, second, 0, counters, ones)
        return _from_lanes(*pair, size).reshape(batch, count, 2)
    out = np.empty((size, 2), np.uint32)
    words = np.empty(_BLOCK, np.uint32), np.empty(_BLOCK, np.uint32)
    for start in range(0, size, _BLOCK):
        here = min(_BLOCK, size - start)
        part = words[0][:here], words[1][:here]
        _hash_block(_block_operands(keys, count, start, here), part)
        out[start : start + here, 0], out[start : start + here, 1] = part
    return out.reshape(batch, count, 2)


def _block_operands(keys: NumPyArray, count: int, start: int, here: int) -> list[Any]:
    """Key words and counters of a run of the flat results."""
    flat = np.arange(start, start + here, dtype=np.uint64)
    if len(keys) == 1:
        return [keys[0, 0], keys[0, 1], (flat >> np.uint64(32)).astype(np.uint32),
                flat.astype(np.uint32)]  # fmt: skip
    row, counter = np.divmod(flat, np.uint64(count))
    chosen = keys[row.astype(np.intp)]
    high = (counter >> np.uint64(32)).astype(np.uint32)
    return [chosen[:, 0], chosen[:, 1], high, counter.astype(np.uint32)]


def _hash_block(operands: list[Any], out: Words) -> None:
    """Hash a block that stays in the processor's cache."""
    k1, k2, x1, x2 = operands
    keys = (k1, k2, k1 ^ k2 ^ np.uint32(PARITY))
    x, y = out
    np.add(x1, k1, out=x)
    np.add(x2, k2, out=y)
    shifted = np.empty_like(x)
    for group in range(GROUPS):
        for distance in ROTATIONS[group % 2]:
            np.add(x, y, out=x)
            np.left_shift(y, np.uint32(distance), out=shifted)
            np.right_shift(y, np.uint32(32 - distance), out=y)
            np.bitwise_or(y, shifted, out=y)
            np.bitwise_xor(y, x, out=y)
        np.add(x, keys[(group + 1) % 3], out=x)
        np.add(y, keys[(group + 2) % 3], out=y)
        np.add(y, np.uint32(group + 1), out=y)


# --------------------------------------------------------------------------- Python's integers


@lru_cache(maxsize=256)
def _ones(count: int) -> int:
    """The number that has 1 in each of its lanes."""
    return ((1 << 64 * count) - 1) // ((1 << 64) - 1)


@lru_cache(maxsize=256)
def _counters(count: int) -> int:
    return _as_lanes(np.arange(count))


def _as_lanes(x: NumPyArray) -> int:
    return int.from_bytes(x.astype("<u8").tobytes(), "little")


def _from_lanes(x: int, y: int, count: int) -> NumPyArray:
    """Pairs of words from two numbers of so many lanes."""
    joined = (x | (y << 32)).to_bytes(8 * count, "little")
    return np.frombuffer(joined, "<u4").reshape(count, 2)


def _hash_lanes(k1: int, k2: int, x: int, y: int, ones: int) -> tuple[int, int]:
    """The hash of each lane."""
    low = ones * _LOW
    keys = (k1, k2, k1 ^ k2 ^ (PARITY * ones))
    x, y = (x + k1) & low, (y + k2) & low
    for group in range(GROUPS):
        for distance in ROTATIONS[group % 2]:
            x = (x + y) & low
            y = (((y << distance) | (y >> (32 - distance))) & low) ^ x
        x = (x + keys[(group + 1) % 3]) & low
        y = (y + keys[(group + 2) % 3] + (group + 1) * ones) & low
    return x, y
