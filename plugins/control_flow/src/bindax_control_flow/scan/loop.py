"""A scan as data: the program of one step, how its arguments divide, and how often it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from bindax_control_flow.shared.lists import split
from bindax_core.extend import ClosedJaxpr, hoist_consts


@attrs.frozen(eq=False)
class Loop:
    """A scan; the fields are the parameters of ``scan_p``.

    Attributes:
        jaxpr: one step, a program without constants: it takes what is the same in all steps, the
            carry, and one slice of each sequence; it returns the next carry and one slice of each
            stacked result.
        length: how many steps there are.
        reverse: whether the last slices come first.
        num_consts: how many of the arguments are the same in all steps.
        num_carry: how many are the carry.
        unroll: how many steps one round of a compiled loop makes.
    """

    jaxpr: ClosedJaxpr
    length: int
    reverse: bool
    num_consts: int
    num_carry: int
    unroll: int

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of ``scan_p``."""
        return {name: getattr(self, name) for name in _FIELDS}

    @property
    def num_stacked(self) -> int:
        """The number of results that are stacked."""
        return len(self.jaxpr.jaxpr.outvars) - self.num_carry

    @property
    def carry_avals(self) -> list[Any]:
        """The types of the carry."""
        return self.jaxpr.out_avals[: self.num_carry]

    @property
    def stacked_avals(self) -> list[Any]:
        """The types of the stacked results."""
        return [stacked_aval(self.length, a) for a in self.jaxpr.out_avals[self.num_carry :]]

    def operands(self, values: Sequence[Any]) -> list[list[Any]]:
        """A list with one entry for each operand cut into constants, carry and sequences."""
        return split(values, self.num_consts, self.num_carry)

    def results(self, values: Sequence[Any]) -> list[list[Any]]:
        """A list with one entry for each result cut into carry and stacked results."""
        return split(values, self.num_carry)

    def steps(self) -> range:
        """The positions in the sequences, in the order in which the steps take them."""
        return range(self.length - 1, -1, -1) if self.reverse else range(self.length)

    def derive(
        self,
        program: ClosedJaxpr,
        arguments: Sequence[Sequence[Any]],
        results: Sequence[Sequence[Any]],
        **changes: Any,
    ) -> tuple[Loop, list[Any]]:
        """A loop with a step made from this one's, and the values of its leading constants.

        The arguments of the step are given as constants, carry and sequences, its results as carry
        and stacked results; ``changes`` are other fields.
        """
        consts, carry, xs = arguments
        jaxpr = program.jaxpr.replace(
            invars=[*consts, *carry, *xs], outvars=[*results[0], *results[1]]
        )
        hoisted, values = hoist_consts(ClosedJaxpr(jaxpr, program.consts))
        changes = {"num_consts": len(values) + len(consts), "num_carry": len(carry), **changes}
        return attrs.evolve(self, jaxpr=hoisted, **changes), list(values)


_FIELDS = [field.name for field in attrs.fields(Loop)]


def stacked_aval(length: int, aval: Any) -> Any:
    """The type of a sequence of values of one type."""
    return aval.update(shape=(length, *aval.shape))


def slice_aval(aval: Any) -> Any:
    """The type of one slice of a sequence."""
    return aval.update(shape=aval.shape[1:])
