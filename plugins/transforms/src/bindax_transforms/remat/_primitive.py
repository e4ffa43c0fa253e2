"""``checkpoint`` as a higher-order primitive: its derivative computes values again.

The method: what reverse mode needs of a part of the program is not kept from its evaluation, but
computed again when the cotangents arrive (Griewank and Walther, *Evaluating Derivatives*, 2008,
chapter 12; Chen et al., *Training Deep Nets with Sublinear Memory Cost*, 2016, for layers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Origin,
    Printer,
    Zero,
    as_array,
    eval_jaxpr,
    format_application,
    full_lower,
    hoist_consts,
    is_undef_primal,
    primitive,
    rules,
)
from bindax_transforms._flat import merge, partition, split
from bindax_transforms.autodiff.jvp import jvp_jaxpr
from bindax_transforms.autodiff.partial_eval import (
    PartialEvalTrace,
    PartialEvalTracer,
    dce_of_call,
    partial_eval_jaxpr,
)
from bindax_transforms.autodiff.transposition import transpose_jaxpr
from bindax_transforms.batching.vmap import BatchDim, vmap_jaxpr
from bindax_transforms.remat._lowering import checkpoint_lowering
from bindax_transforms.remat._split import calls, split_by_policy
from bindax_transforms.staging.trace import trace_to_jaxpr

Params = dict[str, Any]


def _with_jaxpr(params: Params, jaxpr: ClosedJaxpr) -> Params:
    return {**params, "jaxpr": jaxpr}


def _recomputing(params: Params, jaxpr: ClosedJaxpr) -> Params:
    """The parameters of what runs later than the first evaluation."""
    return {**params, "jaxpr": jaxpr, "differentiated": True}


def _bind(jaxpr: ClosedJaxpr, operands: Sequence[Any], params: Params) -> list[Any]:
    """Bind with a transformed program, whose constants become leading operands."""
    hoisted, consts = hoist_consts(jaxpr)
    return checkpoint_p.bind(*consts, *operands, **_with_jaxpr(params, hoisted))  # type: ignore[no-any-return]


def _impl(*operands: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return [as_array(x) for x in eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)]


def _abstract_eval(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    expected = [aval.strip_weak_type() for aval in jaxpr.in_avals]
    given = [aval.strip_weak_type() for aval in avals]
    if given != expected:
        raise TypeError(
            f"checkpoint of a program that takes ({', '.join(a.str_short() for a in expected)}) "
            f"was applied to ({', '.join(a.str_short() for a in given)})."
        )
    return jaxpr.out_avals


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    program: ClosedJaxpr = params["jaxpr"]
    jaxpr, nonzeros_out = jvp_jaxpr(program, [type(t) is not Zero for t in tangents])
    given = [t for t in tangents if type(t) is not Zero]
    primals_out, rest = split(_bind(jaxpr, [*primals, *given], params), len(nonzeros_out))
    found = iter(rest)
    tangents_out = [
        next(found) if nonzero else Zero(aval.tangent_aval())
        for nonzero, aval in zip(nonzeros_out, program.out_avals, strict=True)
    ]
    return primals_out, tangents_out


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], **params: Any
) -> tuple[list[Any], list[BatchDim]]:
    jaxpr, out_dims = vmap_jaxpr(params["jaxpr"], axis_size, dims)
    return _bind(jaxpr, operands, params), out_dims


def _partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[PartialEvalTracer], **params: Any
) -> list[Any]:
    in_unknowns = [not t.is_known for t in tracers]
    parts = split_by_policy(params["jaxpr"], in_unknowns, params["policy"])
    known, unknown = partition(in_unknowns, tracers)
    known_args = [full_lower(t.value) for t in known]
    outs = checkpoint_p.bind(*known_args, **_with_jaxpr(params, parts.known))
    known_outs, residuals = parts.residual_values(known_args, outs)
    unknown_outs = [trace.unknown(aval) for aval in parts.unknown.out_avals]
    recomputing = _recomputing(params, parts.unknown)
    trace.add_eqn(checkpoint_p, [*residuals, *unknown], unknown_outs, recomputing)
    return parts.merge_results(known_outs, unknown_outs)


def _partial_eval_jaxpr(
    in_unknowns: Sequence[bool], eqn: JaxprEqn
) -> tuple[JaxprEqn, JaxprEqn, list[bool], list[Any]]:
    params = eqn.params
    parts = split_by_policy(params["jaxpr"], in_unknowns, params["policy"])
    known_params = _with_jaxpr(params, parts.known)
    unknown_params = _recomputing(params, parts.unknown)
    known_eqn, unknown_eqn, residuals = parts.split_equation(
        eqn, in_unknowns, known_params, unknown_params
    )
    return known_eqn, unknown_eqn, parts.out_unknowns, residuals


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    linear = [is_undef_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cotangents]
    jaxpr, nonzero_out = _transposed(params["jaxpr"], linear, nonzero_cts)
    known, undefined = partition(linear, operands)
    given = [ct for ct in cotangents if type(ct) is not Zero]
    outs = iter(_bind(jaxpr, [*known, *given], _recomputing(params, jaxpr)))
    cts = [
        next(outs) if nonzero else Zero(x.aval.tangent_aval())
        for nonzero, x in zip(nonzero_out, undefined, strict=True)
    ]
    return merge(linear, [None] * len(known), cts)


def _transposed(
    jaxpr: ClosedJaxpr, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    """The program that computes again what is not linear, then runs the rest backwards."""
    key = ("recompute and transpose", tuple(linear), tuple(nonzero_cts))
    if key in jaxpr.cache:
        return jaxpr.cache[key]  # type: ignore[no-any-return]
    parts = partial_eval_jaxpr(jaxpr, linear)
    num_residuals = len(parts.residual_avals)
    num_linear = len(parts.unknown.in_avals) - num_residuals
    _, nonzero_unknown = partition(parts.out_unknowns, nonzero_cts)
    backward, nonzero_out = transpose_jaxpr(
        parts.unknown, [False] * num_residuals + [True] * num_linear, nonzero_unknown
    )
    # A result that is not linear has no cotangent that matters.
    used = [u for u, nonzero in zip(parts.out_unknowns, nonzero_cts, strict=True) if nonzero]

    def recompute_and_transpose(*values: Any) -> list[Any]:
        known, given = split(values, len(parts.known.in_avals))
        outs = eval_jaxpr(parts.known.jaxpr, parts.known.consts, *known)
        _, residuals = parts.residual_values(known, outs)
        _, cts = partition(used, given)
        return eval_jaxpr(backward.jaxpr, backward.consts, *residuals, *cts)

    ct_avals = [
        aval.tangent_aval()
        for aval, nonzero in zip(jaxpr.out_avals, nonzero_cts, strict=True)
        if nonzero
    ]
    origin = Origin("transpose")
    made = trace_to_jaxpr(recompute_and_transpose, [*parts.known.in_avals, *ct_avals], origin)
    jaxpr.cache[key] = made, nonzero_out
    return made, nonzero_out


_UNREMARKABLE = {"prevent_cse": True, "policy": None, "differentiated": False}


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    """It shows its program, and of the rest what is not as usual."""
    shown = {k: v for k, v in eqn.params.items() if v != _UNREMARKABLE.get(k, _UNREMARKABLE)}
    return format_application(eqn, shown, printer)


checkpoint_p = primitive(
    "checkpoint",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    rules.partial_eval(_partial_eval),
    rules.partial_eval_jaxpr(_partial_eval_jaxpr),
    rules.dce(dce_of_call(_with_jaxpr)),
    rules.pretty_print(_pretty_print),
    rules.lowering["stablehlo"](checkpoint_lowering),
    multiple_results=True,
)
"""A program whose derivative computes again what the policy does not save. Parameters: ``jaxpr``,
a program without constants; ``prevent_cse``, whether the compiler is kept from merging the second
computation with the first; ``policy``, or None to save nothing but operands; ``differentiated``,
whether it is a part of a derivative that runs after the first computation."""

calls[checkpoint_p] = _with_jaxpr
