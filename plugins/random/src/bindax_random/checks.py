"""Checks of generators of random bits, for the tests of packages that bring one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_random import keys
from bindax_random._prng import PRNG, prng_of, register_prng
from bindax_transforms import jit, vmap


def check_prng(prng: PRNG, *, count: int = 4096) -> None:
    """Check that a generator keeps its promises.

    Its keys and bits have the right types, every program gives what evaluation gives, an array of
    keys gives what each key gives, different keys differ, and about half of the bits are one.

    Args:
        prng: the generator; it is registered.
        count: how many numbers the frequencies of bits are taken from.

    Raises:
        AssertionError: when a promise is broken; the text says which.

    >>> from bindax_random import find_prng
    >>> check_prng(find_prng("threefry2x32"), count=256)
    """
    register_prng(prng)
    one = keys.key(7, impl=prng.name)
    _require(prng_of(one.aval.dtype) is prng, "key: the dtype of its keys is another generator's")
    for name, call in _calls(prng).items():
        made = np.asarray(call(one))
        _require(np.array_equal(made, jit(call)(one)), f"{name}: compiled, it gives something else")
        many = keys.split(one, 3)
        each = [np.asarray(call(many[i])) for i in range(3)]
        together = np.asarray(vmap(call)(many))
        _require(np.array_equal(together, each), f"{name}: many keys give other results than each")
        _require(not np.array_equal(each[0], each[1]), f"{name}: two keys give the same")
    _check_streams(prng, one, count)


def _calls(prng: PRNG) -> dict[str, Callable[[Any], Any]]:
    """Return the words that a generator makes of a key."""

    def draw(width: int) -> Callable[[Any], Any]:
        def bits(key: Any) -> Any:
            made = keys.random_bits_p.bind(key, bit_width=width, shape=(2, 3))
            _require(
                made.aval.str_short() == f"uint{width}[2,3]",
                f"random_bits: {width} bits of shape (2, 3) are {made.aval.str_short()}",
            )
            return made

        return bits

    def split(key: Any) -> Any:
        words = keys.key_data(keys.split(key, (2, 2)))
        wanted = (2, 2, *prng.key_shape)
        _require(words.shape == wanted, f"split: the words have the shape {words.shape}")
        return words

    calls = {f"random_bits, {width} bits wide": draw(width) for width in (8, 16, 32, 64)}
    return {**calls, "split": split, "fold_in": lambda key: keys.key_data(keys.fold_in(key, 5))}


def _check_streams(prng: PRNG, one: Any, count: int) -> None:
    seeds = [np.asarray(keys.PRNGKey(seed, impl=prng.name)) for seed in range(4)]
    _require(len({x.tobytes() for x in seeds}) == 4, "seed: two seeds give the same key")
    parts = np.asarray(keys.key_data(keys.split(one, 64)))
    _require(len({x.tobytes() for x in parts}) == 64, "split: two of 64 keys are the same")
    folded = [np.asarray(keys.key_data(keys.fold_in(one, i))).tobytes() for i in range(64)]
    _require(len(set(folded)) == 64, "fold_in: two of 64 numbers give the same key")
    made = np.asarray(keys.random_bits_p.bind(one, bit_width=32, shape=(count,)))
    shares = np.unpackbits(made.view(np.uint8).reshape(count, 4), axis=1).mean(0)
    # Six standard deviations of the mean of fair bits.
    _require(
        bool((abs(shares - 0.5) < 3 / count**0.5).all()),
        f"random_bits: the shares of ones are {shares.round(2).tolist()}",
    )


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(f"the generator breaks a promise: {text}.")
