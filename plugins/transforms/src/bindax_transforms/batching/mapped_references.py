"""References among the arguments of a function that is batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_transforms._flat import partition
from bindax_transforms.staging.reference import Reference, check_distinct
from bindax_transforms.staging.staged_program import on_values


class MappedReferences:
    """References that each element of a batch sees a part of.

    What is mapped along no axis stays the reference itself, so that values that differ from element
    to element cannot be written to it.
    """

    def __init__(
        self, operands: Sequence[Any], dims: Sequence[Any], names: Callable[[], list[str]]
    ) -> None:
        check_distinct(operands, names)
        pairs = zip(operands, dims, strict=True)
        self._flags = [isinstance(x, Reference) and d is not None for x, d in pairs]
        self._operands, self._dims = list(operands), list(dims)
        self.values: list[Any] = [
            x.load() if flag else x for x, flag in zip(operands, self._flags, strict=True)
        ]

    def function(self, flat: Callable[..., Sequence[Any]]) -> Callable[..., list[Any]]:
        """The function of values; it returns those of the references after its results."""
        pairs = zip(self._operands, self._flags, strict=True)
        return on_values(flat, [x.kind if flag else None for x, flag in pairs])

    def store(
        self, outs: Sequence[Any], dims: Sequence[Any], move: Callable[[Any, int, Any], Any]
    ) -> tuple[list[Any], list[Any]]:
        """Store the last results in the references; gives the others, and their batch axes.

        ``move`` moves a batch axis to another one: from, to, and the value.
        """
        references = partition(self._flags, self._operands)[1]
        axes = partition(self._flags, self._dims)[1]
        cut = len(outs) - len(references)
        ends = zip(references, axes, outs[cut:], dims[cut:], strict=True)
        for reference, axis, value, dim in ends:
            placed = move(dim, axis % len(reference.aval.shape), value)
            if placed is not reference.load():
                reference.store(placed)
        return list(outs[:cut]), list(dims[:cut])
