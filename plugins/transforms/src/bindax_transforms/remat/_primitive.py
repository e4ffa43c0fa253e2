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
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Region,
    ShapedArray,
    Var,
    as_array,
    current_source,
    describe_function,
    eval_jaxpr,
    primitive,
    rules,
)
from bindax_core.sharding import Space
from bindax_transforms._closed_call_rules import ClosedCallRules, Params
from bindax_transforms._flat import broadcast_flags, cached_on_jaxpr, partition, split
from bindax_transforms.autodiff.partial_eval import SplitProgram, Splitting, partial_eval_jaxpr
from bindax_transforms.autodiff.transposition import transpose_with_references
from bindax_transforms.compilation.sharding_constraint import sharding_constraint_p
from bindax_transforms.remat.checkpoint_policies import Offload, Policy, nothing_saveable
from bindax_transforms.staging.backward_logs import are_logs_wanted
from bindax_transforms.staging.names import enter_name
from bindax_transforms.staging.staged_program import StagedProgram, stage_with_references


class _CheckpointRules(ClosedCallRules):
    """Those of ``checkpoint``: what runs later computes again what the policy does not save."""

    def usual(self, eqn: JaxprEqn) -> Params:
        return {"prevent_cse": True, "policy": None, "differentiated": False}

    def later_params(self, params: Params, jaxpr: ClosedJaxpr) -> Params:
        return {**params, "jaxpr": jaxpr, "differentiated": True}

    def split(self, params: Params, in_unknowns: Sequence[bool]) -> SplitProgram:
        policy = params["policy"] or nothing_saveable
        jaxpr: ClosedJaxpr = params["jaxpr"]
        key = ("checkpoint", tuple(in_unknowns), policy)
        return cached_on_jaxpr(
            jaxpr, key, lambda: _PolicySplitting(jaxpr.jaxpr, in_unknowns, policy).later_part()
        )

    def transposed(
        self, jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
    ) -> tuple[StagedProgram, list[bool]]:
        key = ("recompute and transpose", tuple(linear), tuple(nonzero_cts), are_logs_wanted())
        return cached_on_jaxpr(jaxpr, key, lambda: _recomputed(jaxpr, linear, nonzero_cts))


class _PolicySplitting(Splitting):
    """The two parts of a jaxpr under a policy, which also decides about what is inside calls."""

    def __init__(self, jaxpr: Jaxpr, in_unknowns: Sequence[bool], policy: Policy) -> None:
        self.policy = policy
        super().__init__(jaxpr, in_unknowns)

    def later_part(self) -> SplitProgram:
        """The parts, of which the unknown one has the unknown results."""
        return self.parts([x in self.unknown for x in self.jaxpr.outvars])

    def add(self, eqn: JaxprEqn, unknowns_in: list[bool]) -> None:
        rule = rules.remat.functions.get(eqn.primitive)
        if rule is None:
            super().add(eqn, unknowns_in)
            return
        known_eqn, again_eqn, unknowns_out = rule(self._unzip, unknowns_in, eqn)
        again = set(again_eqn.outvars)
        saved = [] if known_eqn is None else [v for v in known_eqn.outvars if v not in again]
        is_same = again_eqn.primitive is eqn.primitive and not eqn.effects
        if is_same and not any(unknowns_in) and not saved:
            known_eqn = again_eqn = eqn
        if known_eqn is not None:
            self.known_eqns.append(known_eqn)
        self.saved.update(dict.fromkeys(saved))
        self.unknown_eqns.append(again_eqn)
        self.unknown.update(partition(unknowns_out, eqn.outvars)[1])

    def _unzip(
        self,
        closed: ClosedJaxpr,
        in_unknowns: Sequence[bool],
        instantiate: bool | Sequence[bool] = False,
    ) -> SplitProgram:
        """A jaxpr inside unzipped, where the unknown part has all results."""
        wanted = broadcast_flags(closed, instantiate)
        jaxpr = closed.jaxpr

        def make() -> SplitProgram:
            inner = _PolicySplitting(jaxpr, in_unknowns, self.policy)
            pairs = zip(jaxpr.outvars, wanted, strict=True)
            return inner.parts([x in inner.unknown or force for x, force in pairs], jaxpr.outvars)

        key = ("checkpoint inside", tuple(in_unknowns), wanted, self.policy)
        return cached_on_jaxpr(closed, key, make)

    def add_known(self, eqn: JaxprEqn) -> None:
        # An effect happens once, so what has one is not done again.
        answer = bool(eqn.effects) or _answer(self.policy, eqn)
        if answer is True:
            super().add_known(eqn)
            return
        self.known_eqns.append(eqn)
        if not answer:
            self.unknown_eqns.append(eqn)
            return
        for v in eqn.outvars:
            away = Var(v.aval)
            self.known_eqns.append(_moved(eqn, v, away, answer.target))
            self.unknown_eqns.append(_moved(eqn, away, v, answer.source))
            self.saved[away] = None


def _moved(eqn: JaxprEqn, x: Var, moved: Var, memory: Space) -> JaxprEqn:
    """An equation that moves a result of another one to a memory."""
    params = {"sharding": memory}
    return eqn.replace(primitive=sharding_constraint_p, invars=[x], outvars=[moved], params=params)


def _answer(policy: Policy, eqn: JaxprEqn) -> bool | Offload:
    """Ask a policy about the results of an equation."""
    answer = policy(eqn.primitive, *[x.aval for x in eqn.invars], **eqn.params)
    if isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    if isinstance(answer, Offload):
        return answer
    raise TypeError(
        f"the policy {describe_function(policy)} of checkpoint must return True or False, but for "
        f"{eqn.primitive.name} it returned {answer!r:.80}. A policy is a function (primitive, "
        f"*avals, **params) -> bool; the ones in checkpoint_policies that take names are called "
        f"first: policy=checkpoint_policies.save_only_these_names('name')."
    )


def _recomputed(
    jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[StagedProgram, list[bool]]:
    """The jaxpr that computes again what is not linear, then runs the rest backwards."""
    parts = partial_eval_jaxpr(jaxpr, linear)
    num_residuals = len(parts.residual_avals)
    num_linear = len(parts.unknown.in_avals) - num_residuals
    _, nonzero_unknown = partition(parts.out_unknowns, nonzero_cts)
    backward, nonzero_out = transpose_with_references(
        parts.unknown, [False] * num_residuals + [True] * num_linear, nonzero_unknown
    )
    # A result that is not linear has no cotangent that matters.
    used = partition(nonzero_cts, parts.out_unknowns)[1]

    def recompute_and_transpose(*values: Any) -> Sequence[Any]:
        known, given = split(values, len(parts.known.in_avals))
        outer = enter_name("rematted_computation")
        try:
            outs = eval_jaxpr(parts.known.jaxpr, parts.known.consts, *known)
        finally:
            current_source.info = outer
        _, residuals = parts.residual_values(known, outs)
        _, cts = partition(used, given)
        return backward.apply(*residuals, *cts)

    ct_avals = [aval.cotangent_aval() for aval in partition(nonzero_cts, jaxpr.out_avals)[1]]
    origin = DebugInfo("transpose")
    in_avals = [*parts.known.in_avals, *ct_avals]
    return stage_with_references(recompute_and_transpose, in_avals, origin), nonzero_out


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
    """The operations of the jaxpr in place, hidden when they compute something again.

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
    """The jaxpr as the branch of a conditional that is always taken.

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
"""A jaxpr whose derivative computes again what the policy does not save. Parameters: ``jaxpr``,
a jaxpr without constants; ``prevent_cse``, whether the compiler is kept from merging the second
computation with the first; ``policy``, or None to save nothing but operands; ``differentiated``,
whether it is a part of a derivative that runs after the first computation."""
