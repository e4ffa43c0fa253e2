"""JVP, batching and DCE of the body of a loop.

Whether a carry has a tangent, is batched, or is needed depends on what the step before made of it.
So each of them starts from what is known of the first step and asks again until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

from bindax_control_flow.shared.flags import fixpoint, kept
from bindax_core.extend import ClosedJaxpr, Jaxpr, convert_constvars
from bindax_transforms import dce_jaxpr, jvp_jaxpr, split, vmap_jaxpr


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a loop.

    Attributes:
        jaxpr: a program without constants: it takes what is the same in all steps, the carry, and
            one slice of each sequence; it returns the next carry and one slice of each stacked
            result.
        num_consts: how many of the arguments are the same in all steps.
        num_carry: how many are the carry.
    """

    jaxpr: ClosedJaxpr
    num_consts: int
    num_carry: int

    @property
    def num_stacked(self) -> int:
        """The number of results that are stacked."""
        return len(self.jaxpr.jaxpr.outvars) - self.num_carry

    @property
    def carry_avals(self) -> list[Any]:
        """The types of the carry that it returns."""
        return self.jaxpr.out_avals[: self.num_carry]

    def operands(self, values: Sequence[Any]) -> list[list[Any]]:
        """A list with one entry for each operand cut into constants, carry and sequences."""
        return split(values, self.num_consts, self.num_carry)

    def results(self, values: Sequence[Any]) -> list[list[Any]]:
        """A list with one entry for each result cut into carry and stacked results."""
        return split(values, self.num_carry)

    def derive(
        self,
        program: ClosedJaxpr,
        arguments: Sequence[Sequence[Any]],
        results: Sequence[Sequence[Any]],
        **changes: Any,
    ) -> tuple[Self, list[Any]]:
        """A step of another program, and the values of its leading constants.

        Its arguments are given as constants, carry and sequences, its results as carry and stacked
        results; ``changes`` are other fields.
        """
        consts, carry, xs = arguments
        jaxpr = program.jaxpr.replace(
            invars=[*consts, *carry, *xs], outvars=[*results[0], *results[1]]
        )
        hoisted, values = convert_constvars(ClosedJaxpr(jaxpr, program.consts))
        changes = {"num_consts": len(values) + len(consts), "num_carry": len(carry), **changes}
        return replace(self, jaxpr=hoisted, **changes), list(values)


StepT = TypeVar("StepT", bound=Step)


class DerivedStep(NamedTuple, Generic[StepT]):
    """A step made from another one, and the values of its leading constants.

    ``carry`` and ``stacked`` answer the question for each carry and stacked result of the old one.
    """

    step: StepT
    consts: list[Any]
    carry: list[bool]
    stacked: list[bool]


def step_of(program: ClosedJaxpr, num_consts: int = 0) -> DerivedStep[Step]:
    """A program that may have constants as a step without sequences; ``num_consts`` are others."""
    jaxpr, values = convert_constvars(program)
    step = Step(jaxpr, len(values) + num_consts, len(jaxpr.jaxpr.outvars))
    return DerivedStep(step, list(values), [], [])


def differentiated(step: StepT, nonzeros: Sequence[bool]) -> DerivedStep[StepT]:
    """The derivative: values and tangents are carried side by side.

    It takes ``consts, const tangents, carry, carry tangents, xs, xs tangents`` and returns ``carry,
    carry tangents, ys, ys tangents``; ``nonzeros`` says which operands have tangents.
    """
    consts, carry, xs = step.operands(nonzeros)

    def derivative(carry: list[bool]) -> tuple[ClosedJaxpr, list[bool]]:
        wanted = [*carry, *[False] * step.num_stacked]
        return jvp_jaxpr(step.jaxpr, [*consts, *carry, *xs], wanted)

    carry = fixpoint(lambda flags: step.results(derivative(flags)[1])[0], carry)
    program, found = derivative(carry)
    _, stacked = step.results(found)
    primals, tangents = split(program.jaxpr.invars, len(nonzeros))
    c, k, x = step.operands(primals)
    c_dot, k_dot, x_dot = split(tangents, sum(consts), sum(carry))
    outs, outs_dot = split(program.jaxpr.outvars, len(found))
    k_out, ys = step.results(outs)
    k_out_dot, ys_dot = split(outs_dot, sum(carry))
    made, values = step.derive(
        program,
        [[*c, *c_dot], [*k, *k_dot], [*x, *x_dot]],
        [[*k_out, *k_out_dot], [*ys, *ys_dot]],
    )
    return DerivedStep(made, values, carry, stacked)


def batched(step: StepT, axis_size: int, dims: Sequence[int | None]) -> DerivedStep[StepT]:
    """A step over batches.

    ``dims`` are the batch axes of the constants, of the first carry (0 or None), and of the slices
    of the sequences. The carries and stacked results that are batched are so along the first axis.
    """
    const_dims, carry_dims, x_dims = step.operands(dims)

    def batch(carry: list[bool]) -> tuple[ClosedJaxpr, list[bool]]:
        given = [*const_dims, *batch_dims(carry), *x_dims]
        wanted = [*carry, *[False] * step.num_stacked]
        program, found = vmap_jaxpr(step.jaxpr, axis_size, given, wanted)
        return program, [d is not None for d in found]

    first = [d is not None for d in carry_dims]
    carry = fixpoint(lambda flags: step.results(batch(flags)[1])[0], first)
    program, found = batch(carry)
    _, stacked = step.results(found)
    jaxpr = program.jaxpr
    made, values = step.derive(program, step.operands(jaxpr.invars), step.results(jaxpr.outvars))
    return DerivedStep(made, values, carry, stacked)


def batch_dims(flags: Sequence[bool]) -> list[int | None]:
    """The batch axes of values that have it in front, or have none."""
    return [0 if flag else None for flag in flags]


def pruned(step: StepT, used_outputs: Sequence[bool]) -> tuple[StepT, list[bool], list[bool]]:
    """A step without what the used results do not need.

    Gives also which operands it still takes, and which results it still returns.
    """
    carry, stacked = step.results(used_outputs)

    def needed(carry: list[bool]) -> tuple[Jaxpr, list[bool]]:
        return dce_jaxpr(step.jaxpr.jaxpr, [*carry, *stacked])

    carry = fixpoint(lambda flags: step.operands(needed(flags)[1])[1], carry)
    jaxpr, used = needed(carry)
    consts, _, xs = step.operands(used)
    c, k, x = step.operands(jaxpr.invars)
    made, _ = step.derive(
        ClosedJaxpr(jaxpr),
        [kept(c, consts), kept(k, carry), kept(x, xs)],
        split(jaxpr.outvars, sum(carry)),
    )
    return made, [*consts, *carry, *xs], [*carry, *stacked]
