"""The generator ``threefry2x32``, the default, in either of its forms.

``config.threefry_partitionable`` chooses between them when a program is traced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core import config
from bindax_lax_basic import concatenate, index_in_dim, reshape
from bindax_random._prng import PRNG
from bindax_random._seeds import seed_words
from bindax_random.threefry import threefry2x32, threefry2x32_numbers_p
from bindax_random.threefry_older import older_bits, older_split

Shape = tuple[int, ...]


def _split(key: Any, shape: Shape) -> Any:
    if not config.threefry_partitionable:
        return older_split(key, shape)
    return threefry2x32_numbers_p.bind(key, shape=shape, bit_width=0)


def _fold_in(key: Any, data: Any) -> Any:
    first, second = [index_in_dim(key, i, 0) for i in (0, 1)]
    zero = np.zeros(1, np.uint32)
    return concatenate(threefry2x32(first, second, zero, reshape(data, (1,))), 0)


def _random_bits(key: Any, bit_width: int, shape: Shape) -> Any:
    if not config.threefry_partitionable:
        return older_bits(key, bit_width, shape)
    return threefry2x32_numbers_p.bind(key, shape=shape, bit_width=bit_width)


THREEFRY = PRNG(
    name="threefry2x32",
    tag="fry",
    key_shape=(2,),
    seed=seed_words,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
)
"""Counters hashed under the key; the default."""
