"""``checkpoint`` as a higher-order primitive: its derivative computes values again.

The method: what reverse mode needs of a part of the program is not kept from its evaluation, but
computed again when the cotangents arrive (Griewank and Walther, *Evaluating Derivatives*, 2008,
chapter 12; Chen et al., *Training Deep Nets with Sublinear Memory Cost*, 2016, for layers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Origin,
    Region,
    ShapedArray,
    as_array,
    eval_jaxpr,
    primitive,
    rules,
)
from bindax_transforms._flat import partition, remembered, split
from bindax_transforms._program_rules import Params, ProgramRules
from bindax_transforms.autodiff.partial_eval import SplitProgram, partial_eval_jaxpr
from bindax_transforms.autodiff.transposition import transpose_jaxpr
from bindax_transforms.remat._split import calls, split_by_policy
from bindax_transforms.staging.trace import trace_to_jaxpr


class _CheckpointRules(ProgramRules):
    """Those of ``checkpoint``: what runs later computes again what the policy does not save."""

    def usual(self, eqn: JaxprEqn) -> Params:
        return {"prevent_cse": True, "policy": None, "differentiated": False}

    def later_params(self, params: Params, jaxpr: ClosedJaxpr) -> Params:
        return {**params, "jaxpr": jaxpr, "differentiated": True}

    def split(self, params: Params, in_unknowns: Sequence[bool]) -> SplitProgram:
        return split_by_policy(params["jaxpr"], in_unknowns, params["policy"])

    def transposed(
        self, jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
    ) -> tuple[ClosedJaxpr, list[bool]]:
        key = ("recompute and transpose", tuple(linear), tuple(nonzero_cts))
        return remembered(jaxpr, key, lambda: _recomputed(jaxpr, linear, nonzero_cts))


def _recomputed(
    jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    """The program that computes again what is not linear, then runs the rest backwards."""
    parts = partial_eval_jaxpr(jaxpr, linear)
    num_residuals = len(parts.residual_avals)
    num_linear = len(parts.unknown.in_avals) - num_residuals
    _, nonzero_unknown = partition(parts.out_unknowns, nonzero_cts)
    backward, nonzero_out = transpose_jaxpr(
        parts.unknown, [False] * num_residuals + [True] * num_linear, nonzero_unknown
    )
    # A result that is not linear has no cotangent that matters.
    used = partition(nonzero_cts, parts.out_unknowns)[1]

    def recompute_and_transpose(*values: Any) -> list[Any]:
        known, given = split(values, len(parts.known.in_avals))
        outs = eval_jaxpr(parts.known.jaxpr, parts.known.consts, *known)
        _, residuals = parts.residual_values(known, outs)
        _, cts = partition(used, given)
        return eval_jaxpr(backward.jaxpr, backward.consts, *residuals, *cts)

    ct_avals = [aval.tangent_aval() for aval in partition(nonzero_cts, jaxpr.out_avals)[1]]
    origin = Origin("transpose")
    made = trace_to_jaxpr(recompute_and_transpose, [*parts.known.in_avals, *ct_avals], origin)
    return made, nonzero_out


def _impl(*operands: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return [as_array(x) for x in eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)]


def _lowering(
    ctx: Any,
    *values: Any,
    jaxpr: ClosedJaxpr,
    prevent_cse: bool,
    differentiated: bool,
    **params: Any,
) -> Sequence[Any]:
    """The operations of the program in place, hidden when they compute something again.

    A compiler that sees one computation twice merges the two, and keeps the value in between.
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


_rules = _CheckpointRules()
checkpoint_p = _rules.primitive = primitive(
    "checkpoint",
    rules.impl(_impl, on_values=True),
    _rules.rules(),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""A program whose derivative computes again what the policy does not save. Parameters: ``jaxpr``,
a program without constants; ``prevent_cse``, whether the compiler is kept from merging the second
computation with the first; ``policy``, or None to save nothing but operands; ``differentiated``,
whether it is a part of a derivative that runs after the first computation."""

calls[checkpoint_p] = _rules
