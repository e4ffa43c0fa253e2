"""The functions that solvers are given, as programs that return the types that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from bindax_control_flow.shared.arguments import describe_type, structure_difference
from bindax_control_flow.shared.carry import promoted, yields
from bindax_control_flow.shared.lists import split
from bindax_control_flow.shared.programs import with_results
from bindax_core.extend import (
    ClosedJaxpr,
    Origin,
    PyTreeDef,
    Zero,
    describe_function,
    eval_jaxpr,
    is_value,
    keystr,
    operations_for,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
    unknown_type_message,
)
from bindax_transforms import check_function, dce_jaxpr, jvp_jaxpr, trace_to_jaxpr


@attrs.frozen(eq=False)
class Unknowns:
    """The unknowns of an equation: the structure and types of an argument of a solver.

    Attributes:
        solver: the name of the solver, for messages.
        argument: the name of the argument.
        tree: its structure.
        avals: the types of its leaves.
    """

    solver: str
    argument: str
    tree: PyTreeDef
    avals: list[Any]

    @staticmethod
    def of(solver: str, argument: str, value: Any) -> tuple[Unknowns, list[Any]]:
        """The structure and types of a value, and its leaves."""
        leaves, tree = tree_flatten(value)
        for path, x in tree_flatten_with_path(value)[0]:
            if not is_value(x):
                raise TypeError(f"{argument}{keystr(path)} of {solver}: {unknown_type_message(x)}")
        return Unknowns(solver, argument, tree, [typeof(x) for x in leaves]), leaves

    def promoted(self, function: Callable[[Any], Any], what: str) -> Unknowns:
        """With the types to which the function promotes weakly typed leaves, if it does."""
        found = self
        while True:
            avals = Function(found, what, function).trace(checked=False).out_avals
            wider = [promoted(a, b) for a, b in zip(found.avals, avals, strict=True)]
            if wider == found.avals:
                return found
            found = attrs.evolve(found, avals=wider)

    def convert(self, leaves: Sequence[Any]) -> list[Any]:
        """Leaves, converted to the types."""
        return [
            x if typeof(x) == aval else operations_for(aval).convert(x, aval.dtype, aval.weak_type)
            for x, aval in zip(leaves, self.avals, strict=True)
        ]


@attrs.define(eq=False)
class Function:
    """A function from unknowns to something like them.

    Attributes:
        like: the unknowns.
        what: the name of the function's argument, for messages.
        function: takes ``arguments`` trees like the unknowns.
        has_aux: whether it returns a pair, of which the second is anything.
        arguments: how many it takes.
        aux_tree: the structure of that second, once it is traced.
    """

    like: Unknowns
    what: str
    function: Callable[..., Any]
    has_aux: bool = False
    arguments: int = 1
    aux_tree: PyTreeDef | None = None

    def trace(self, checked: bool = True) -> ClosedJaxpr:
        """The function as a program on leaves; its results are those like the unknowns, and aux.

        Raises:
            TypeError: when it returns another structure or, if ``checked``, other types.
        """
        like = self.like
        avals = like.avals * self.arguments
        program = trace_to_jaxpr(self._flat, avals, Origin(self._name(), self.function))
        found, aux = split(program.out_avals, len(like.avals))
        if not checked:
            return program
        for path, taken, returned in zip(self._paths(), like.avals, found, strict=True):
            if not yields(returned, taken):
                raise TypeError(
                    f"{self._name()} must return the types of {like.argument}, but "
                    f"{like.argument}{path} is {describe_type(taken)} and "
                    f"{describe_function(self.function)} returns {describe_type(returned)} there. "
                    f"Reshape or convert with .astype, in the function or before."
                )
        return with_results(program, [*like.avals, *aux])

    def _name(self) -> str:
        return f"{self.what} of {self.like.solver}"

    def _paths(self) -> list[str]:
        numbered = tree_unflatten(self.like.tree, list(range(len(self.like.avals))))
        return [keystr(path) for path, _ in tree_flatten_with_path(numbered)[0]]

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
                raise TypeError(f"{self._name()} returned {unknown_type_message(x)}")
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
    size = len(found)
    wanted = [False] * size + [True] * sum(found)
    jaxpr, _ = dce_jaxpr(derivative.jaxpr, wanted)
    given = [t for t in tangents if type(t) is not Zero]
    outs = iter(eval_jaxpr(jaxpr, derivative.consts, *operands, *given))
    return [
        next(outs) if flag else Zero(aval.tangent_aval())
        for flag, aval in zip(found, program.out_avals, strict=True)
    ]
