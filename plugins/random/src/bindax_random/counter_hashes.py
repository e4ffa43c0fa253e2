"""The hashes Philox2x32, Philox4x32 and Threefry4x32, of counters under keys.

J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011. Each
is written once, for NumPy's arrays and for traced ones; they differ in the upper half of a product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    DebugInfo,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
)
from bindax_lax_basic.extend import align_batch_axes, elementwise_type
from bindax_transforms import trace_to_jaxpr

NumPyArray = np.ndarray[Any, Any]
Words = Sequence[Any]
Upper = Callable[[Any, Any], Any]
Rounds = Callable[[Upper, Words, Words], list[Any]]

_DISCRETE = "its operands and results are integers, so there is no derivative"
_PHILOX_ROUNDS = 10
_PHILOX_STEPS = (0x9E3779B9, 0xBB67AE85)
_THREEFRY_PARITY = 0x1BD11BDA
_THREEFRY_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
_THREEFRY_ROUNDS = 20

# ------------------------------------------------------------------------------------ the rounds


def _bumped(keys: Words, number: int) -> list[Any]:
    """The key words of a round of Philox."""
    steps = _PHILOX_STEPS[: len(keys)]
    bumps = [np.uint32(number * step & 0xFFFFFFFF) for step in steps]
    return [key + bump for key, bump in zip(keys, bumps, strict=True)]


def _philox2x32(upper: Upper, keys: Words, words: Words) -> list[Any]:
    multiplier = np.uint32(0xD256D193)
    first, second = words
    for number in range(_PHILOX_ROUNDS):
        (key,) = _bumped(keys, number)
        first, second = upper(first, multiplier) ^ second ^ key, first * multiplier
    return [first, second]


def _philox4x32(upper: Upper, keys: Words, words: Words) -> list[Any]:
    one, two = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
    a, b, c, d = words
    for number in range(_PHILOX_ROUNDS):
        first, second = _bumped(keys, number)
        a, b, c, d = upper(c, two) ^ b ^ first, c * two, upper(a, one) ^ d ^ second, a * one
    return [a, b, c, d]


def _rotated(x: Any, distance: int) -> Any:
    return (x << np.uint32(distance)) | (x >> np.uint32(32 - distance))


def _threefry4x32(upper: Upper, keys: Words, words: Words) -> list[Any]:
    last = keys[0] ^ keys[1] ^ keys[2] ^ keys[3] ^ np.uint32(_THREEFRY_PARITY)
    schedule = [*keys, last]
    a, b, c, d = [word + key for word, key in zip(words, keys, strict=True)]
    for number in range(_THREEFRY_ROUNDS):
        now, later = _THREEFRY_ROTATIONS[number % 8]
        a, c = a + b, c + d
        b, d = _rotated(b, now) ^ a, _rotated(d, later) ^ c
        if number % 4 == 3:
            group = number // 4 + 1
            added = [schedule[(group + i) % 5] for i in range(4)]
            # In odd rounds the second and fourth words are exchanged.
            a, d, c, b = a + added[0], d + added[1], c + added[2], b + added[3] + np.uint32(group)
        b, d = d, b
    return [a, b, c, d]


# -------------------------------------------------------------------------------- the primitives


def _upper_half(x: Any, y: Any) -> Any:
    """The upper 32 bits of the products of NumPy's arrays."""
    return ((x.astype(np.uint64) * np.uint64(y)) >> np.uint64(32)).astype(np.uint32)


def _hash(name: str, key_count: int, word_count: int, rounds: Rounds) -> Primitive:
    """A primitive of a hash: first the key words, then the words that are hashed."""
    word_type = elementwise_type(
        name, *[frozenset({"unsigned integer"})] * (key_count + word_count)
    )

    def hashed(upper: Upper, *words: Any) -> list[Any]:
        return rounds(upper, words[:key_count], words[key_count:])

    def evaluate(*words: NumPyArray) -> list[NumPyArray]:
        # Arithmetic of NumPy's scalars warns where that of arrays wraps around.
        spread = np.broadcast_arrays(*words)  # a batch may have some words in common
        made = hashed(_upper_half, *map(np.atleast_1d, spread))
        return [x.reshape(spread[0].shape) for x in made]

    def abstract_eval(*avals: ShapedArray) -> list[ShapedArray]:
        if any(aval.dtype != np.uint32 for aval in avals):
            given = ", ".join(aval.str_short() for aval in avals)
            raise TypeError(f"{name} takes uint32 words, but got {given}.")
        return [word_type(*avals)] * word_count

    def lower(ctx: LoweringContext, *words: Any) -> list[Any]:
        traced = partial(hashed, lax.mulhi)
        program = trace_to_jaxpr(traced, ctx.avals_in, DebugInfo("lowering"))
        return ctx.call(program, list(words), name)

    def batch(size: int, operands: Sequence[Any], dims: Sequence[Any]) -> Any:
        aligned, dim = align_batch_axes(size, operands, dims)
        return made.bind(*aligned), [dim] * word_count

    made = primitive(
        name,
        rules.impl(evaluate),
        rules.abstract_eval(abstract_eval),
        rules.jvp.absent(_DISCRETE),
        rules.vmap(batch),
        rules.transpose.absent(_DISCRETE),
        rules.lowering["stablehlo"](lower),
        rules.sharding("elementwise"),
        multiple_results=True,
    )
    return made


philox2x32_p: Primitive = _hash("philox2x32", 1, 2, _philox2x32)
"""Operands: a key word and two words; results: the two words of the hash, in ten rounds."""

philox4x32_p: Primitive = _hash("philox4x32", 2, 4, _philox4x32)
"""Operands: two key words and four words; results: the four words of the hash, in ten rounds."""

threefry4x32_p: Primitive = _hash("threefry4x32", 4, 4, _threefry4x32)
"""Operands: four key words and four words; results: the four words of the hash, in twenty
rounds."""
