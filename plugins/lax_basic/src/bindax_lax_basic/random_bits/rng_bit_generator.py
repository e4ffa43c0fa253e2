"""Random bits from a counter: the generators of StableHLO."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, register_text_form, rules
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.random_bits import generators as _generators
from bindax_lax_basic.random_bits.lowering import random_lowering
from bindax_lax_basic.rules.batching import leading_batch
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import no_derivative
from bindax_lax_basic.rules.types import shape_argument

__all__ = ["RandomAlgorithm", "rng_bit_generator", "rng_bit_generator_p"]


Shape = tuple[int, ...]


@register_text_form
class RandomAlgorithm(enum.IntEnum):
    """Algorithms of ``rng_bit_generator``; the default is Philox."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


def rng_bit_generator(
    key: Any,
    shape: Any,
    dtype: Any = np.uint32,
    algorithm: RandomAlgorithm | int = RandomAlgorithm.RNG_DEFAULT,
) -> tuple[Array, Array]:
    """Random bits, and the state for the next ones.

    Args:
        key: the state: uint32[4] or uint64[2]. One half names a stream of numbers, the other
            counts how many were taken.
        shape: the shape of the bits.
        dtype: their dtype: uint8, uint16, uint32 or uint64.
        algorithm: ``RandomAlgorithm.RNG_PHILOX``, which is the default, or ``RNG_THREE_FRY``
            (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011).

    Returns:
        The next state and the bits: the same ones evaluated and compiled, on every platform.

    Raises:
        TypeError: when the state or the dtype is none of these.
        ValueError: when there is no such algorithm, or a size is negative.

    >>> state, bits = rng_bit_generator(np.array([0, 0, 0, 0], np.uint32), (2,))
    >>> state, bits
    (Array([0, 0, 1, 0], dtype=uint32), Array([1713891541, 3781805453], dtype=uint32))
    """
    try:
        chosen = RandomAlgorithm(algorithm)
    except ValueError:
        raise ValueError(
            f"rng_bit_generator: algorithm must be a RandomAlgorithm, but it is {algorithm!r}."
        ) from None
    state, bits = rng_bit_generator_p.bind(
        key,
        shape=shape_argument("rng_bit_generator", shape),
        dtype=dtypes.canonical_dtype(dtype),
        algorithm=chosen,
    )
    return state, bits


def _type(
    key: ShapedArray, *, shape: Shape, dtype: DType, algorithm: RandomAlgorithm
) -> list[ShapedArray]:
    if dtype.name not in ("uint8", "uint16", "uint32", "uint64"):
        raise TypeError(
            f"rng_bit_generator makes uint8, uint16, uint32 or uint64, but dtype is {dtype.name}."
        )
    if (key.dtype.name, key.shape[-1:]) not in (("uint32", (4,)), ("uint64", (2,))):
        raise TypeError(
            f"rng_bit_generator: the key must be uint32[4] or uint64[2], but it is "
            f"{key.str_short()}."
        )
    return [key.strip_weak_type(), ShapedArray((*key.shape[:-1], *shape), dtype)]


def _impl(
    key: NumPyArray, *, shape: Shape, dtype: DType, algorithm: RandomAlgorithm
) -> list[NumPyArray]:
    batch = key.shape[:-1]
    words = np.ascontiguousarray(key).view(np.uint64)
    states = words.reshape(math.prod(batch), 2)
    is_threefry = algorithm is RandomAlgorithm.RNG_THREE_FRY
    generate = _generators.threefry_bits if is_threefry else _generators.philox_bits
    bits, used = generate(states, shape, dtype)
    after = states + np.array([0, used], np.uint64)
    return [after.view(key.dtype).reshape(key.shape), bits.reshape((*batch, *shape))]


rng_bit_generator_p: Primitive = primitive(
    "rng_bit_generator",
    rules.impl(_impl),
    rules.abstract_eval(_type),
    no_derivative(),
    leading_batch(),
    rules.transpose.absent("not linear: its operand and results are integers"),
    rules.lowering["stablehlo"](random_lowering),
    multiple_results=True,
)
"""Operand: one state, or several with leading batch axes, each of which gives ``shape`` bits."""
