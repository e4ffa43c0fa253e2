"""The generators ``philox2x32``, ``philox4x32`` and ``threefry4x32``, with JAX's numbers.

The number at a place of an array is the hash of the number of the place under the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import attrs
import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Primitive
from bindax_random._places import place_numbers
from bindax_random._prng import PRNG
from bindax_random._seeds import seed_words
from bindax_random.counter_hashes import philox2x32_p, philox4x32_p, threefry4x32_p

Shape = tuple[int, ...]


@attrs.frozen
class _Hashed:
    """A generator by a hash.

    Attributes:
        hash_p: the primitive.
        key_size: how many words a key has.
        word_count: how many words are hashed.
        seed_is_key: a seed is hashed as the key, not as what is hashed under the key zero.
        halves: which words of a hash the upper and the lower half of 64 bits are mixed from.
    """

    hash_p: Primitive
    key_size: int
    word_count: int
    seed_is_key: bool
    halves: tuple[tuple[int, ...], tuple[int, ...]]

    def _hashed(self, key: Any, words: Sequence[Any], shape: Shape) -> list[Any]:
        """The hashes of words of a shape under a key."""
        spread = [
            lax.broadcast_in_dim(lax.index_in_dim(key, i, 0, False), shape, ())
            for i in range(self.key_size)
        ]
        made: list[Any] = self.hash_p.bind(*spread, *words)
        return made

    def _zeros(self, shape: Shape) -> list[Any]:
        """The zeros that pad two words to those that are hashed."""
        return [lax.broadcast_in_dim(np.uint32(0), shape, ())] * (self.word_count - 2)

    def _as_keys(self, hashed: Sequence[Any], shape: Shape) -> Any:
        ends = [lax.reshape(x, (*shape, 1)) for x in hashed[: self.key_size]]
        return lax.concatenate(ends, len(shape))

    def seed(self, seed: Any) -> Any:
        """The words of a key of a seed."""
        words = [lax.index_in_dim(seed_words(seed), i, 0, False) for i in (0, 1)]
        padding = [np.uint32(0)] * (self.key_size + self.word_count - 2)
        split = 0 if self.seed_is_key else self.key_size
        hashed = self.hash_p.bind(*padding[:split], *words, *padding[split:])
        return self._as_keys(hashed, ())

    def split(self, key: Any, shape: Shape) -> Any:
        """The words of new keys, of a shape."""
        hashed = self._hashed(key, [*self._zeros(shape), *place_numbers(shape)], shape)
        return self._as_keys(hashed, shape)

    def fold_in(self, key: Any, data: Any) -> Any:
        """The words of a new key that a number has gone into."""
        return self._as_keys(self._hashed(key, [*self._zeros(()), np.uint32(0), data], ()), ())

    def random_bits(self, key: Any, bit_width: int, shape: Shape) -> Any:
        """Random bits as unsigned integers of 8 to 64 bits, of a shape."""
        hashed = self._hashed(key, [*place_numbers(shape), *self._zeros(shape)], shape)
        if bit_width < 64:
            mixed = reduce(lax.bitwise_xor, hashed)
            return mixed if bit_width == 32 else lax.convert_element_type(mixed, f"uint{bit_width}")
        upper, lower = [
            lax.convert_element_type(reduce(lax.bitwise_xor, [hashed[i] for i in half]), np.uint64)
            for half in self.halves
        ]
        return lax.bitwise_or(lax.shift_left(upper, np.uint64(32)), lower)

    def prng(self, tag: str) -> PRNG:
        """The generator, named as its hash."""
        return PRNG(
            name=self.hash_p.name,
            tag=tag,
            key_shape=(self.key_size,),
            seed=self.seed,
            split=self.split,
            random_bits=self.random_bits,
            fold_in=self.fold_in,
        )


PHILOX2X32 = _Hashed(philox2x32_p, 1, 2, False, ((0,), (1,))).prng("phx2")
"""Two words hashed under a key of one word: the fewest operations."""

PHILOX4X32 = _Hashed(philox4x32_p, 2, 4, False, ((0,), (1,))).prng("phx4")
"""Four words hashed under a key of two words."""

THREEFRY4X32 = _Hashed(threefry4x32_p, 4, 4, True, ((0, 2), (1, 3))).prng("fry4")
"""Four words hashed under a key of four words: the longest keys."""
