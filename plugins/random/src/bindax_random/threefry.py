"""The hash Threefry2x32, and random numbers of it in JAX's partitionable form.

The number at a place of an array depends on the key and the place alone, not on the array's size,
so parts of an array can be made by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow import fori_loop
from bindax_core.extend import (
    DebugInfo,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
)
from bindax_lax_basic.extend import align_batch_axes, batched, elementwise_type, leading_batch
from bindax_random import _threefry_numbers as numbers
from bindax_random._places import place_numbers
from bindax_transforms import trace_to_jaxpr

NumPyArray = np.ndarray[Any, Any]
Shape = tuple[int, ...]

_DISCRETE = "its operands and results are integers, so there is no derivative"

# ------------------------------------------------------------------------------------ the hash


def threefry2x32(k1: Any, k2: Any, x1: Any, x2: Any) -> list[Any]:
    """Hash pairs of words under pairs of key words.

    Args:
        k1: the first key words, uint32.
        k2: the second ones.
        x1: the first words that are hashed, uint32; all operands have one shape.
        x2: the second ones.

    Returns:
        The two words of each hash (Threefry2x32 with 20 rounds).

    >>> zero = np.zeros(1, np.uint32)
    >>> threefry2x32(zero, zero, zero, zero)
    [Array([1797259609], dtype=uint32), Array([2579123966], dtype=uint32)]
    """
    return threefry2x32_p.bind(k1, k2, x1, x2)


def _hash_type(*avals: ShapedArray) -> list[ShapedArray]:
    return [_word_type(*avals)] * 2


_word_type = elementwise_type("threefry2x32", *[frozenset({"unsigned integer"})] * 4)


def _hash_impl(*words: NumPyArray) -> list[NumPyArray]:
    return list(numbers.hashed(*np.broadcast_arrays(*words)))


def _rotate(x: Any, distance: Any) -> Any:
    left = lax.shift_left(x, _word(distance))
    return lax.bitwise_or(left, lax.shift_right_logical(x, _word(32 - distance)))


def _word(x: Any) -> Any:
    return np.uint32(x) if isinstance(x, int) else x


def _rounds(k1: Any, k2: Any, x: Any, y: Any) -> list[Any]:
    """The hash, from primitives."""
    keys = (k1, k2, lax.bitwise_xor(lax.bitwise_xor(k1, k2), np.uint32(numbers.PARITY)))
    x, y = x + k1, y + k2
    for group in range(numbers.GROUPS):
        for distance in numbers.ROTATIONS[group % 2]:
            x = x + y
            y = lax.bitwise_xor(x, _rotate(y, distance))
        x = x + keys[(group + 1) % 3]
        y = y + (keys[(group + 2) % 3] + np.uint32(group + 1))
    return [x, y]


def _rounds_in_a_loop(k1: Any, k2: Any, x: Any, y: Any) -> list[Any]:
    """The same hash, with one group of rounds in the program."""
    third = lax.bitwise_xor(lax.bitwise_xor(k1, k2), np.uint32(numbers.PARITY))
    rotations = [np.array(row, np.uint32) for row in numbers.ROTATIONS]

    def group(i: Any, state: Any) -> Any:
        (x, y), (first, second, last), (now, later) = state
        for j in range(len(numbers.ROTATIONS[0])):
            x = x + y
            y = lax.bitwise_xor(x, _rotate(y, lax.broadcast_in_dim(now[j], y.shape, ())))
        number = lax.broadcast_in_dim(lax.convert_element_type(i, np.uint32), y.shape, ())
        words = x + first, y + second + (number + np.uint32(1))
        return words, (second, last, first), (later, now)

    start = (x + k1, y + k2), (k2, third, k1), tuple(rotations)
    return list(fori_loop(np.int32(0), np.int32(numbers.GROUPS), group, start)[0])


_FEW = 32
"""The most hashes that are computed in a loop. The compiler takes a program to be as long as its
text, and runs a short one at once; a longer one it hands to another thread, which takes longer."""


def _hash_lowering(ctx: LoweringContext, *words: Any) -> list[Any]:
    size = ctx.avals_in[0].size  # an int, unless a program for all sizes is exported
    few = isinstance(size, int) and 0 < size <= _FEW
    rounds = _rounds_in_a_loop if few else _rounds
    program = trace_to_jaxpr(rounds, ctx.avals_in, DebugInfo("lowering"))
    return ctx.call(program, list(words), "threefry2x32")


def _hash_batch(size: int, operands: Sequence[Any], dims: Sequence[Any]) -> Any:
    aligned, dim = align_batch_axes(size, operands, dims)
    return threefry2x32_p.bind(*aligned), [dim, dim]


threefry2x32_p: Primitive = primitive(
    "threefry2x32",
    rules.impl(_hash_impl),
    rules.abstract_eval(_hash_type),
    rules.jvp.absent(_DISCRETE),
    rules.vmap(_hash_batch),
    rules.transpose.absent(_DISCRETE),
    rules.lowering["stablehlo"](_hash_lowering),
    rules.sharding("elementwise"),
    multiple_results=True,
)
"""Operands: two key words and two words; results: the two words of the hash."""

# --------------------------------------------------------------------------------- the numbers


def _numbers_type(key: ShapedArray, *, shape: Shape, bit_width: int) -> ShapedArray:
    if key.dtype != np.uint32 or key.shape[-1:] != (2,):
        raise TypeError(
            f"threefry2x32_numbers takes the two words of a key, uint32[2], but got "
            f"{key.str_short()}."
        )
    batch = key.shape[:-1]
    if bit_width == 0:
        return ShapedArray((*batch, *shape, 2), np.uint32)
    return ShapedArray((*batch, *shape), f"uint{bit_width}")


def _numbers_impl(key: NumPyArray, *, shape: Shape, bit_width: int) -> NumPyArray:
    batch = key.shape[:-1]
    pairs = numbers.numbered(key.reshape(-1, 2), math.prod(shape))
    if bit_width == 0:
        return pairs.reshape((*batch, *shape, 2))
    first, second = pairs[..., 0], pairs[..., 1]
    if bit_width == 64:
        made = (first.astype(np.uint64) << np.uint64(32)) | second
    else:
        made = (first ^ second).astype(f"uint{bit_width}", copy=False)
    return made.reshape((*batch, *shape))


def _numbers(key: Any, *, shape: Shape, bit_width: int) -> Any:
    """The numbers, from primitives."""
    # Or a compiler would compute the key anew for each number.
    key = lax.optimization_barrier(key)
    batch = key.shape[:-1]
    full = (*batch, *shape)

    def spread(i: int) -> Any:
        return lax.broadcast_in_dim(
            lax.index_in_dim(key, i, -1, False), full, tuple(range(len(batch)))
        )

    places = tuple(range(len(batch), len(full)))
    counts = [lax.broadcast_in_dim(x, full, places) for x in place_numbers(shape)]
    first, second = threefry2x32(spread(0), spread(1), *counts)
    if bit_width == 0:
        ends = [lax.reshape(x, (*full, 1)) for x in (first, second)]
        return lax.concatenate(ends, len(full))
    if bit_width == 64:
        wide = [lax.convert_element_type(x, np.uint64) for x in (first, second)]
        return lax.bitwise_or(lax.shift_left(wide[0], np.uint64(32)), wide[1])
    mixed = lax.bitwise_xor(first, second)
    return mixed if bit_width == 32 else lax.convert_element_type(mixed, f"uint{bit_width}")


def _numbers_lowering(ctx: LoweringContext, key: Any, **params: Any) -> Any:
    program = trace_to_jaxpr(lambda x: [_numbers(x, **params)], ctx.avals_in, DebugInfo("lowering"))
    return ctx.inline(program, [key])[0]


threefry2x32_numbers_p: Primitive = primitive(
    "threefry2x32_numbers",
    rules.impl(_numbers_impl),
    rules.abstract_eval(_numbers_type),
    rules.jvp.absent(_DISCRETE),
    leading_batch(),
    rules.transpose.absent(_DISCRETE),
    rules.lowering["stablehlo"](_numbers_lowering),
    batched(1),
)
"""Operand: keys of two words. Parameters: ``shape``, of the numbers of each key; ``bit_width``,
theirs, or 0 for both words of each hash, along a last axis."""
