"""A program that was exported, beside the one of today: results, and the first other operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import attrs

from bindax_core.extend import tree_leaves
from bindax_inspect.comparison.errors_of_values import ErrorOfValue, error_of, number_text
from bindax_inspect.comparison.ways import Way
from bindax_transforms import jit, make_jaxpr

_LOCATION = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_FILE = re.compile(r'"([^"]+)":(\d+):\d+')
_AT_END = re.compile(r" loc\((#loc\d*|unknown)\)")
_CONSTANT = re.compile(r"^(%[\w$.]+) = stablehlo\.constant (.*)$")
_NAME = re.compile(r"(%[\w$.]+)((?::\d+)? = |: tensor)?")
_UNSAID = re.compile(r", precision = \[DEFAULT, DEFAULT\]| attributes \{[^}]*\}")


class Operation(NamedTuple):
    """An operation of a StableHLO module.

    Attributes:
        text: the operation, with constants in their places and values by number.
        line: the user's file and line, or an empty text.
    """

    text: str
    line: str


@attrs.frozen(eq=False)
class SavedDifference:
    """A result in which an exported program and the one of today differ.

    Attributes:
        which: the position of the first result that differs.
        error: the error of that result.
        today: the first operation of today's program that the exported one has otherwise; an empty
            text where the programs are equal.
        saved: the operation in its place.
        line: the user's line of ``today``.
    """

    which: int
    error: ErrorOfValue
    today: str
    saved: str
    line: str

    @property
    def cause(self) -> str:
        """A sentence about where the error comes from."""
        if not self.today and not self.saved:
            return "Both programs have the same operations; what runs them differs."
        return "It is the first operation that is another one."

    def lines(self, a: str, b: str) -> list[str]:
        """The lines of the text; ``a`` and ``b`` are the names of the runs."""
        error, bound = self.error, number_text(self.error.bound)
        lines = [
            f"  result {self.which}   {error.describe(a, b)}",
            f"  error      {number_text(error.relative)}; {bound} counts as rounding",
            f"  today      {self.today or 'no operation'}",
            f"  exported   {self.saved or 'no operation'}",
            f"  at         {self.line or 'a line that is not known'}",
        ]
        return [*(lines if self.today or self.saved else lines[:2]), f"  {self.cause}"]

    def record(self) -> dict[str, Any]:
        """The same as numbers and texts, for JSON."""
        return {
            "result": self.which,
            **self.error.record(),
            "today": self.today,
            "exported": self.saved,
            "line": self.line,
            "cause": self.cause,
        }


def compare_saved(
    f: Callable[..., Any],
    args: Sequence[Any],
    exported: Any,
    way: Way,
    rtol: float | None,
    *,
    is_first: bool,
) -> tuple[int, float, SavedDifference | None]:
    """Compare the results of an exported program with those of a function.

    Args:
        f: the function, as it is today.
        args: the arguments of both.
        exported: the program, as ``bindax.export`` made or read it.
        way: how today's program is run.
        rtol: the relative error that counts as rounding, or None.
        is_first: whether the results of the exported program come first in pairs.

    Returns:
        The number of results that agree, their largest error, and the first one that differs.
    """
    closed = make_jaxpr(f)(*args)
    before = tree_leaves(exported.call(*args))
    today = way.run_program("", closed, way.operands(tree_leaves(tuple(args))))
    if len(before) != len(today):
        raise ValueError(
            f"{exported.fun_name} was exported with {len(before)} results, but the function has "
            f"{len(today)} today."
        )
    pairs = zip(*((before, today) if is_first else (today, before)), strict=True)
    errors = [error_of(x, y, rtol) for x, y in pairs]
    for which, error in enumerate(errors):
        if error.is_far:
            ours = operations(jit(f).lower(*args).as_text(debug_info=True))
            theirs = operations(exported.mlir_module())
            other = first_difference(ours, theirs)
            return which, 0.0, SavedDifference(which, error, *other)
    return len(errors), max([0.0, *(error.relative for error in errors)]), None


def is_exported(given: Any) -> bool:
    """Tell whether a value is a program that ``bindax.export`` made or read."""
    return hasattr(given, "mlir_module") and hasattr(given, "call")


def operations(module: str) -> list[Operation]:
    """The operations of a StableHLO module, in the order of its text, without constants."""
    places = _places(module)
    names: dict[str, str] = {}
    found = []

    numbers = count()

    def renamed(match: re.Match[str]) -> str:
        name, defines = match[1], match[2] or ""
        if defines or name not in names:
            names[name] = f"%{next(numbers)}"
        return names[name] + defines

    for row in module.splitlines():
        location = re.findall(r"loc\((#loc\d*)\)$", row)
        text = _UNSAID.sub("", _AT_END.sub("", row)).strip()
        constant = _CONSTANT.match(text)
        if constant:
            names[constant[1]] = constant[2]
        elif text and not text.startswith(("#loc", "module", "}")):
            renumbered = _NAME.sub(renamed, text)
            if not text.startswith("func.func public"):  # it says how results are called, too
                found.append(Operation(renumbered, places.get("".join(location), "")))
    return found


def first_difference(
    ours: Sequence[Operation], theirs: Sequence[Operation]
) -> tuple[str, str, str]:
    """The first operation that two programs have otherwise, in both, and its line in the first."""
    for mine, other in zip(ours, theirs, strict=False):
        if mine.text != other.text:
            return mine.text, other.text, mine.line
    if len(ours) > len(theirs):
        return ours[len(theirs)].text, "", ours[len(theirs)].line
    return ("", theirs[len(ours)].text, "") if len(theirs) > len(ours) else ("", "", "")


def _places(module: str) -> dict[str, str]:
    """The user's file and line of each location, which may stand in another location."""
    found_all = filter(None, map(_LOCATION.match, module.splitlines()))
    texts: dict[str, str] = {found[1]: found[2] for found in found_all}
    places: dict[str, str] = {}
    for name, text in texts.items():
        seen = 0
        while "#loc" in text and not _FILE.search(text) and seen < 8:
            inner = re.findall(r"#loc\d*", text)[0]
            text, seen = texts.get(inner, ""), seen + 1
        file = _FILE.search(text)
        places[name] = f"{file[1]}:{file[2]}" if file else ""
    return places
