"""The transpose of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_control_flow.scan.loop import Loop
from bindax_control_flow.shared.lists import fixpoint, kept
from bindax_core.extend import ClosedJaxpr, Origin, add_tangents, eval_jaxpr, instantiate_zeros
from bindax_transforms import partition, split, trace_to_jaxpr, transpose_jaxpr, with_zeros


class Transposed(NamedTuple):
    """The transpose of a loop, and the values of its leading constants.

    It takes ``residual consts | cotangents of consts so far, cotangents of the carry | residual xs,
    cotangents of ys``, and returns the cotangents of consts and of the carry, and stacked those of
    xs. For each linear constant, each carry and each linear sequence, whether it has a cotangent.
    """

    loop: Loop
    consts: list[Any]
    linear_consts: list[bool]
    carry: list[bool]
    linear_xs: list[bool]


def transposed(loop: Loop, linear: Sequence[bool], nonzero_cts: Sequence[bool]) -> Transposed:
    """The transpose of a loop that is linear in its carry, and in the operands marked so.

    The steps run in the opposite order. What flows back to the carry is carried; what flows back
    to constants is summed up on the way; what flows back to sequences is stacked.
    """
    linear_consts, _, linear_xs = loop.operands(linear)
    step_linear = [*linear_consts, *[True] * loop.num_carry, *linear_xs]
    carry, ys = loop.results(nonzero_cts)

    def transpose(carry: list[bool]) -> tuple[ClosedJaxpr, list[list[bool]]]:
        program, found = transpose_jaxpr(loop.jaxpr, step_linear, [*carry, *ys])
        return program, split(found, sum(linear_consts), loop.num_carry)

    carry = fixpoint(lambda flags: transpose(flags)[1][1], carry)
    program, (has_const, has_carry, has_x) = transpose(carry)
    residual_avals, linear_avals = partition(step_linear, loop.jaxpr.in_avals)
    const_avals = kept(linear_avals[: len(has_const)], has_const)
    carry_avals = kept(loop.carry_avals, carry)
    y_avals = kept(loop.results(loop.jaxpr.out_avals)[1], ys)
    num_residual_consts = loop.num_consts - len(has_const)

    def step(*values: Any) -> list[Any]:
        residuals, sums, cts, cts_y = split(
            values, len(residual_avals), len(const_avals), len(carry_avals)
        )
        outs = iter(eval_jaxpr(program.jaxpr, program.consts, *residuals, *cts, *cts_y))
        added = [add_tangents(total, next(outs)) for total in sums]
        flowed = with_zeros(has_carry, outs, loop.carry_avals)
        back = [instantiate_zeros(ct) for ct in kept(flowed, carry)]
        return [*added, *back, *outs]

    cotangent_avals = [a.tangent_aval() for a in (*const_avals, *carry_avals, *y_avals)]
    made = trace_to_jaxpr(step, [*residual_avals, *cotangent_avals], Origin("transpose of scan"))
    pieces = split(
        made.jaxpr.invars,
        num_residual_consts,
        len(residual_avals) - num_residual_consts,
        len(const_avals) + len(carry_avals),
    )
    new_loop, values = loop.derive(
        made,
        [pieces[0], pieces[2], [*pieces[1], *pieces[3]]],
        split(made.jaxpr.outvars, len(pieces[2])),
        reverse=not loop.reverse,
    )
    return Transposed(new_loop, values, has_const, carry, has_x)
