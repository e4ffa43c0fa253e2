"""The generator Philox2x32-10, as a package of its own."""

import math
from typing import Any

import numpy as np

from bindax_lax_basic import (
    bitwise_or,
    bitwise_xor,
    concatenate,
    convert_element_type,
    index_in_dim,
    iota,
    mul,
    mulhi,
    reshape,
    shift_left,
    shift_right_logical,
)
from bindax_random import PRNG

_MULTIPLIER = np.uint32(0xD256D193)
_KEY_STEP = 0x9E3779B9
_ROUNDS = 10


def philox(key: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """Mix two words of counters under a word of key; all are uint32 arrays of one shape."""
    for i in range(_ROUNDS):
        high, low = mulhi(first, _MULTIPLIER), mul(first, _MULTIPLIER)
        step = np.uint32(i * _KEY_STEP & 0xFFFFFFFF)
        first, second = bitwise_xor(bitwise_xor(high, key + step), second), low
    return first, second


def _words(key: Any, count: int, purpose: int) -> tuple[Any, Any]:
    """Two words for each number below ``count``; purposes share none."""
    counter = iota(np.uint32, count)
    return philox(index_in_dim(key, 0, 0, False) + counter * 0, counter, counter * 0 + purpose)


def _seed(seed: Any) -> Any:
    if seed.dtype.itemsize == 8:
        high = convert_element_type(shift_right_logical(seed, np.uint64(32)), np.uint32)
        seed = bitwise_xor(convert_element_type(seed, np.uint32), high)
    return reshape(seed, (1,))


def _split(key: Any, shape: tuple[int, ...]) -> Any:
    return reshape(_words(key, math.prod(shape), 1)[0], (*shape, 1))


def _random_bits(key: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
    first, second = [reshape(x, shape) for x in _words(key, math.prod(shape), 0)]
    if bit_width < 64:
        return convert_element_type(first, f"uint{bit_width}")
    high, low = [convert_element_type(x, np.uint64) for x in (first, second)]
    return bitwise_or(shift_left(high, np.uint64(32)), low)


def _fold_in(key: Any, data: Any) -> Any:
    return concatenate([philox(key, reshape(data, (1,)), np.full(1, 2, np.uint32))[0]], 0)


PHILOX = PRNG(
    name="example.philox2x32",
    tag="philox",
    key_shape=(1,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
)
"""The generator that the entry point names."""
