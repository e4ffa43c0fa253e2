"""The result of a comparison, and its text."""

from __future__ import annotations

import os
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import JaxprEqn, subjaxprs
from bindax_inspect.compare.errors_of_values import ErrorOfValue, host
from bindax_inspect.compare.programs import equation_text
from bindax_inspect.compare.ways import Way


@attrs.frozen(eq=False, repr=False)
class Difference:
    """An equation whose results differ.

    Attributes:
        equation: the equation.
        path: the calls, steps and branches that it is in, outermost first.
        inputs: for each operand its values in both runs.
        results: for each result its values in both runs.
        which: the position of the first result that differs.
        error: the error of that result.
        before: the largest relative error of an operand.
        own: the relative error of that result when both ways get the operands of the first one.
    """

    equation: JaxprEqn
    path: tuple[str, ...]
    inputs: list[tuple[Any, Any]]
    results: list[tuple[Any, Any]]
    which: int
    error: ErrorOfValue
    before: float
    own: float

    @property
    def primitive(self) -> str:
        """The name of the equation's primitive."""
        return self.equation.primitive.name

    @property
    def line(self) -> str:
        """The user's line with its function and names; an empty text where it is not known."""
        return str(self.equation.source_info or "")

    @property
    def cause(self) -> str:
        """A sentence about where the error comes from."""
        if self.own > self.error.bound and subjaxprs(self.equation.params):
            return "The equation itself differs; the equations of its body agree one by one."
        if self.own > self.error.bound:
            return "The equation itself differs."
        return (
            "For equal inputs the equation gives equal results: it enlarges the difference of its "
            "inputs."
        )


@attrs.frozen(eq=False, repr=False)
class Comparison:
    """The result of ``compare``, which prints as a text.

    Attributes:
        ways: both ways to run the program.
        compared: the number of equations whose results agreed, those of each step of a loop that
            was looked into.
        largest: the largest relative error among them.
        difference: the first equation whose results differ, or None.

    >>> import bindax_lax_basic as lax
    >>> from bindax_inspect import compare
    >>> compare(lax.sin, (1.0,), a="eager", b="eager").agrees
    True
    """

    ways: tuple[Way, Way]
    compared: int
    largest: float
    difference: Difference | None

    @property
    def agrees(self) -> bool:
        """Tell whether all results agree."""
        return self.difference is None

    def __repr__(self) -> str:
        a, b = (way.name for way in self.ways)
        found = self.difference
        if found is None:
            return (
                f"{a} and {b} agree: {_equations(self.compared)}, the largest relative error is "
                f"{self.largest:.1e}."
            )
        return "\n".join(
            [f"{a} and {b} part after {_equations(self.compared)}.", *_lines(found, a, b)]
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as numbers and texts, for JSON; an infinite error is ``"inf"``."""
        found = self.difference
        record = {
            "a": self.ways[0].name,
            "b": self.ways[1].name,
            "agrees": self.agrees,
            "compared": self.compared,
            "largest": self.largest,
        }
        if found is None:
            return record
        error = found.error
        relative = {"error": error.relative, "before": found.before, "own": found.own}
        numbers = {name: x if np.isfinite(x) else str(x) for name, x in relative.items()}
        return {
            **record,
            "primitive": found.primitive,
            "equation": equation_text(found.equation),
            "line": found.line,
            "path": list(found.path),
            "result": found.which,
            "index": list(error.position),
            "values": [_shown(x) for x in error.values],
            **numbers,
            "bound": error.bound,
            "cause": found.cause,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a program that runs the equation alone, in both ways, with the same operands.

        Args:
            path: the file, such as ``"repeat.py"``.

        Raises:
            ValueError: when the runs agree, so that there is nothing to repeat.
        """
        from bindax_inspect.compare.repetition import write_repetition

        if self.difference is None:
            raise ValueError("there is no equation to save, because the runs agree.")
        write_repetition(path, self.difference, self.ways)


def _lines(found: Difference, a: str, b: str) -> list[str]:
    error = found.error
    at = f"element {list(error.position)} is " if error.position else ""
    x, y = error.values
    errors = (
        f"{_number(error.relative)}; before it {_number(found.before)}, for equal inputs "
        f"{_number(found.own)}"
    )
    lines = [
        f"  equation   {equation_text(found.equation)}",
        f"  at         {found.line or 'a line that is not known'}",
        f"  inside     {' > '.join(found.path)}" if found.path else "",
        f"  error      {errors}; {_number(error.bound)} counts as rounding",
        f"  result {found.which}   {at}{_shown(x)} with {a}, {_shown(y)} with {b}",
        *[f"  input {i}    {_summary(x)}" for i, (x, _) in enumerate(found.inputs)],
        f"  {found.cause}",
    ]
    return [line for line in lines if line]


def _equations(number: int) -> str:
    return f"{number} equation{'' if number == 1 else 's'}"


def _number(x: float) -> str:
    return "0" if x == 0 else f"{x:.1e}"


def _shown(x: Any) -> str:
    return str(x) if np.ndim(x) == 0 else f"an array of the shape {np.shape(x)}"


def _summary(x: Any) -> str:
    array = host(x)
    text: str = x.aval.str_short()
    if array.size == 0:
        return text
    if array.size == 1:
        return f"{text} {array.reshape(-1)[0]}"
    return f"{text} from {array.min()} to {array.max()}" if array.dtype.kind in "biuf" else text
