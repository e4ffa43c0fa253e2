"""Loops made from loops: derivative, batch, transpose, and without what is not needed.

Each of them asks about a step what it can only know about the loop: whether a carry has a tangent,
is batched, or is needed depends on what the step before made of it. So each starts from what is
known of the first step and asks again until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_control_flow.scan.loop import Loop
from bindax_control_flow.shared.lists import fixpoint, partition, split, with_zeros
from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    Origin,
    add_tangents,
    eval_jaxpr,
    instantiate_zeros,
)
from bindax_transforms import dce_jaxpr, jvp_jaxpr, trace_to_jaxpr, transpose_jaxpr, vmap_jaxpr


class Derived(NamedTuple):
    """A loop made from another one, and the values of its leading constants.

    ``carry`` and ``stacked`` answer the question for each carry and stacked result of the old one.
    """

    loop: Loop
    consts: list[Any]
    carry: list[bool]
    stacked: list[bool]


def differentiated(loop: Loop, nonzeros: Sequence[bool]) -> Derived:
    """The derivative: values and tangents are carried side by side.

    It takes ``consts, const tangents, carry, carry tangents, xs, xs tangents`` and returns ``carry,
    carry tangents, ys, ys tangents``; ``nonzeros`` says which operands have tangents.
    """
    consts, carry, xs = loop.operands(nonzeros)

    def derivative(carry: list[bool]) -> tuple[ClosedJaxpr, list[bool]]:
        wanted = [*carry, *[False] * loop.num_stacked]
        return jvp_jaxpr(loop.jaxpr, [*consts, *carry, *xs], wanted)

    carry = fixpoint(lambda flags: loop.results(derivative(flags)[1])[0], carry)
    program, found = derivative(carry)
    _, stacked = loop.results(found)
    primals, tangents = split(program.jaxpr.invars, len(nonzeros))
    c, k, x = loop.operands(primals)
    c_dot, k_dot, x_dot = split(tangents, sum(consts), sum(carry))
    outs, outs_dot = split(program.jaxpr.outvars, len(found))
    k_out, ys = loop.results(outs)
    k_out_dot, ys_dot = split(outs_dot, sum(carry))
    made, values = loop.derive(
        program,
        [[*c, *c_dot], [*k, *k_dot], [*x, *x_dot]],
        [[*k_out, *k_out_dot], [*ys, *ys_dot]],
    )
    return Derived(made, values, carry, stacked)


def batched(loop: Loop, axis_size: int, dims: Sequence[int | None]) -> Derived:
    """A loop over batches.

    ``dims`` are the batch axes of the constants, of the first carry (0 or None), and of the slices
    of the sequences. The carries and stacked results that are batched are so along the first axis
    of each step.
    """
    const_dims, carry_dims, x_dims = loop.operands(dims)

    def batch(carry: list[bool]) -> tuple[ClosedJaxpr, list[bool]]:
        given = [*const_dims, *[0 if flag else None for flag in carry], *x_dims]
        wanted = [*carry, *[False] * loop.num_stacked]
        program, found = vmap_jaxpr(loop.jaxpr, axis_size, given, wanted)
        return program, [d is not None for d in found]

    first = [d is not None for d in carry_dims]
    carry = fixpoint(lambda flags: loop.results(batch(flags)[1])[0], first)
    program, found = batch(carry)
    _, stacked = loop.results(found)
    jaxpr = program.jaxpr
    made, values = loop.derive(program, loop.operands(jaxpr.invars), loop.results(jaxpr.outvars))
    return Derived(made, values, carry, stacked)


def pruned(loop: Loop, used_outputs: Sequence[bool]) -> tuple[Loop, list[bool], list[bool]]:
    """A loop without what the used results do not need.

    Gives also which operands it still takes, and which results it still returns.
    """
    carry, stacked = loop.results(used_outputs)

    def needed(carry: list[bool]) -> tuple[Jaxpr, list[bool]]:
        return dce_jaxpr(loop.jaxpr.jaxpr, [*carry, *stacked])

    carry = fixpoint(lambda flags: loop.operands(needed(flags)[1])[1], carry)
    jaxpr, used = needed(carry)
    consts, _, xs = loop.operands(used)
    c, k, x = loop.operands(jaxpr.invars)
    made, _ = loop.derive(
        ClosedJaxpr(jaxpr),
        [partition(consts, c)[1], partition(carry, k)[1], partition(xs, x)[1]],
        split(jaxpr.outvars, sum(carry)),
    )
    return made, [*consts, *carry, *xs], [*carry, *stacked]


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
    const_avals = partition(has_const, linear_avals[: len(has_const)])[1]
    carry_avals = partition(carry, loop.carry_avals)[1]
    y_avals = partition(ys, loop.results(loop.jaxpr.out_avals)[1])[1]
    num_residual_consts = loop.num_consts - len(has_const)

    def step(*values: Any) -> list[Any]:
        residuals, sums, cts, cts_y = split(
            values, len(residual_avals), len(const_avals), len(carry_avals)
        )
        outs = iter(eval_jaxpr(program.jaxpr, program.consts, *residuals, *cts, *cts_y))
        added = [add_tangents(total, next(outs)) for total in sums]
        flowed = with_zeros(has_carry, outs, loop.carry_avals)
        back = [instantiate_zeros(ct) for ct in partition(carry, flowed)[1]]
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
