"""A loop unzipped in a known loop that runs first and an unknown loop that runs later.

What the later loop needs of the earlier one, its residuals, is kept in the cheapest form: an
operand of the scan is passed on as it is, what is the same in all steps is computed once and
before the loop, and only what differs from step to step is stacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_control_flow.scan.loop import Loop, stacked_aval
from bindax_control_flow.shared.lists import fixpoint
from bindax_core.extend import ClosedJaxpr, Jaxpr, JaxprEqn, Primitive, Var
from bindax_transforms import merge, partial_eval_jaxpr, partition, remembered, split


class Residual(NamedTuple):
    """The origin of a residual: a known operand of the scan, or a result of the known program."""

    is_operand: bool
    place: int


class SplitLoop(NamedTuple):
    """A loop unzipped in two.

    Attributes:
        known: a program from the known operands to the known results and the computed residuals.
        unknown: the loop that runs later, on ``later_operands``.
        in_unknowns: which operands the later loop takes: the unknown ones, and each carry that is
            unknown after some step.
        out_unknowns: which results are unknown.
        const_residuals: where the residuals come from that are the same in all steps.
        stacked_residuals: where those come from that differ from step to step.
    """

    known: ClosedJaxpr
    unknown: Loop
    in_unknowns: list[bool]
    out_unknowns: list[bool]
    const_residuals: list[Residual]
    stacked_residuals: list[Residual]

    def later_operands(
        self, known: Sequence[Any], known_outs: Sequence[Any], unknown: Sequence[Any]
    ) -> list[Any]:
        """The operands of the later loop, from known ones, what they gave, and the unknown ones.

        They are the residuals that are the same in all steps and the unknown constants; the
        unknown carry; the residuals that differ and the unknown sequences.
        """
        same, different = (
            [known[r.place] if r.is_operand else known_outs[r.place] for r in residuals]
            for residuals in (self.const_residuals, self.stacked_residuals)
        )
        num_consts = self.unknown.num_consts - len(same)
        consts, carry, xs = split(unknown, num_consts, self.unknown.num_carry)
        return [*same, *consts, *carry, *different, *xs]


def split_loop(scan_p: Primitive, loop: Loop, unknowns: Sequence[bool]) -> SplitLoop:
    """Unzip a loop, of which some operands are unknown; the known program applies ``scan_p``."""
    fields = {name: value for name, value in loop.params.items() if name != "jaxpr"}
    key = ("split", *fields.items(), *unknowns)
    return remembered(loop.jaxpr, key, lambda: _split_loop(scan_p, loop, unknowns))


def _split_loop(scan_p: Primitive, loop: Loop, unknowns: Sequence[bool]) -> SplitLoop:
    consts, carry, xs = loop.operands(unknowns)

    def unzipped(carry: list[bool]) -> Any:
        wanted = [*carry, *[False] * loop.num_stacked]
        return partial_eval_jaxpr(loop.jaxpr, [*consts, *carry, *xs], wanted)

    carry = fixpoint(lambda flags: loop.results(unzipped(flags).out_unknowns)[0], carry)
    parts = unzipped(carry)
    step = _KnownStep(parts, consts.count(False), carry.count(False))
    known, invariant_outs = _known_program(scan_p, loop, step)
    varies = [not step.is_invariant(residual, invariant_outs) for residual in step.residuals]
    from_same, from_different = partition(varies, step.residuals)
    same, different = partition(varies, parts.unknown.jaxpr.invars[: len(varies)])
    later_consts, later_carry, later_xs = split(
        parts.unknown.jaxpr.invars[len(varies) :], sum(consts), sum(carry)
    )
    unknown, _ = loop.derive(
        parts.unknown,
        [[*same, *later_consts], later_carry, [*different, *later_xs]],
        split(parts.unknown.jaxpr.outvars, len(later_carry)),
    )
    flags = [*consts, *carry, *xs]
    return SplitLoop(known, unknown, flags, parts.out_unknowns, from_same, from_different)


class _KnownStep:
    """The known part of a step, and where its residuals come from.

    The program goes from the known constants, carries and slices to the known carries and stacked
    results, ``num_outs`` in all, and the residuals that must be computed.
    """

    def __init__(self, parts: Any, num_consts: int, num_carry: int) -> None:
        jaxpr: Jaxpr = parts.known.jaxpr
        self.num_consts = num_consts
        self.num_carry = num_carry
        self.num_outs = parts.out_unknowns.count(False)
        outs = jaxpr.outvars[: self.num_outs]
        computed = iter(jaxpr.outvars[self.num_outs :])
        # A residual that is a stacked result anyway is not stacked a second time.
        places: dict[Any, int] = {
            v: i for i, v in enumerate(outs) if i >= num_carry and type(v) is Var
        }
        self.residuals: list[Residual] = []
        for source in parts.forwarded:
            if source is not None and not self._changes(jaxpr, source):
                self.residuals.append(Residual(True, source))
                continue
            v = next(computed) if source is None else jaxpr.invars[source]
            if v not in places:
                places[v] = len(outs)
                outs.append(v)
            self.residuals.append(Residual(False, places[v]))
        self.program = ClosedJaxpr(jaxpr.replace(outvars=outs))

    def _changes(self, jaxpr: Jaxpr, argument: int) -> bool:
        """Say whether an argument is a carry that a step changes."""
        carry = argument - self.num_consts
        return 0 <= carry < self.num_carry and jaxpr.outvars[carry] is not jaxpr.invars[argument]

    def is_invariant(self, residual: Residual, invariant_outs: set[int]) -> bool:
        """Say whether a residual is the same in all steps."""
        if residual.is_operand:
            return residual.place < self.num_consts + self.num_carry
        return residual.place in invariant_outs


def _known_program(scan_p: Primitive, loop: Loop, step: _KnownStep) -> tuple[ClosedJaxpr, set[int]]:
    """The program that runs first: what is the same in all steps, then the known loop.

    Gives also which of its results are the same in all steps.
    """
    num_residuals = len(step.program.jaxpr.outvars) - step.num_outs
    consts, carry, xs = split(step.program.jaxpr.invars, step.num_consts, step.num_carry)
    wanted = [True] * step.num_outs + [False] * num_residuals
    in_loop = [False] * len(consts) + [True] * (len(carry) + len(xs))
    parts = partial_eval_jaxpr(step.program, in_loop, wanted)
    hoisted, looped, varies = parts.known, parts.unknown, parts.out_unknowns[step.num_outs :]
    computed = iter(hoisted.jaxpr.outvars[varies.count(False) :])
    outer: list[Any] = [next(computed) if i is None else consts[i] for i in parts.forwarded]
    if hoisted.jaxpr.effects:  # they happen in each step
        hoisted = ClosedJaxpr(Jaxpr((), consts, (), ()))
        looped, outer, varies = step.program, consts, [True] * num_residuals
    jaxpr = looped.jaxpr
    inner, k_in, x_in = split(jaxpr.invars, len(outer), step.num_carry)
    made, _ = loop.derive(looped, [inner, k_in, x_in], split(jaxpr.outvars, step.num_carry))
    sequences = [Var(stacked_aval(loop.length, v.aval)) for v in x_in]
    outs = [Var(aval) for aval in (*made.carry_avals, *made.stacked_avals)]
    eqns = list(hoisted.jaxpr.eqns)
    if outs or jaxpr.effects:
        eqns.append(JaxprEqn(scan_p, [*outer, *carry, *sequences], outs, made.params))
    known_outs, stacked = split(outs, step.num_outs)
    residuals = merge(varies, hoisted.jaxpr.outvars[: varies.count(False)], stacked)
    program = Jaxpr((), [*consts, *carry, *sequences], [*known_outs, *residuals], eqns)
    invariant = {step.num_outs + i for i, flag in enumerate(varies) if not flag}
    return ClosedJaxpr(program), invariant
