"""A loop unzipped in a known loop that runs first and an unknown loop that runs later.

What the later loop needs of the earlier one, its residuals, is kept in the cheapest form: an
operand of the scan is passed on as it is, what is the same in all steps is computed once and
before the loop, and only what differs from step to step is stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bindax_control_flow.scan.loop import Loop, stacked_aval
from bindax_control_flow.shared.flags import fixpoint
from bindax_control_flow.shared.loop_step import Step
from bindax_core.extend import ClosedJaxpr, Jaxpr, JaxprEqn, Primitive, Var
from bindax_transforms import cached_on_jaxpr, merge, partial_eval_jaxpr, partition, split
from bindax_transforms.extend import SplitProgram


class Residual(NamedTuple):
    """The origin of a residual: a known operand of the scan, or a result of the known program."""

    is_operand: bool
    place: int


class SplitLoop(NamedTuple):
    """A loop unzipped in two.

    Attributes:
        known: a program from the known operands to the known results and the computed residuals.
        unknown: the loop that runs later, on ``later_operands``.
        in_known: which operands the known program takes: the known ones, but for each carry that
            is unknown after some step.
        in_later: which operands the later loop takes besides residuals.
        out_unknowns: which results are unknown.
        const_residuals: where the residuals come from that are the same in all steps.
        stacked_residuals: where those come from that differ from step to step.
    """

    known: ClosedJaxpr
    unknown: Loop
    in_known: list[bool]
    in_later: list[bool]
    out_unknowns: list[bool]
    const_residuals: list[Residual]
    stacked_residuals: list[Residual]

    def later_operands(
        self, known: Sequence[Any], known_outs: Sequence[Any], unknown: Sequence[Any]
    ) -> list[Any]:
        """The operands of the later loop, from known ones, what they gave, and those it takes.

        They are the residuals that are the same in all steps and the unknown constants; the
        carry; the residuals that differ and the unknown sequences.
        """
        same, different = (
            [known[r.place] if r.is_operand else known_outs[r.place] for r in residuals]
            for residuals in (self.const_residuals, self.stacked_residuals)
        )
        num_consts = self.unknown.num_consts - len(same)
        consts, carry, xs = split(unknown, num_consts, self.unknown.num_carry)
        return [*same, *consts, *carry, *different, *xs]

    def saved_results(self) -> list[bool]:
        """For each result, whether it is a known one made of residuals that differ.

        The later loop has all results.
        """
        xs = self.unknown.operands(self.unknown.jaxpr.jaxpr.invars)[2]
        places = zip(xs, self.stacked_residuals, strict=False)
        computed = {v for v, residual in places if not residual.is_operand}
        flags = zip(self.out_unknowns, self.unknown.jaxpr.jaxpr.outvars, strict=True)
        return [not unknown and x in computed for unknown, x in flags]


def split_loop(scan_p: Primitive, loop: Loop, unknowns: Sequence[bool]) -> SplitLoop:
    """Unzip a loop, of which some operands are unknown; the known program applies ``scan_p``."""
    fields = {name: value for name, value in loop.params.items() if name != "jaxpr"}
    key = ("split", *fields.items(), *unknowns)

    def make() -> SplitLoop:
        parts, flags = _unzipped(loop, unknowns, partial_eval_jaxpr)
        return _split_loop(scan_p, loop, parts, flags, loop.operands(flags)[1])

    return cached_on_jaxpr(loop.jaxpr, key, make)


def unzip_again(
    scan_p: Primitive, loop: Loop, unknowns: Sequence[bool], unzip: Callable[..., SplitProgram]
) -> SplitLoop:
    """The same under a policy of ``checkpoint``, where the later loop carries all again."""
    parts, flags = _unzipped(loop, unknowns, unzip)
    parts = _with_whole_carry(loop, parts, flags)
    return _split_loop(scan_p, loop, parts, flags, [True] * loop.num_carry)


def _unzipped(
    loop: Loop, unknowns: Sequence[bool], unzip: Callable[..., SplitProgram]
) -> tuple[SplitProgram, list[bool]]:
    """A step unzipped, and which of its arguments are unknown in some step."""
    consts, carry, xs = loop.operands(unknowns)

    def unzipped(carry: list[bool]) -> SplitProgram:
        wanted = [*carry, *[False] * loop.num_stacked]
        return unzip(loop.jaxpr, [*consts, *carry, *xs], wanted)

    carry = fixpoint(lambda flags: loop.results(unzipped(flags).out_unknowns)[0], carry)
    return unzipped(carry), [*consts, *carry, *xs]


def _with_whole_carry(loop: Loop, parts: SplitProgram, unknowns: list[bool]) -> SplitProgram:
    """Parts of a step where the known carry is no residual, but an argument of the unknown part."""
    consts, carry, _ = loop.operands(unknowns)
    places = range(consts.count(False), consts.count(False) + carry.count(False))
    carried = [source in places for source in parts.forwarded]
    invars, others = split(parts.unknown.jaxpr.invars, len(carried))
    residuals, read = partition(carried, invars)
    forwarded, sources = partition(carried, parts.forwarded)
    found = dict(zip(sources, read, strict=True))
    known_carry = [found.get(i) or Var(parts.known.in_avals[i]) for i in places]
    unknown_consts, unknown_carry, xs = split(others, sum(consts), sum(carry))
    whole = merge(carry, known_carry, unknown_carry)
    jaxpr = parts.unknown.jaxpr.replace(invars=[*residuals, *unknown_consts, *whole, *xs])
    return parts._replace(
        unknown=ClosedJaxpr(jaxpr),
        residual_avals=[v.aval for v in residuals],
        forwarded=forwarded,
    )


def _split_loop(
    scan_p: Primitive,
    loop: Loop,
    parts: SplitProgram,
    unknowns: list[bool],
    later_carried: list[bool],
) -> SplitLoop:
    """The two loops, from the parts of a step, and which carries the later one has."""
    consts, carry, xs = loop.operands(unknowns)
    step, residuals = _known_step(parts, consts.count(False), carry.count(False))
    known, invariant = _known_program(scan_p, loop, step, parts.out_unknowns.count(False))
    varies = [
        r.place >= step.num_consts + step.num_carry if r.is_operand else r.place not in invariant
        for r in residuals
    ]
    from_same, from_different = partition(varies, residuals)
    same, different = partition(varies, parts.unknown.jaxpr.invars[: len(varies)])
    later_consts, later_carry, later_xs = split(
        parts.unknown.jaxpr.invars[len(varies) :], sum(consts), sum(later_carried)
    )
    unknown, _ = loop.derive(
        parts.unknown,
        [[*same, *later_consts], later_carry, [*different, *later_xs]],
        split(parts.unknown.jaxpr.outvars, len(later_carry)),
    )
    return SplitLoop(
        known,
        unknown,
        [not flag for flag in unknowns],
        [*consts, *later_carried, *xs],
        parts.out_unknowns,
        from_same,
        from_different,
    )


def _known_step(parts: Any, num_consts: int, num_carry: int) -> tuple[Step, list[Residual]]:
    """The known part of a step, and where its residuals come from.

    It returns the known carries and stacked results, and then the residuals that must be computed.
    """
    jaxpr: Jaxpr = parts.known.jaxpr
    num_outs = parts.out_unknowns.count(False)
    outs, computed = jaxpr.outvars[:num_outs], iter(jaxpr.outvars[num_outs:])
    carries = range(num_consts, num_consts + num_carry)
    changing = {i for i, v in zip(carries, outs, strict=False) if v is not jaxpr.invars[i]}
    # A residual that is a stacked result anyway is not stacked a second time.
    places: dict[Any, int] = {v: i for i, v in enumerate(outs) if i >= num_carry and type(v) is Var}
    residuals: list[Residual] = []
    for source in parts.forwarded:
        if source is not None and source not in changing:
            residuals.append(Residual(True, source))
            continue
        v = next(computed) if source is None else jaxpr.invars[source]
        if v not in places:
            places[v] = len(outs)
            outs.append(v)
        residuals.append(Residual(False, places[v]))
    return Step(ClosedJaxpr(jaxpr.replace(outvars=outs)), num_consts, num_carry), residuals


def _known_program(
    scan_p: Primitive, loop: Loop, step: Step, num_outs: int
) -> tuple[ClosedJaxpr, set[int]]:
    """The program that runs first: what is the same in all steps, then the known loop.

    Gives also which of its results are the same in all steps; none of the first ones, which are no
    residuals.
    """
    num_residuals = len(step.jaxpr.jaxpr.outvars) - num_outs
    consts, carry, xs = step.operands(step.jaxpr.jaxpr.invars)
    wanted = [True] * num_outs + [False] * num_residuals
    in_loop = [False] * len(consts) + [True] * (len(carry) + len(xs))
    parts = partial_eval_jaxpr(step.jaxpr, in_loop, wanted)
    hoisted, looped, varies = parts.known, parts.unknown, parts.out_unknowns[num_outs:]
    computed = iter(hoisted.jaxpr.outvars[varies.count(False) :])
    outer: list[Any] = [next(computed) if i is None else consts[i] for i in parts.forwarded]
    if hoisted.jaxpr.effects:  # they happen in each step
        hoisted = ClosedJaxpr(Jaxpr((), consts, (), ()))
        looped, outer, varies = step.jaxpr, consts, [True] * num_residuals
    jaxpr = looped.jaxpr
    inner, k_in, x_in = split(jaxpr.invars, len(outer), step.num_carry)
    made, _ = loop.derive(looped, [inner, k_in, x_in], step.results(jaxpr.outvars))
    sequences = [Var(stacked_aval(loop.length, v.aval)) for v in x_in]
    outs = [Var(aval) for aval in (*made.carry_avals, *made.stacked_avals)]
    eqns = list(hoisted.jaxpr.eqns)
    if outs or jaxpr.effects:
        eqns.append(JaxprEqn(scan_p, [*outer, *carry, *sequences], outs, made.params))
    known_outs, stacked = split(outs, num_outs)
    residuals = merge(varies, hoisted.jaxpr.outvars[: varies.count(False)], stacked)
    program = Jaxpr((), [*consts, *carry, *sequences], [*known_outs, *residuals], eqns)
    return ClosedJaxpr(program), {num_outs + i for i, flag in enumerate(varies) if not flag}
