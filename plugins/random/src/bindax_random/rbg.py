"""The generators ``rbg`` and ``unsafe_rbg``: bits of XLA's own generator, Philox.

Keys are split by Threefry, or by the generator itself, which is faster and less well studied.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_random._prng import PRNG
from bindax_random.threefry_generator import THREEFRY

Shape = tuple[int, ...]
_HASH_ROUNDS = 10


def _seed(seed: Any) -> Any:
    half = THREEFRY.seed(seed)
    return lax.concatenate([half, half], 0)


def _halves(key: Any) -> list[Any]:
    return [lax.slice_in_dim(key, i, i + 2) for i in (0, 2)]


def _split(key: Any, shape: Shape) -> Any:
    halves = [THREEFRY.split(half, shape) for half in _halves(key)]
    return lax.concatenate(halves, len(shape))


def _fold_in(key: Any, data: Any) -> Any:
    return lax.concatenate([THREEFRY.fold_in(half, data) for half in _halves(key)], 0)


def _random_bits(key: Any, bit_width: int, shape: Shape) -> Any:
    return lax.rng_bit_generator(key, shape, np.dtype(f"uint{bit_width}"))[1]


def _unsafe_split(key: Any, shape: Shape) -> Any:
    count = math.prod(shape)
    _, drawn = lax.rng_bit_generator(key, (_HASH_ROUNDS * count, 4), np.uint32)
    return lax.reshape(lax.slice_in_dim(drawn, 0, None, _HASH_ROUNDS), (*shape, 4))


def _unsafe_fold_in(key: Any, data: Any) -> Any:
    _, drawn = lax.rng_bit_generator(_seed(data), (_HASH_ROUNDS, 4), np.uint32)
    return lax.bitwise_xor(key, lax.index_in_dim(drawn, _HASH_ROUNDS - 1, 0, False))


RBG = PRNG(
    name="rbg",
    tag="rbg",
    key_shape=(4,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
)
"""XLA's generator, with keys that are split by Threefry."""

UNSAFE_RBG = PRNG(
    name="unsafe_rbg",
    tag="urbg",
    key_shape=(4,),
    seed=_seed,
    split=_unsafe_split,
    random_bits=_random_bits,
    fold_in=_unsafe_fold_in,
)
"""XLA's generator, with keys that are split by itself."""
