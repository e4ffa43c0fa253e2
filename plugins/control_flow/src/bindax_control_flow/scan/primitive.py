"""The primitive ``scan``: a program applied step after step, and its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_control_flow.scan import execution
from bindax_control_flow.scan.loop import Loop, slice_aval
from bindax_control_flow.scan.partial_eval import SplitLoop, split_loop, unzip_again
from bindax_control_flow.scan.transposition import transposed
from bindax_control_flow.shared.flags import kept
from bindax_control_flow.shared.loop_step import batch_dims, batched, differentiated, pruned
from bindax_control_flow.shared.partial_evaluation import unzipped_by
from bindax_control_flow.shared.programs import batches_in_front, compared
from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    Var,
    eval_jaxpr,
    operations_for,
    primitive,
    rules,
    typeof,
)
from bindax_transforms import jit_p, merge, partition, split, with_zeros
from bindax_transforms.extend import varying_beyond, with_varying
from bindax_transforms.zeros import Zero, instantiate_zeros, is_undef_primal

__all__ = ["scan_p"]


def _impl(*operands: Any, **params: Any) -> Sequence[Any]:
    return execution.evaluate(scan_p, Loop(**params), operands)


def _abstract_eval(*avals: Any, **params: Any) -> list[Any]:
    loop = Loop(**params)
    consts, carry, xs = loop.operands(avals)
    for aval in xs:
        if aval.shape[:1] != (loop.length,):
            raise TypeError(
                f"a scan of {loop.length} steps was applied to a sequence of the type "
                f"{aval.str_short()}."
            )
    operands = [*consts, *carry, *map(slice_aval, xs)]
    more = varying_beyond(operands, loop.jaxpr.in_avals)
    given, expected = compared(operands), compared(loop.jaxpr.in_avals)
    if given != expected:
        raise TypeError(
            f"scan of a step that takes ({', '.join(a.str_short() for a in expected)}) was applied "
            f"to ({', '.join(a.str_short() for a in given)})."
        )
    if compared(loop.carry_avals) != loop.operands(expected)[1]:
        made = loop.carry_avals
        raise TypeError(
            f"scan: carry input and carry output must have equal types, but a step takes "
            f"({', '.join(a.str_short() for a in loop.operands(expected)[1])}) and returns "
            f"({', '.join(a.str_short() for a in made)})."
        )
    return [with_varying(aval, more) for aval in (*loop.carry_avals, *loop.stacked_avals)]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    loop = Loop(**params)
    new = differentiated(loop, [type(t) is not Zero for t in tangents])
    consts, carry, xs = loop.operands(primals)
    const_dots, carry_dots, x_dots = loop.operands(tangents)
    outs = scan_p.bind(
        *new.consts,
        *consts,
        *_nonzero(const_dots),
        *carry,
        *[instantiate_zeros(t) for t in kept(carry_dots, new.carry)],
        *xs,
        *_nonzero(x_dots),
        **new.step.params,
    )
    carry_out, carry_out_dots, ys, y_dots = split(
        outs, loop.num_carry, sum(new.carry), loop.num_stacked
    )
    tangents_out = [
        *with_zeros(new.carry, carry_out_dots, loop.carry_avals),
        *with_zeros(new.stacked, y_dots, loop.stacked_avals),
    ]
    return [*carry_out, *ys], tangents_out


def _nonzero(tangents: Sequence[Any]) -> list[Any]:
    return [t for t in tangents if type(t) is not Zero]


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int | None]]:
    loop = Loop(**params)
    consts, carry, xs = loop.operands(operands)
    const_dims, carry_dims, x_dims = loop.operands(dims)
    # A sequence keeps its first axis for the steps; a batch axis there moves behind it.
    xs = [
        operations_for(typeof(x)).move_axis(x, 0, 1) if d == 0 else x
        for x, d in zip(xs, x_dims, strict=True)
    ]
    slice_dims = [None if d is None else max(d - 1, 0) for d in x_dims]
    first_dims = [None if d is None else 0 for d in carry_dims]
    new = batched(loop, axis_size, [*const_dims, *first_dims, *slice_dims])
    carry = batches_in_front(axis_size, carry, carry_dims, new.carry)
    outs = scan_p.bind(*new.consts, *consts, *carry, *xs, **new.step.params)
    return outs, [*batch_dims(new.carry), *[1 if flag else None for flag in new.stacked]]


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    loop = Loop(**params)
    linear = [is_undef_primal(x) for x in operands]
    if all(loop.operands(linear)[1]):
        return _transpose_linear(loop, linear, cotangents, operands)
    parts = split_loop(scan_p, loop, linear)
    if all(loop.operands(parts.in_later)[1]):
        return _transpose_linear(loop, linear, cotangents, operands)
    # A carry that is not linear runs forward, before the others can run backward.
    known, unknown = kept(operands, parts.in_known), kept(operands, parts.in_later)
    later = parts.later_operands(known, eval_jaxpr(parts.known.jaxpr, (), *known), unknown)
    given = kept(cotangents, parts.out_unknowns)
    cts = _transpose(given, *later, **parts.unknown.params)
    found = [ct for x, ct in zip(later, cts, strict=True) if is_undef_primal(x)]
    return merge(linear, [None] * linear.count(False), found)


def _transpose_linear(
    loop: Loop, linear: list[bool], cotangents: Sequence[Any], operands: Sequence[Any]
) -> list[Any]:
    new, values, flags, staged = transposed(
        loop, linear, [type(ct) is not Zero for ct in cotangents]
    )
    consts, _, xs = loop.operands(operands)
    has_const, carry, _ = loop.operands(flags)
    carry_cts, y_cts = loop.results(cotangents)
    sums = [Zero(x.aval.cotangent_aval()) for x in kept(consts, has_const)]
    outs = scan_p.bind(
        *values,
        *[reference.load() for reference in staged.reads],
        *[x for x in consts if not is_undef_primal(x)],
        *[reference.load() for reference in staged.targets],
        *[instantiate_zeros(ct) for ct in (*sums, *kept(carry_cts, carry))],
        *[x for x in xs if not is_undef_primal(x)],
        *_nonzero(y_cts),
        **new.params,
    )
    avals = [x.aval if is_undef_primal(x) else typeof(x) for x in operands]
    cts = with_zeros(flags, staged.store_first(outs), avals)
    # The first carry has cotangents also where it is not linear, as an initial zero.
    return [ct if is_undef_primal(x) else None for x, ct in zip(operands, cts, strict=True)]


def _split(unknowns: Sequence[bool], eqn: JaxprEqn) -> tuple[Any, ...]:
    parts = split_loop(scan_p, Loop(**eqn.params), unknowns)
    known_eqn, unknown_eqn = _two_equations(parts, eqn)
    unknown_eqn = unknown_eqn.replace(outvars=kept(eqn.outvars, parts.out_unknowns))
    return known_eqn, unknown_eqn, parts.out_unknowns, unknown_eqn.invars


def _remat(unzip: Any, unknowns: Sequence[bool], eqn: JaxprEqn) -> tuple[Any, ...]:
    parts = unzip_again(scan_p, Loop(**eqn.params), unknowns, unzip)
    known_eqn, again_eqn = _two_equations(parts, eqn)
    used = [not saved for saved in parts.saved_results()]
    again_eqn = _dce(used, again_eqn.replace(outvars=eqn.outvars))
    return known_eqn, again_eqn, parts.out_unknowns


def _two_equations(parts: SplitLoop, eqn: JaxprEqn) -> tuple[JaxprEqn | None, JaxprEqn]:
    """The equation of the known program, if it does anything, and that of the later loop."""
    known = kept(eqn.invars, parts.in_known)
    known_outs, _ = partition(parts.out_unknowns, eqn.outvars)
    residuals = [Var(v.aval) for v in parts.known.jaxpr.outvars[len(known_outs) :]]
    outs = [*known_outs, *residuals]
    later = parts.later_operands(known, outs, kept(eqn.invars, parts.in_later))
    later_eqn = eqn.replace(invars=later, params=parts.unknown.params)
    runs = outs or parts.known.jaxpr.effects
    return _application(parts.known, eqn, known, outs) if runs else None, later_eqn


def _application(
    program: ClosedJaxpr, eqn: JaxprEqn, operands: Sequence[Any], outs: Sequence[Var]
) -> JaxprEqn:
    """An equation that applies the known program: the loop alone, or a call where there is more."""
    jaxpr = program.jaxpr
    if len(jaxpr.eqns) == 1 and jaxpr.eqns[0].outvars == jaxpr.outvars:
        atoms: dict[Any, Any] = dict(zip(jaxpr.invars, operands, strict=True))
        only = jaxpr.eqns[0]
        return only.replace(
            invars=[atoms.get(x, x) for x in only.invars],
            outvars=outs,
            source_info=eqn.source_info,
        )
    params = {
        "jaxpr": program,
        "name": "scan",
        "donated": (False,) * len(operands),
        "inline": True,
        "keep_unused": False,
        "backend": None,
    }
    return eqn.replace(primitive=jit_p, invars=operands, outvars=outs, params=params)


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    loop, operands, results = pruned(Loop(**eqn.params), used_outputs)
    return eqn.replace(
        invars=kept(eqn.invars, operands),
        outvars=kept(eqn.outvars, results),
        params=loop.params,
    )


def _lowering(ctx: Any, *values: Any, **params: Any) -> list[Any]:
    return execution.Lowering(Loop(**params), values).run(ctx)


scan_p: Primitive = primitive(
    "scan",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    unzipped_by(_split),
    rules.remat(_remat),
    rules.dce(_dce),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Applies a program step after step. Operands: the constants, the first carry, the sequences.
Parameters: ``jaxpr``, the step, a program without constants; ``length``; ``reverse``;
``num_consts`` and ``num_carry``; ``unroll``."""
