"""Dimension variables from the shapes of arguments, and what the shapes must satisfy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from bindax_core.extend import (
    PyTreeDef,
    ShapedArray,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
)
from bindax_export._dimensions import (
    Size,
    SymbolicDimension,
    common_scope,
    from_terms,
    max_dim,
    min_dim,
    variables_of,
)
from bindax_export._errors import ExportError, InconclusiveDimensionOperation
from bindax_export._parse import symbolic_shape
from bindax_export._polynomials import Atom
from bindax_export._scope import SymbolicScope


@attrs.frozen
class _Step:
    """A variable as ``(size - rest) // factor`` of the size of an argument."""

    name: str
    position: int
    axis: int
    size: SymbolicDimension
    factor: int
    rest: Size


class ShapeSolver:
    """The dimension variables of a program, as functions of the shapes of its arguments.

    Numbers are of any type with arithmetic: integers, other dimensions, values of a program. The
    name of the program and the structure of ``(args, kwargs)`` are for messages.
    """

    def __init__(self, avals: Sequence[ShapedArray], name: str, tree: PyTreeDef | None) -> None:
        self.avals = avals
        self.name = name
        self.paths = argument_paths(tree, avals)
        self.equations = [
            (size, i, axis)
            for i, aval in enumerate(avals)
            for axis, size in enumerate(_sizes(aval))
            if isinstance(size, SymbolicDimension)
        ]
        sizes = [size for size, _, _ in self.equations]
        self.scope = common_scope(*sizes) if sizes else SymbolicScope()
        self.steps = list(self._solved())
        self._check_constraints()

    @property
    def variables(self) -> list[str]:
        """The names of the variables, in the order in which they are found."""
        return [step.name for step in self.steps]

    def solve(self, size_of: Callable[[int, int], Any]) -> dict[str, Any]:
        """The variables, given the size of each argument and axis."""
        values: dict[str, Any] = {}
        for step in self.steps:
            number = size_of(step.position, step.axis)
            rest = _evaluated(step.rest, values)
            number = number if type(rest) is int and rest == 0 else number - rest
            values[step.name] = number if step.factor == 1 else number // step.factor
        return values

    def checks(self, size_of: Callable[[int, int], Any]) -> Iterator[tuple[Any, str, Any, str]]:
        """The conditions on shapes: two numbers, ``"EQ"`` or ``"GE"``, and the message."""
        values = self.solve(size_of)
        for step in self.steps:
            if step.factor != 1:
                place = f"{self._place(step.position, step.axis)} = {step.size}"
                message = f"when computing the value of '{step.name}' from {place}"
                left = size_of(step.position, step.axis) - _evaluated(step.rest, values)
                remainder = f"{self.name}: Division had remainder {{0}} {message}."
                yield left % step.factor, "EQ", 0, remainder
        for name in self.variables:
            message = f"{self.name} was called with {name} = {{0}}; it must be at least 1."
            yield values[name], "GE", 1, message
        direct = {(s.position, s.axis) for s in self.steps}
        for size, i, axis in self.equations:
            if (i, axis) not in direct:
                message = (
                    f"{self.name}: Found inconsistency between dimension size "
                    f"{self._place(i, axis)} (= {{0}}) and the specification '{size}' (= {{1}})."
                )
                yield size_of(i, axis), "EQ", _evaluated(size, values), message
        constraints = self.scope.constraints
        stated = f"{self.name} was called with sizes that violate {', '.join(constraints)}."
        for inequality in self.scope.inequalities:
            yield _evaluated(inequality, values), "GE", 0, stated
        for left, right in self.scope.equalities:
            yield _evaluated(left, values), "EQ", _evaluated(right, values), stated

    def parse(self, text: str) -> Sequence[Size]:
        """Sizes from text."""
        return symbolic_shape(text, scope=self.scope)

    def bound(self, avals: Sequence[ShapedArray]) -> Mapping[str, Any]:
        """The variables for arguments of other types, which must fit."""
        for i, (expected, given) in enumerate(zip(self.avals, avals, strict=True)):
            self._check_type(self.paths[i], expected, given)

        def size_of(position: int, axis: int) -> Any:
            return avals[position].shape[axis]

        for left, direction, right, message in self.checks(size_of):
            try:
                holds = left == right if direction == "EQ" else left >= right
            except InconclusiveDimensionOperation as error:
                raise ExportError(f"{message.format(left, right)} {error}") from None
            if not holds:
                raise ExportError(message.format(left, right))
        return self.solve(size_of)

    def _check_constraints(self) -> None:
        known = set(self.variables)
        compared = [*self.scope.inequalities, *[n for pair in self.scope.equalities for n in pair]]
        for name in sorted({name for size in compared for name in variables_of(size)} - known):
            raise ExportError(
                f"Encountered dimension variable '{name}' in the constraints "
                f"{', '.join(self.scope.constraints)} of {self.name}, which no argument's shape "
                f"has. Constrain variables of shapes alone."
            )

    def _check_type(self, path: str, expected: ShapedArray, given: ShapedArray) -> None:
        found = _mismatch(path, expected, given)
        if found is not None:
            raise ExportError(
                f"{self.name}: {found}: it was exported for {path} of type "
                f"{expected.str_short()}, but was called with {given.str_short()}. Pass an array "
                f"of that type, or export it for this one."
            )

    def _place(self, position: int, axis: int) -> str:
        return f"{self.paths[position]}.shape[{axis}]"

    def _solved(self) -> Iterator[_Step]:
        known: set[str] = set()
        wanted = {name for size, _, _ in self.equations for name in size.variables()}
        while wanted - known:
            # A size that is one variable alone is the most readable source.
            found = min(
                (step for step in self._candidates(known)),
                key=lambda step: (not _is_zero(step.rest), step.factor != 1),
                default=None,
            )
            if found is None:
                sizes = ", ".join(f"{self._place(i, a)} = {s}" for s, i, a in self.equations)
                raise ExportError(
                    f"the dimension variables {', '.join(sorted(wanted - known))} of {self.name} "
                    f"do not follow from the shapes of its arguments ({sizes}). Each variable must "
                    f"stand alone, or times an integer, in a sum of known ones, as in 'b, 2*n + b'."
                )
            known.add(found.name)
            yield found

    def _candidates(self, known: set[str]) -> Iterator[_Step]:
        for size, position, axis in self.equations:
            unknown = size.variables() - known
            if len(unknown) != 1:
                continue
            (name,) = unknown
            monomial = ((Atom("variable", (name,)), 1),)
            terms = dict(size.terms)
            factor = terms.pop(monomial, 0)
            rest = from_terms(terms, size.scope)
            if factor > 0 and name not in variables_of(rest):
                yield _Step(name, position, axis, size, factor, rest)


def evaluated_shape(shape: Sequence[Size], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A shape with sizes in place of its variables."""
    return tuple(_evaluated(size, values) for size in shape)


def argument_paths(tree: PyTreeDef | None, avals: Sequence[Any]) -> list[str]:
    """The paths of the leaves of ``(args, kwargs)``, such as ``args[0]['w']``."""
    if tree is None:
        return [f"operand {i}" for i in range(len(avals))]
    # Types stand for the leaves, as containers may look at the shapes of what they hold.
    leaves, _ = tree_flatten_with_path(tree.unflatten(avals))
    names = ("args", "kwargs")
    return [f"{names[path[0].idx]}{keystr(path[1:])}" for path, _ in leaves]


def require_one_scope(name: str, args: Any, kwargs: Any) -> None:
    """Raise unless all symbolic sizes among the arguments of a function are of one scope."""
    leaves, tree = tree_flatten((args, kwargs))
    shapes = [getattr(leaf, "shape", ()) for leaf in leaves]
    sizes = [(n, i) for i, shape in enumerate(shapes) for n in shape if _is_symbolic(n)]
    for size, i in sizes:
        first, place = sizes[0]
        if size.scope is not first.scope:
            paths = argument_paths(tree, leaves)
            raise ExportError(
                f"Invalid mixing of symbolic scopes when exporting {name}, as variables of one "
                f"name can differ between them. Expected current (from {paths[place]}) scope "
                f"{first.scope!r} and found for '{size}' ({paths[i]}) scope {size.scope!r}. Make "
                f"shapes with one scope: symbolic_args_specs, or symbolic_shape(..., scope=scope)."
            )


def result_paths(tree: PyTreeDef, avals: Sequence[ShapedArray]) -> list[str]:
    """The paths of the leaves of a result, such as ``result['w']``."""
    leaves, _ = tree_flatten_with_path(tree.unflatten(avals))
    return [f"result{keystr(path)}" for path, _ in leaves]


def _mismatch(path: str, expected: ShapedArray, given: ShapedArray) -> str | None:
    """The part of a type that is not as it was exported, or None."""
    if len(expected.shape) != len(given.shape):
        return f"Rank mismatch for {path}"
    if expected.dtype != given.dtype:
        return f"Dtype mismatch for {path}"
    for axis, (a, b) in enumerate(zip(_sizes(expected), _sizes(given), strict=True)):
        # A size with variables is compared once their values are known.
        if not isinstance(a, SymbolicDimension) and (isinstance(b, SymbolicDimension) or a != b):
            return f"Shape mismatch for {path}.shape[{axis}] (expected same constant)"
    return None


def _is_symbolic(size: Any) -> bool:
    return isinstance(size, SymbolicDimension)


def _sizes(aval: ShapedArray) -> tuple[Size, ...]:
    return aval.shape


def _is_zero(size: Size) -> bool:
    return not isinstance(size, SymbolicDimension) and size == 0


def _evaluated(size: Size, values: Mapping[str, Any]) -> Any:
    return (
        size.evaluate(values, _maximum, _minimum) if isinstance(size, SymbolicDimension) else size
    )


def _maximum(a: Any, b: Any) -> Any:
    if hasattr(a, "maximum"):
        return a.maximum(b)
    return b.maximum(a) if hasattr(b, "maximum") else _of_sizes(max, max_dim, a, b)


def _minimum(a: Any, b: Any) -> Any:
    if hasattr(a, "minimum"):
        return a.minimum(b)
    return b.minimum(a) if hasattr(b, "minimum") else _of_sizes(min, min_dim, a, b)


def _of_sizes(numbers: Any, sizes: Any, a: Any, b: Any) -> Any:
    symbolic = isinstance(a, SymbolicDimension) or isinstance(b, SymbolicDimension)
    return sizes(a, b) if symbolic else numbers(a, b)
