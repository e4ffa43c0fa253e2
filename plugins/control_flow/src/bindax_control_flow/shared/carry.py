"""The carry of a loop: its body traced, so that it returns exactly the types that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bindax_control_flow.shared.arguments import (
    check_returned,
    check_values,
    describe_type,
    structure_difference,
)
from bindax_control_flow.shared.programs import converted, with_results
from bindax_core.extend import (
    DebugInfo,
    PyTreeDef,
    config,
    describe_function,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_lax_basic.extend import kind_of, promote_avals
from bindax_transforms import argument_names, traced_once
from bindax_transforms.extend import (
    StagedProgram,
    same_sums,
    stage_with_references,
    varying_of,
    with_varying,
)


@dataclass(frozen=True, eq=False)
class Carry:
    """The carry that a loop of a name begins with; ``avals`` are the types in the loop."""

    name: str
    initial: Any
    leaves: list[Any]
    tree: PyTreeDef
    avals: list[Any]

    @staticmethod
    def of(name: str, argument: str, initial: Any) -> Carry:
        """Make a carry of an argument that a user gave."""
        check_values(name, argument, initial)
        leaves, tree = tree_flatten(initial)
        return Carry(name, initial, leaves, tree, [typeof(x) for x in leaves])

    def operands(self) -> list[Any]:
        """The leaves, converted to the types that they have in the loop."""
        return converted(self.leaves, self.avals)

    def flatten(self, body: Callable[..., Any], returned: Any) -> list[Any]:
        """The leaves of the carry that a body returned, checked."""
        leaves, tree = tree_flatten(returned)
        if tree != self.tree:
            raise TypeError(
                f"the body of {self.name} must return the structure of the carry that it takes, "
                f"{self.tree}, but {describe_function(body)} returns {tree}"
                f"{structure_difference('carry', self.tree, tree)}. Return the carry as it came "
                f"in, with other values."
            )
        check_returned(self.name, body, "carry", returned, leaves)
        return leaves

    def settled(
        self, body: Callable[..., Any], trace: Callable[[Sequence[Any]], StagedProgram]
    ) -> tuple[Carry, StagedProgram]:
        """The carry of the types that a body keeps, and the program of the body.

        A component that starts weakly typed takes the type that the body promotes it to, so that a
        loop may start from Python numbers; weakly typed results take the type of their component.
        ``trace`` gives the program for types of the carry, with which its results begin.
        """
        avals = self.avals
        while True:
            staged = trace(avals)
            program = staged.program
            returned = program.out_avals[: len(avals)]
            wider = [promoted(a, b) for a, b in zip(avals, returned, strict=True)]
            if wider == avals:
                break
            avals = wider
        settled = replace(self, avals=avals)
        settled._check_types(body, returned)
        wanted = [*avals, *program.out_avals[len(avals) :]]
        return settled, staged.with_program(with_results(program, wanted))

    def _check_types(self, body: Callable[..., Any], returned: Sequence[Any]) -> None:
        paths = argument_names(self.initial, "carry")
        wrong = [
            f"{path} comes in as {describe_type(a)} and goes out as {describe_type(b)} "
            f"({_remedy(a, b)})"
            for path, a, b in zip(paths, self.avals, returned, strict=True)
            if not yields(b, a)
        ]
        if wrong:
            raise TypeError(
                f"the body of {self.name} must return the types of the carry that it takes, but in "
                f"{describe_function(body)} {'; '.join(wrong)}."
            )


def trace_body(
    carry: Carry, body: Callable[..., Any], leading: Sequence[Any] = ()
) -> tuple[Carry, StagedProgram]:
    """The carry as a body keeps it, and the program of the body on leaves.

    The body takes operands of the ``leading`` types and the carry, and returns the carry.
    """

    def flat(*values: Any) -> list[Any]:
        inner = tree_unflatten(carry.tree, values[len(leading) :])
        return carry.flatten(body, body(*values[: len(leading)], inner))

    def trace() -> tuple[tuple[list[Any], StagedProgram], Sequence[Any]]:
        origin = DebugInfo(carry.name, body)
        settled, staged = carry.settled(
            body, lambda avals: stage_with_references(flat, [*leading, *avals], origin)
        )
        return (settled.avals, staged), staged.program.consts

    key = (carry.name, carry.tree, tuple(carry.avals), tuple(leading))
    avals, staged = traced_once([body], key, trace)
    return replace(carry, avals=avals), staged


def promoted(taken: Any, returned: Any) -> Any:
    """The type in which a component can go through a body, if it is weak or varies there."""
    taken = with_varying(taken, varying_of([returned]))
    if not getattr(taken, "weak_type", False) or not hasattr(returned, "dtype"):
        return taken
    if (returned.weak_type and yields(returned, taken)) or returned.shape != taken.shape:
        return taken
    pairs = ((taken.dtype, True), (returned.dtype, returned.weak_type))
    dtype, weak_type = promote_avals(pairs, config.promotion)
    return taken.update(dtype=dtype, weak_type=weak_type)


def yields(returned: Any, taken: Any) -> bool:
    """Say whether what a body returns becomes the type of the carry without a loss."""
    if returned == taken:
        return True
    if not same_sums([returned, taken]):
        return False
    if getattr(returned, "shape", None) != getattr(taken, "shape", None):
        return False
    same_kind = kind_of(returned.dtype) == kind_of(taken.dtype)
    return returned.dtype == taken.dtype or (returned.weak_type and same_kind)


def _remedy(taken: Any, returned: Any) -> str:
    if taken.shape != returned.shape:
        return f"return it with the shape {taken.shape}, or begin with {returned.shape}"
    begin = f"begin with .astype('{returned.dtype.name}')"
    return f"convert it with .astype('{taken.dtype.name}'), or {begin}"
