"""Random bits in StableHLO; several states take their turns in a loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, Region, ShapedArray
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.rules import lowering as lower

COUNT = ShapedArray((), np.int32)
STATE = ShapedArray((2,), np.uint64)


def random_lowering(
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
