"""``jax.extend.random``: generators of random bits that programs define."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from bindax.random import PRNG, register_prng

_numbers = count(1)


def define_prng_impl(
    *,
    key_shape: tuple[int, ...],
    seed: Callable[[Any], Any],
    split: Callable[[Any, tuple[int, ...]], Any],
    random_bits: Callable[[Any, int, tuple[int, ...]], Any],
    fold_in: Callable[[Any, Any], Any],
    name: str = "<unnamed>",
    tag: str = "?",
) -> PRNG:
    """Define a generator, for ``jax.random.key(seed, impl=...)``; a number makes its name unique.

    Args:
        key_shape: the shape of the words of a key, uint32.
        seed: gives the words of a key from an unsigned integer.
        split: ``(words, shape) -> words``, of an array of new keys.
        random_bits: ``(words, bit_width, shape) -> bits``.
        fold_in: ``(words, data) -> words``, of a new key that a uint32 number has gone into.
        name: a name for messages.
        tag: a short name, in the dtype of its keys.
    """
    number = next(_numbers)
    made = PRNG(
        name=f"{name}{number}",
        tag=f"{tag}{number}",
        key_shape=tuple(key_shape),
        seed=seed,
        split=split,
        random_bits=random_bits,
        fold_in=fold_in,
    )
    register_prng(made)
    return made
