"""``checkpoint`` in StableHLO: what computes values again is hidden from the compiler's eye.

A compiler that sees one computation twice merges the two, and keeps the value in between: that
would undo a ``checkpoint``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import ClosedJaxpr, Region, ShapedArray


def checkpoint_lowering(
    ctx: Any,
    *values: Any,
    jaxpr: ClosedJaxpr,
    prevent_cse: bool,
    differentiated: bool,
    **params: Any,
) -> Sequence[Any]:
    """The operations of the program in place, hidden when they compute something again.

    Args:
        ctx: the lowering context.
        values: the operands.
        jaxpr: the program.
        prevent_cse: whether to hide it.
        differentiated: whether it is a part of a derivative, after the first computation.
        params: what does not concern the compiler.
    """
    if not (differentiated and prevent_cse and values):
        return ctx.inline(jaxpr, values)  # type: ignore[no-any-return]
    if ctx.platform == "cpu":
        return _in_a_branch(ctx, jaxpr, values)
    # The operands, cotangents among them, are ready before anything is computed again.
    operands = ctx.op("stablehlo.optimization_barrier", values, ctx.avals_in)
    return ctx.inline(jaxpr, operands)  # type: ignore[no-any-return]


def _in_a_branch(ctx: Any, jaxpr: ClosedJaxpr, values: Sequence[Any]) -> Sequence[Any]:
    """The program as the branch of a conditional that is always taken.

    XLA for CPUs drops barriers before it merges computations, but it does not look into branches.
    That a random number in [0, 1) rounds down to branch 0 is more than it knows.
    """
    number = ShapedArray((), np.float32)
    bounds = [ctx.constant(np.float32(0)), ctx.constant(np.float32(1))]
    (random,) = ctx.op(
        "stablehlo.rng",
        [*bounds, ctx.constant(np.zeros(0, np.int64))],
        [number],
        {"rng_distribution": "#stablehlo<rng_distribution UNIFORM>"},
    )
    (index,) = ctx.op("stablehlo.convert", [random], [ShapedArray((), np.int32)])

    def zeros(inner: Any) -> list[Any]:
        return [_zeros(inner, aval) for aval in jaxpr.out_avals]

    branches = [Region((), lambda inner: inner.inline(jaxpr, values)), Region((), zeros)]
    return ctx.op("stablehlo.case", [index], regions=branches)  # type: ignore[no-any-return]


def _zeros(ctx: Any, aval: Any) -> Any:
    scalar = ShapedArray((), aval.dtype)
    return ctx.broadcast(ctx.constant(np.zeros((), aval.dtype)), scalar, aval, ())
