"""``jax.extend.random``: generators of random bits, under JAX's names of them."""

from __future__ import annotations

from typing import Any, Final

import bindax
from bindax.random import PRNG, find_prng, key, key_data, wrap_key_data
from bindax.random import define_prng_impl as define_prng_impl

__all__ = [
    "define_prng_impl",
    "random_seed",
    "rbg_prng_impl",
    "seed_with_impl",
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]

rbg_prng_impl: Final[PRNG] = find_prng("rbg")
threefry_prng_impl: Final[PRNG] = find_prng("threefry2x32")
unsafe_rbg_prng_impl: Final[PRNG] = find_prng("unsafe_rbg")
threefry2x32_p: Final = bindax.find_primitive("threefry2x32")


def threefry_2x32(keypair: Any, count: Any) -> Any:
    """Hash an array of uint32 words, the first half of it with the second, under a pair of words.

    Raises:
        TypeError: when a word is not uint32.
    """
    words = bindax.numpy.asarray(count)
    odd = words.size % 2
    first, second = bindax.numpy.split(bindax.numpy.pad(words.ravel(), (0, odd)), 2)
    keys = [bindax.numpy.broadcast_to(word, first.shape) for word in keypair]
    hashed = bindax.numpy.concatenate(threefry2x32_p.bind(*keys, first, second))
    return hashed[: hashed.size - odd].reshape(words.shape)


def seed_with_impl(impl: Any, seed: Any) -> Any:
    """Make a key of a generator from an integer."""
    return key(seed, impl=impl)


def random_seed(seeds: Any, impl: Any) -> Any:
    """Make keys of a generator from an array of integers."""
    seeds = bindax.numpy.asarray(seeds)
    made = bindax.vmap(lambda seed: key_data(key(seed, impl=impl)))(seeds.ravel())
    return wrap_key_data(made.reshape((*seeds.shape, *made.shape[1:])), impl=impl)
