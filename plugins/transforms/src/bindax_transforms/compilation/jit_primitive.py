"""``jit`` as a higher-order primitive: its operands are arrays, its parameter is a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    LoweringContext,
    Printer,
    Zero,
    executable_of,
    find_backend,
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


def jit_params(params: dict[str, Any], jaxpr: ClosedJaxpr, **changes: Any) -> dict[str, Any]:
    """The parameters of a ``jit`` with another program; nothing of it is donated."""
    donated = (False,) * len(jaxpr.jaxpr.invars)
    return {**params, "jaxpr": jaxpr, "donated": donated, **changes}


def _impl(
    *operands: Any,
    jaxpr: ClosedJaxpr,
    name: str,
    donated: tuple[bool, ...],
    inline: bool,
    keep_unused: bool,
    backend: str | None,
) -> Sequence[Any]:
    executable = executable_of(
        jaxpr,
        find_backend(backend),
        name=name,
        donated=donated,
        keep_unused=keep_unused,
        operands=operands,
    )
    return executable(*operands)


def _abstract_eval(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    expected = [aval.strip_weak_type() for aval in jaxpr.in_avals]
    given = [aval.strip_weak_type() for aval in avals]
    if given != expected:
        raise TypeError(
            f"jit of a program that takes ({', '.join(a.str_short() for a in expected)}) was "
            f"applied to ({', '.join(a.str_short() for a in given)})."
        )
    return jaxpr.out_avals


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    nonzeros = [type(t) is not Zero for t in tangents]
    jaxpr, nonzeros_out = jvp_jaxpr(params["jaxpr"], nonzeros)
    given = [t for t in tangents if type(t) is not Zero]
    outs = bind_jit(jaxpr, [*primals, *given], params)
    primals_out, rest = split(outs, len(nonzeros_out))
    found = iter(rest)
    tangents_out = [
        next(found) if nonzero else Zero(v.aval.tangent_aval())
        for nonzero, v in zip(nonzeros_out, params["jaxpr"].jaxpr.outvars, strict=True)
    ]
    return primals_out, tangents_out


def bind_jit(jaxpr: ClosedJaxpr, operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """Bind ``jit`` with a transformed program, whose constants become leading operands."""
    hoisted, consts = hoist_consts(jaxpr)
    return jit_p.bind(*consts, *operands, **jit_params(params, hoisted))  # type: ignore[no-any-return]


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], **params: Any
) -> tuple[list[Any], list[BatchDim]]:
    jaxpr, out_dims = vmap_jaxpr(params["jaxpr"], axis_size, dims)
    outs = bind_jit(jaxpr, operands, params)
    return outs, out_dims


def _partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[PartialEvalTracer], **params: Any
) -> list[Any]:
    in_unknowns = [not t.is_known for t in tracers]
    parts = partial_eval_jaxpr(params["jaxpr"], in_unknowns)
    known, unknown = partition(in_unknowns, tracers)
    known_args = [full_lower(t.value) for t in known]
    outs = jit_p.bind(*known_args, **jit_params(params, parts.known))
    known_outs, residuals = parts.residual_values(known_args, outs)
    unknown_outs = [trace.unknown(aval) for aval in parts.unknown.out_avals]
    trace.add_eqn(jit_p, [*residuals, *unknown], unknown_outs, jit_params(params, parts.unknown))
    return parts.merge_results(known_outs, unknown_outs)


def _partial_eval_jaxpr(
    in_unknowns: Sequence[bool], eqn: JaxprEqn
) -> tuple[JaxprEqn, JaxprEqn, list[bool], list[Any]]:
    parts = partial_eval_jaxpr(eqn.params["jaxpr"], in_unknowns)
    known_params = jit_params(eqn.params, parts.known)
    unknown_params = jit_params(eqn.params, parts.unknown)
    known_eqn, unknown_eqn, residuals = parts.split_equation(
        eqn, in_unknowns, known_params, unknown_params
    )
    return known_eqn, unknown_eqn, parts.out_unknowns, residuals


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    linear = [is_undef_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cotangents]
    jaxpr, nonzero_out = transpose_jaxpr(params["jaxpr"], linear, nonzero_cts)
    residuals, undefined = partition(linear, operands)
    given = [ct for ct in cotangents if type(ct) is not Zero]
    outs = bind_jit(jaxpr, [*residuals, *given], params)
    found = iter(outs)
    cts = [
        next(found) if nonzero else Zero(x.aval.tangent_aval())
        for nonzero, x in zip(nonzero_out, undefined, strict=True)
    ]
    return merge(linear, [None] * len(residuals), cts)


_UNREMARKABLE = {"inline": False, "keep_unused": False, "backend": None}


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    """A call shows its name, its program, and what is not as usual."""
    shown = {k: v for k, v in eqn.params.items() if v != _UNREMARKABLE.get(k, _UNREMARKABLE)}
    if not any(eqn.params["donated"]):
        del shown["donated"]
    return format_application(eqn, shown, printer)


def _lowering(
    ctx: LoweringContext,
    *values: Any,
    jaxpr: ClosedJaxpr,
    name: str,
    inline: bool = False,
    **params: Any,
) -> Sequence[Any]:
    """Call a function of the module, which all applications of one program share."""
    return ctx.inline(jaxpr, values) if inline else ctx.call(jaxpr, values, name)


jit_p = primitive(
    "jit",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    rules.partial_eval(_partial_eval),
    rules.partial_eval_jaxpr(_partial_eval_jaxpr),
    rules.dce(dce_of_call(jit_params)),
    rules.pretty_print(_pretty_print),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""A call of a program that a backend compiles. Parameters: ``jaxpr``, a program without constants;
``name``; ``donated``, for each operand whether its bytes may be reused; ``inline``, whether tracing
an outer function dissolves the call; ``keep_unused``; ``backend``, its name or None."""
