"""The primitive ``while`` and its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_control_flow.shared.compiled_evaluation import application_of, run_compiled
from bindax_control_flow.shared.flags import kept
from bindax_control_flow.shared.loop_step import batch_dims
from bindax_control_flow.shared.partial_evaluation import unzipped_by
from bindax_control_flow.shared.programs import batches_in_front, compared, converted
from bindax_control_flow.while_loop.derived_loops import (
    Derived,
    Loop,
    jvp_loop,
    kept_with,
    known_loop,
    pruned_loop,
    vmap_loop,
)
from bindax_core.extend import (
    JaxprEqn,
    Primitive,
    Region,
    ShapedArray,
    Var,
    as_array,
    eval_jaxpr,
    find_backend,
    primitive,
    rules,
)
from bindax_transforms import check_repeatable, with_zeros
from bindax_transforms.extend import varying_beyond, varying_of, with_varying
from bindax_transforms.zeros import Zero, instantiate_zeros

__all__ = ["while_p"]

PREDICATE = ShapedArray((), np.bool_)


def _impl(*operands: Any, **params: Any) -> list[Any]:
    backend = find_backend()
    if backend.name != "numpy":
        # One dispatch in place of one for each operation of each iteration.
        program = application_of(while_p, operands, params)
        return run_compiled(program, backend, operands)
    loop = Loop(**params)
    cond_consts, body_consts, carry = loop.split(operands)
    condition, body = loop.cond_jaxpr, loop.body_jaxpr
    while bool(eval_jaxpr(condition.jaxpr, condition.consts, *cond_consts, *carry)[0]):
        carry = eval_jaxpr(body.jaxpr, body.consts, *body_consts, *carry)
    return [as_array(x) for x in converted(carry, loop.carry_avals)]


def _abstract_eval(*avals: Any, **params: Any) -> list[Any]:
    loop = Loop(**params)
    cond_consts, body_consts, carry = loop.split(avals)
    _check("condition of while takes", loop.cond_jaxpr.in_avals, [*cond_consts, *carry])
    _check("body of while takes", loop.body_jaxpr.in_avals, [*body_consts, *carry])
    _check("body of while returns", loop.body_jaxpr.out_avals, carry)
    _check("condition of while returns", loop.cond_jaxpr.out_avals, [PREDICATE])
    operands = [*cond_consts, *carry, *body_consts, *carry]
    going = varying_of(loop.cond_jaxpr.out_avals) | varying_beyond(
        operands, [*loop.cond_jaxpr.in_avals, *loop.body_jaxpr.in_avals]
    )
    return [with_varying(aval, going) for aval in loop.carry_avals]


def _check(what: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
    if compared(found) != compared(expected):
        raise TypeError(
            f"the {what} ({', '.join(aval.str_short() for aval in found)}) where "
            f"({', '.join(aval.str_short() for aval in expected)}) is needed."
        )


def bind_while(
    made: Derived,
    carry: Sequence[Any],
    cond_consts: Sequence[Any] = (),
    body_consts: Sequence[Any] = (),
) -> list[Any]:
    """The last carry of a loop, from the first one and the constants that it does not have."""
    operands = [*made.cond_consts, *cond_consts, *made.body_consts, *body_consts, *carry]
    return while_p.bind(*operands, **made.loop._asdict())  # type: ignore[no-any-return]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    loop = Loop(**params)
    cond_consts, body_consts, carry = loop.split(primals)
    _, const_dots, carry_dots = loop.split(tangents)
    consts = [type(t) is not Zero for t in const_dots]
    first = [type(t) is not Zero for t in carry_dots]
    made, nonzeros = kept_with(
        loop, ("jvp", *consts, *first), lambda: jvp_loop(loop, consts, first)
    )
    given_consts = kept(const_dots, consts)
    given_carry = [instantiate_zeros(t) for t in kept(carry_dots, nonzeros)]
    outs = bind_while(made, [*carry, *given_carry], cond_consts, [*body_consts, *given_consts])
    return outs[: len(carry)], with_zeros(nonzeros, outs[len(carry) :], loop.carry_avals)


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int | None]]:
    loop = Loop(**params)
    cond_consts, body_consts, carry = loop.split(operands)
    cond_dims, body_dims, carry_dims = loop.split(dims)
    first = [d is not None for d in carry_dims]
    made, flags, condition = kept_with(
        loop,
        ("vmap", axis_size, *cond_dims, *body_dims, *first),
        lambda: vmap_loop(loop, axis_size, cond_dims, body_dims, first),
    )
    carry = batches_in_front(axis_size, carry, carry_dims, flags)
    if condition is None:
        return bind_while(made, carry, cond_consts, body_consts), batch_dims(flags)
    for program in (loop.cond_jaxpr, loop.body_jaxpr):
        check_repeatable(program, "vmap of while_loop goes on until all elements are done")
    going = eval_jaxpr(condition.jaxpr, condition.consts, *cond_consts, *carry)
    _, *outs = bind_while(made, [*going, *carry], body_consts=[*cond_consts, *body_consts])
    return outs, batch_dims(flags)


def _split(unknowns: Sequence[bool], eqn: JaxprEqn) -> Any:
    loop = Loop(**eqn.params)
    part = kept_with(loop, ("known", *unknowns), lambda: known_loop(loop, list(unknowns)))
    if part is None:
        return None, eqn, [True] * len(eqn.outvars), []
    known = [not flag for flag in part.unknown]
    known_eqn = eqn.replace(
        invars=kept(eqn.invars, part.takes),
        outvars=kept(eqn.outvars, known),
        params=part.loop._asdict(),
    )
    outvars = [
        v if flag else Var(v.aval) for v, flag in zip(eqn.outvars, part.unknown, strict=True)
    ]
    later = eqn.replace(outvars=outvars, params=part.later._asdict())
    return known_eqn, later, part.unknown, []


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    loop = Loop(**eqn.params)
    pruned, used = kept_with(
        loop, ("dce", *used_outputs), lambda: pruned_loop(loop, list(used_outputs))
    )
    _, _, carry = loop.split(used)
    return eqn.replace(
        invars=kept(eqn.invars, used),
        outvars=kept(eqn.outvars, carry),
        params=pruned._asdict(),
    )


def _lowering(ctx: Any, *values: Any, **params: Any) -> list[Any]:
    """A StableHLO loop whose state is all operands: its regions see nothing from outside."""
    loop = Loop(**params)
    avals = ctx.avals_in

    def condition(inner: Any, *state: Any) -> list[Any]:
        cond_consts, _, carry = loop.split(state)
        return inner.inline(loop.cond_jaxpr, [*cond_consts, *carry], "while/cond")  # type: ignore[no-any-return]

    def body(inner: Any, *state: Any) -> list[Any]:
        cond_consts, body_consts, carry = loop.split(state)
        outs = inner.inline(loop.body_jaxpr, [*body_consts, *carry], "while/body")
        return [*cond_consts, *body_consts, *outs]

    regions = [Region(avals, condition), Region(avals, body)]
    outs: list[Any] = ctx.op("stablehlo.while", values, avals, regions=regions)
    return outs[loop.cond_nconsts + loop.body_nconsts :]


while_p: Primitive = primitive(
    "while",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose.absent(
        "reverse-mode differentiation would have to store what an unknown number of iterations "
        "computes; use scan, or fori_loop with bounds that are not traced, or run scan up to a "
        "bound on the number of iterations with a cond in its body; jvp and jacfwd do work"
    ),
    unzipped_by(_split),
    rules.dce(_dce),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Applies ``body_jaxpr`` to the carry as long as ``cond_jaxpr`` holds of it. Operands: the
constants of the condition, those of the body, and the carry; parameters as in ``Loop``."""
