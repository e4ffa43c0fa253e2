"""The functions that solvers are given, as programs that return the types that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bindax_control_flow.shared.arguments import (
    check_values,
    describe_type,
    structure_difference,
    structure_paths,
)
from bindax_control_flow.shared.carry import promoted, yields
from bindax_control_flow.shared.programs import with_results
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    PyTreeDef,
    describe_function,
    eval_jaxpr,
    is_value,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
)
from bindax_transforms import (
    check_function,
    dce_jaxpr,
    jvp_jaxpr,
    split,
    trace_to_jaxpr,
    with_zeros,
)
from bindax_transforms.zeros import Zero


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns of an equation: the structure and types of an argument of a solver."""

    solver: str
    argument: str
    tree: PyTreeDef
    avals: list[Any]

    @staticmethod
    def of(solver: str, argument: str, value: Any) -> tuple[Unknowns, list[Any]]:
        """The structure and types of a value, and its leaves."""
        check_values(solver, argument, value)
        leaves, tree = tree_flatten(value)
        return Unknowns(solver, argument, tree, [typeof(x) for x in leaves]), leaves

    def promoted(self, function: Callable[[Any], Any], what: str) -> Unknowns:
        """With the types to which the function promotes weakly typed leaves, if it does."""
        found = self
        while True:
            avals = Function(found, what, function).trace(checked=False).out_avals
            wider = [promoted(a, b) for a, b in zip(found.avals, avals, strict=True)]
            if wider == found.avals:
                return found
            found = replace(found, avals=wider)


@dataclass(eq=False)
class Function:
    """A function from ``arguments`` trees like the unknowns to one more.

    With ``has_aux`` it returns a pair, of which the second is anything: ``aux_tree`` is the
    structure of that, once it is traced. ``what`` is how messages call it.
    """

    like: Unknowns
    what: str
    function: Callable[..., Any]
    has_aux: bool = False
    arguments: int = 1
    aux_tree: PyTreeDef | None = None

    def trace(self, checked: bool = True) -> ClosedJaxpr:
        """The function as a program on leaves; its results are those like the unknowns, and aux."""
        like = self.like
        avals = like.avals * self.arguments
        program = trace_to_jaxpr(self._flat, avals, DebugInfo(self._name(), self.function))
        found, aux = split(program.out_avals, len(like.avals))
        if not checked:
            return program
        paths = structure_paths(like.argument, like.tree)
        for path, taken, returned in zip(paths, like.avals, found, strict=True):
            if not yields(returned, taken):
                raise TypeError(
                    f"{self._name()} must return the types of {like.argument}, but {path} is "
                    f"{describe_type(taken)} and {describe_function(self.function)} returns "
                    f"{describe_type(returned)} there. Reshape or convert with .astype, in the "
                    f"function or before."
                )
        return with_results(program, [*like.avals, *aux])

    def _name(self) -> str:
        return f"{self.what} of {self.like.solver}"

    def _flat(self, *leaves: Any) -> list[Any]:
        size = len(self.like.avals)
        groups = split(leaves, *[size] * (self.arguments - 1))
        out = self.function(*[tree_unflatten(self.like.tree, group) for group in groups])
        aux: list[Any] = []
        if self.has_aux:
            if not isinstance(out, tuple) or len(out) != 2:
                raise TypeError(
                    f"{self._name()} must return a pair (solution, aux), because has_aux is True, "
                    f"but {describe_function(self.function)} returned {out!r:.80}."
                )
            out, second = out
            aux, self.aux_tree = tree_flatten(second)
        found, tree = tree_flatten(out)
        if tree != self.like.tree:
            raise TypeError(
                f"{self._name()} must return the structure of {self.like.argument}, "
                f"{self.like.tree}, but {describe_function(self.function)} returns {tree}"
                f"{structure_difference('output', self.like.tree, tree)}."
            )
        for x in (*found, *aux):
            if not is_value(x):
                raise unknown_type_error(x, f"{self._name()} returned ")
        return [*found, *aux]


def check_functions(solver: str, **functions: Any) -> None:
    """Raise when an argument that should be a function is none."""
    for name, function in functions.items():
        check_function(solver, name, function)


def tangents_of(
    program: ClosedJaxpr, operands: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """The tangents of a program's results; ``Zero`` where there is none."""
    nonzeros = [type(t) is not Zero for t in tangents]
    derivative, found = jvp_jaxpr(program, nonzeros)
    jaxpr, _ = dce_jaxpr(derivative.jaxpr, [False] * len(found) + [True] * sum(found))
    given = [t for t in tangents if type(t) is not Zero]
    outs = eval_jaxpr(jaxpr, derivative.consts, *operands, *given)
    return with_zeros(found, outs, program.out_avals)
