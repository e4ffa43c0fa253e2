"""The transpose of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_control_flow.scan.loop import Loop
from bindax_control_flow.shared.flags import fixpoint, kept
from bindax_core.extend import DebugInfo
from bindax_transforms import merge, partition, split, with_zeros
from bindax_transforms.extend import (
    StagedProgram,
    stage_with_references,
    transpose_with_references,
)
from bindax_transforms.zeros import add_tangents, instantiate_zeros


def transposed(
    loop: Loop, linear: Sequence[bool], nonzero_cts: Sequence[bool]
) -> tuple[Loop, list[Any], list[bool], StagedProgram]:
    """The transpose of a loop that is linear in its carry, and in the operands marked so.

    The steps run in the opposite order. What flows back to the carry is carried; what flows back
    to constants is summed up on the way; what flows back to sequences is stacked.

    It takes ``residual consts | cotangents of consts so far, cotangents of the carry | residual xs,
    cotangents of ys``, and returns the cotangents of consts and of the carry, and stacked those of
    xs. Given are the loop, the values of its leading constants, and which operands, and carries,
    have a cotangent; and the step, whose references have their values before the other constants,
    and before the cotangents that are carried.
    """
    linear_consts, _, linear_xs = loop.operands(linear)
    step_linear = [*linear_consts, *[True] * loop.num_carry, *linear_xs]
    carry, ys = loop.results(nonzero_cts)

    def transpose(carry: list[bool]) -> tuple[StagedProgram, list[list[bool]]]:
        program, found = transpose_with_references(loop.jaxpr, step_linear, [*carry, *ys])
        return program, split(found, sum(linear_consts), loop.num_carry)

    carry = fixpoint(lambda flags: transpose(flags)[1][1], carry)
    program, (has_const, has_carry, has_x) = transpose(carry)
    residual_avals, linear_avals = partition(step_linear, loop.jaxpr.in_avals)
    const_avals = kept(linear_avals[: len(has_const)], has_const)
    carry_avals = kept(loop.carry_avals, carry)
    y_avals = kept(loop.results(loop.jaxpr.out_avals)[1], ys)

    def step(*values: Any) -> list[Any]:
        residuals, sums, cts, cts_y = split(
            values, len(residual_avals), len(const_avals), len(carry_avals)
        )
        outs = iter(program.apply(*residuals, *cts, *cts_y))
        added = [add_tangents(total, next(outs)) for total in sums]
        flowed = with_zeros(has_carry, outs, [a.cotangent_aval() for a in loop.carry_avals])
        back = [instantiate_zeros(ct) for ct in kept(flowed, carry)]
        return [*added, *back, *outs]

    cotangent_avals = [a.cotangent_aval() for a in (*const_avals, *carry_avals, *y_avals)]
    origin = DebugInfo("transpose of scan")
    staged = stage_with_references(step, [*residual_avals, *cotangent_avals], origin)
    made, num_consts = staged.for_loop(), linear_consts.count(False)
    reads, writes, consts, xs, carried, y_cts = split(
        made.jaxpr.invars,
        len(staged.reads),
        len(staged.targets),
        num_consts,
        len(residual_avals) - num_consts,
        len(const_avals) + len(carry_avals),
    )
    results = split(made.jaxpr.outvars, len(writes) + len(carried))
    arguments = [[*reads, *consts], [*writes, *carried], [*xs, *y_cts]]
    new_loop, values = loop.derive(made, arguments, results, reverse=not loop.reverse)
    of_consts = merge(linear_consts, [False] * num_consts, has_const)
    of_xs = merge(linear_xs, [False] * linear_xs.count(False), has_x)
    return new_loop, values, [*of_consts, *carry, *of_xs], staged
