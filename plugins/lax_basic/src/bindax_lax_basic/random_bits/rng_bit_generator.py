"""Random bits from a counter: the generators of StableHLO."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Region,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import ambiguous
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.random_bits import generators as _generators
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.batching import leading_batch
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import no_derivative
from bindax_lax_basic.rules.sharding import entries
from bindax_lax_basic.rules.types import shape_argument
from bindax_transforms.extend import decided

__all__ = ["RandomAlgorithm", "rng_bit_generator", "rng_bit_generator_p"]


Shape = tuple[int, ...]


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
    *,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """Random bits, and the state for the next ones.

    Args:
        key: the state: uint32[4] or uint64[2]. One half names a stream of numbers, the other
            counts how many were taken.
        shape: the shape of the bits.
        dtype: their dtype: uint8, uint16, uint32 or uint64.
        algorithm: ``RandomAlgorithm.RNG_PHILOX``, which is the default, or ``RNG_THREE_FRY``
            (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011).
        out_sharding: how the bits lie on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        The next state and the bits: the same ones evaluated and compiled, on every platform.

    Raises:
        TypeError: when the state or the dtype is none of these.
        ValueError: when there is no such algorithm, or a size is negative.

    >>> state, bits = rng_bit_generator(np.array([0, 0, 0, 0], np.uint32), (2,))
    >>> state, bits
    (Array([0, 0, 1, 0], dtype=uint32), Array([1713891541, 3781805453], dtype=uint32))
    """
    if out_sharding is not None:
        given, own = (key, shape, dtype, algorithm), typeof(key)
        targets = own.sharding if own.is_divided else None, out_sharding
        return decided(rng_bit_generator, targets, given)
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


COUNT = ShapedArray((), np.int32)
STATE = ShapedArray((2,), np.uint64)


def _lowering(
    ctx: LoweringContext, key: Any, *, shape: tuple[int, ...], dtype: Any, algorithm: int
) -> list[Any]:
    """``stablehlo.rng_bit_generator``, with the algorithm named so that platforms agree."""
    name = "THREE_FRY" if algorithm == 1 else "PHILOX"
    attributes = {"rng_algorithm": f"#stablehlo<rng_algorithm {name}>"}
    bits = ShapedArray(shape, dtype)

    def generate(inner: LoweringContext, state: Any) -> Sequence[Any]:
        return inner.op("stablehlo.rng_bit_generator", [state], [STATE, bits], attributes)

    key_aval = ctx.avals_in[0].strip_weak_type()
    batch = key_aval.shape[:-1]
    states = ShapedArray((math.prod(batch), 2), np.uint64)
    words = _as_words(ctx, key, key_aval, states if batch else STATE)
    if not batch:
        after, made = generate(ctx, words)
        return [_as_key(ctx, after, STATE, key_aval), made]
    after, made = _for_each(ctx, words, states, bits, generate)
    (made,) = ctx.op("stablehlo.reshape", [made], result_avals=[ctx.avals_out[1]])
    return [_as_key(ctx, after, states, key_aval), made]


def _as_words(ctx: LoweringContext, key: Any, aval: ShapedArray, to: ShapedArray) -> Any:
    """The state as 64-bit words."""
    if aval.dtype == np.uint32:
        (key,) = ctx.op("stablehlo.reshape", [key], [aval.update(shape=(*to.shape, 2))])
        return ctx.op("stablehlo.bitcast_convert", [key], [to])[0]
    return ctx.op("stablehlo.reshape", [key], [to])[0]


def _as_key(ctx: LoweringContext, words: Any, aval: ShapedArray, to: ShapedArray) -> Any:
    if to.dtype == np.uint32:
        pairs = ShapedArray((*aval.shape, 2), np.uint32)
        (words,) = ctx.op("stablehlo.bitcast_convert", [words], [pairs])
    return ctx.op("stablehlo.reshape", [words], [to])[0]


def _for_each(
    ctx: LoweringContext, words: Any, states: ShapedArray, bits: ShapedArray, generate: Any
) -> tuple[Any, Any]:
    """The new states and the bits of all states, by a loop over them."""
    total = bits.update(shape=(states.shape[0], *bits.shape))

    def unfinished(inner: LoweringContext, i: Any, *_: Any) -> Sequence[Any]:
        return [compare(inner, "LT", i, inner.constant(np.int32(states.shape[0])), COUNT)]

    def put(inner: LoweringContext, into: Any, row: Any, aval: ShapedArray, i: Any) -> Any:
        (row,) = inner.op("stablehlo.reshape", [row], [aval.update(shape=(1, *aval.shape[1:]))])
        starts = [i] + [inner.constant(np.int32(0))] * (aval.ndim - 1)
        return inner.op("stablehlo.dynamic_update_slice", [into, row, *starts], [aval])[0]

    def body(inner: LoweringContext, i: Any, current: Any, made: Any) -> Sequence[Any]:
        (row,) = inner.op(
            "stablehlo.dynamic_slice",
            [current, i, inner.constant(np.int32(0))],
            [states.update(shape=(1, 2))],
            {"slice_sizes": lower.integers((1, 2))},
        )
        (row,) = inner.op("stablehlo.reshape", [row], [STATE])
        after, numbers = generate(inner, row)
        (following,) = inner.op("stablehlo.add", [i, inner.constant(np.int32(1))], [COUNT])
        return [
            following,
            put(inner, current, after, states, i),
            put(inner, made, numbers, total, i),
        ]

    carried = [COUNT, states, total]
    start = [ctx.constant(np.int32(0)), words, lower.full(ctx, total, 0)]
    regions = [Region(carried, unfinished), Region(carried, body)]
    _, after, made = ctx.op("stablehlo.while", start, result_avals=carried, regions=regions)
    return after, made


def _sharding(primitive: Primitive, state: ShapedArray, **params: Any) -> list[Any]:
    *batch, words = entries(state)
    if words is not None:
        raise ambiguous(primitive, "has a state that is divided along its words", [state])
    return [batch, batch]


rng_bit_generator_p: Primitive = primitive(
    "rng_bit_generator",
    rules.impl(_impl),
    rules.abstract_eval(_type),
    no_derivative(),
    leading_batch(),
    rules.transpose.absent("not linear: its operand and results are integers"),
    rules.lowering["stablehlo"](_lowering),
    rules.sharding(_sharding, takes_primitive=True),
    multiple_results=True,
)
"""Operand: one state, or several with leading batch axes, each of which gives ``shape`` bits."""
