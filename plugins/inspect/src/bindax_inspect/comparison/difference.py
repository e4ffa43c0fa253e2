"""The result of a comparison, and its text."""

from __future__ import annotations

import os
from typing import Any

import attrs

from bindax_core.extend import JaxprEqn, subjaxprs
from bindax_inspect.comparison.errors_of_values import ErrorOfValue, host, json_number, number_text
from bindax_inspect.comparison.programs import equation_text
from bindax_inspect.comparison.saved import SavedDifference
from bindax_inspect.comparison.ways import Way


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

    def lines(self, a: str, b: str) -> list[str]:
        """The lines of the text; ``a`` and ``b`` are the names of the ways."""
        error = self.error
        errors = (
            f"{number_text(error.relative)}; before it {number_text(self.before)}, "
            f"for equal inputs {number_text(self.own)}"
        )
        lines = [
            f"  equation   {equation_text(self.equation)}",
            f"  at         {self.line or 'a line that is not known'}",
            f"  inside     {' > '.join(self.path)}" if self.path else "",
            f"  error      {errors}; {number_text(error.bound)} counts as rounding",
            f"  result {self.which}   {error.describe(a, b)}",
            *[f"  input {i}    {_summary(x)}" for i, (x, _) in enumerate(self.inputs)],
            f"  {self.cause}",
        ]
        return [line for line in lines if line]

    def record(self) -> dict[str, Any]:
        """The same as numbers and texts, for JSON."""
        return {
            "primitive": self.primitive,
            "equation": equation_text(self.equation),
            "line": self.line,
            "path": list(self.path),
            "result": self.which,
            **self.error.record(),
            "before": json_number(self.before),
            "own": json_number(self.own),
            "cause": self.cause,
        }


@attrs.frozen(eq=False, repr=False)
class Comparison:
    """The result of ``compare``, which prints as a text.

    Attributes:
        ways: both ways to run the program.
        compared: the number of equations whose results agreed, those of each step of a loop that
            was looked into.
        largest: the largest relative error among them.
        difference: the first equation whose results differ, or None; of an exported program, whose
            equations are not known, the first result.
        unit: what was compared: ``"equation"``, or ``"result"`` of an exported program.

    >>> import bindax_lax_basic as lax
    >>> from bindax_inspect import compare
    >>> compare(lax.sin, (1.0,), a="eager", b="eager").agrees
    True
    """

    ways: tuple[Way, Way]
    compared: int
    largest: float
    difference: Difference | SavedDifference | None
    unit: str = "equation"

    @property
    def agrees(self) -> bool:
        """Tell whether all results agree."""
        return self.difference is None

    def __repr__(self) -> str:
        a, b = (way.name for way in self.ways)
        found = self.difference
        if found is None:
            return (
                f"{a} and {b} agree: {self._count()}, the largest relative error is "
                f"{self.largest:.1e}."
            )
        return "\n".join([f"{a} and {b} part after {self._count()}.", *found.lines(a, b)])

    def _count(self) -> str:
        return f"{self.compared} {self.unit}{'' if self.compared == 1 else 's'}"

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
        return {**record, **found.record()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a program that runs the equation alone, in both ways, with the same operands.

        Args:
            path: the file, such as ``"repeat.py"``.

        Raises:
            ValueError: when the runs agree, or one is of an exported program: there is no equation.
        """
        from bindax_inspect.comparison.repetition import write_repetition

        if self.difference is None:
            raise ValueError("there is no equation to save, because the runs agree.")
        if isinstance(self.difference, SavedDifference):
            raise ValueError(
                "there is no equation to save: of an exported program the results alone are known."
            )
        write_repetition(path, self.difference, self.ways)


def _summary(x: Any) -> str:
    array = host(x)
    text: str = x.aval.str_short()
    if array.size == 0:
        return text
    if array.size == 1:
        return f"{text} {array.reshape(-1)[0]}"
    return f"{text} from {array.min()} to {array.max()}" if array.dtype.kind in "biuf" else text
