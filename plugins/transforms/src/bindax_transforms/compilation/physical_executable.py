"""Compiled programs on arrays of extended dtypes, which run on the arrays that represent them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import Array, ClosedJaxpr, float0, is_extended
from bindax_transforms.compilation.physical_jaxpr import physical_jaxpr


def represented(
    jaxpr: ClosedJaxpr, make: Callable[..., Any], options: dict[str, Any], *, lowered: bool
) -> Any:
    """Compile, or lower, the jaxpr that represents one with extended dtypes, and put it to use."""
    overlay = LoweredPhysical if lowered else PhysicalExecutable
    return overlay(jaxpr, make(physical_jaxpr(jaxpr), **options), options["donated"])


class PhysicalExecutable:
    """An executable on arrays of extended dtypes, from one on the arrays that represent them."""

    run_known = None  # that of the other one knows the types of what represents the operands

    def __init__(self, jaxpr: ClosedJaxpr, physical: Any, donated: Sequence[bool]) -> None:
        self.physical = physical
        self._run = getattr(physical, "run_unchecked", lambda operands: physical(*operands))
        self._operands = _extended_places(jaxpr.in_avals)
        self._results = [(i, jaxpr.out_avals[i]) for i in _extended_places(jaxpr.out_avals)]
        # Where nothing is donated, nothing need be said of each operand.
        self._donated = [i for i, flag in enumerate(donated) if flag and i in self._operands]

    def __call__(self, *operands: Any) -> list[Array]:
        return self._overlay(operands, lambda given: self.physical(*given))

    def run_unchecked(self, operands: Sequence[Any]) -> list[Array]:
        """Run on operands whose types are known to be right."""
        return self._overlay(operands, self._run)

    def _overlay(self, operands: Sequence[Any], run: Callable[[list[Any]], Any]) -> list[Array]:
        given = list(operands)
        for i in self._operands:
            given[i] = operands[i].physical()
        outs = list(run(given))
        for i in self._operands:
            if operands[i]._buffer is None:  # the next call finds it on the device
                operands[i]._buffer = given[i]._buffer
                operands[i]._placement = given[i]._placement
        for i in self._donated:
            operands[i].delete()
        for i, aval in self._results:
            outs[i] = Array.of_physical(aval, outs[i])
        return outs

    def __getattr__(self, name: str) -> Any:
        return getattr(self.physical, name)


def _extended_places(avals: Sequence[Any]) -> list[int]:
    return [i for i, aval in enumerate(avals) if is_extended(getattr(aval, "dtype", float0))]


class LoweredPhysical:
    """A lowered program on arrays of extended dtypes, from one on those that represent them."""

    def __init__(self, jaxpr: ClosedJaxpr, physical: Any, donated: Sequence[bool]) -> None:
        self.jaxpr = jaxpr
        self.physical = physical
        self.donated = donated

    def compile(self, *options: Any) -> PhysicalExecutable:
        """The program, ready to be called; the arguments are for the compiler."""
        return PhysicalExecutable(self.jaxpr, self.physical.compile(*options), self.donated)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.physical, name)  # about the arrays that represent the operands
