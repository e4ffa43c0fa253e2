"""A scan as data: the program of one step, how its arguments divide, and how often it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bindax_control_flow.shared.loop_step import Step


@dataclass(frozen=True, eq=False)
class Loop(Step):
    """A scan; the fields are the parameters of ``scan_p``.

    Attributes:
        length: how many steps there are.
        reverse: whether the last slices come first.
        unroll: how many steps one round of a compiled loop makes.
    """

    length: int
    reverse: bool
    unroll: int

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of ``scan_p``."""
        return dict(vars(self))

    @property
    def stacked_avals(self) -> list[Any]:
        """The types of the stacked results."""
        return [stacked_aval(self.length, a) for a in self.jaxpr.out_avals[self.num_carry :]]

    def steps(self) -> range:
        """The positions in the sequences, in the order in which the steps take them."""
        return range(self.length - 1, -1, -1) if self.reverse else range(self.length)


def stacked_aval(length: int, aval: Any) -> Any:
    """The type of a sequence of values of one type."""
    return aval.with_axis(0, length)


def slice_aval(aval: Any) -> Any:
    """The type of one slice of a sequence, which devices have to have whole along its axis."""
    if getattr(aval, "is_divided", False) and aval.sharding.spec[0] is not None:
        raise ValueError(
            f"scan: the 0th dimension of all xs should be replicated, since each step takes a "
            f"slice of it, but one is {aval.str_short()}. Lay it out by reshard, or divide another "
            f"axis."
        )
    return aval.without_axis(0)
