"""A jaxpr as lines of text, each with the number of its equation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bindax_core.extend import Array, ClosedJaxpr, Jaxpr, Literal, Printer, subjaxprs
from bindax_inspect.compiled.stablehlo import TextLine
from bindax_inspect.compiled.values import HIDDEN, is_harmless
from bindax_inspect.program.equations import Equation, Program

_LONGEST = 240


class _Names(Printer):
    """Names for the variables of a jaxpr; values of literals only where they say nothing."""

    def __init__(self, values: bool) -> None:
        super().__init__()
        self._values = values

    def atom(self, x: Any) -> str:
        """Return a variable's name, a literal's value, or the type of a literal."""
        if type(x) is Literal and not (self._values or is_harmless(x.val)):
            return f"{HIDDEN}:{x.aval.str_short()}"
        return super().atom(x)


def jaxpr_lines(program: Program, *, values: bool = False) -> list[TextLine]:
    """Return the lines of a program; a jaxpr that several equations call is printed once.

    Args:
        program: the program.
        values: whether constants are shown.
    """
    return list(_Text(program, values).of(program.jaxpr.jaxpr, ""))


class _Text:
    """The text of the jaxprs of a program."""

    def __init__(self, program: Program, values: bool) -> None:
        self._program = program
        self._values = values
        self._printed: dict[int, int | None] = {}

    def of(self, jaxpr: Jaxpr, indent: str, caller: int | None = None) -> Iterator[TextLine]:
        """Yield the lines of a jaxpr."""
        names = _Names(self._values)
        self._printed[id(jaxpr)] = caller
        binders = ", ".join(names.binder(v) for v in (*jaxpr.constvars, *jaxpr.invars))
        yield TextLine(f"{indent}{{ lambda {binders} .", () if caller is None else (caller,))
        for number, eqn in zip(self._program.numbers[id(jaxpr)], jaxpr.eqns, strict=True):
            head = " ".join(names.binder(v) for v in eqn.outvars)
            operands = " ".join(names.atom(x) for x in eqn.invars)
            params = shown_params(eqn.params, values=self._values)
            text = f"{indent}  {head} = {eqn.primitive.name}{params} {operands}"
            yield TextLine(text.rstrip(), (number,), head)
            for _, inner in subjaxprs(eqn.params):
                yield from self._inner(inner, indent + "    ", number)
        outs = ", ".join(names.atom(x) for x in jaxpr.outvars)
        yield TextLine(f"{indent}  in ( {outs} ) }}")

    def _inner(self, closed: ClosedJaxpr, indent: str, number: int) -> Iterator[TextLine]:
        if id(closed.jaxpr) in self._printed:
            first = self._printed[id(closed.jaxpr)]
            yield TextLine(f"{indent}{{ the jaxpr of equation {first} }}", (number,))
        else:
            yield from self.of(closed.jaxpr, indent, number)


def shown_params(params: dict[str, Any], *, values: bool = False) -> str:
    """Return parameters in brackets, without jaxprs and without what is None.

    >>> shown_params({"axes": (0, 1), "precision": None})
    '[axes=(0, 1)]'
    """
    programs = {name for name, _ in subjaxprs(params)}
    shown = [
        f"{name}={_param(value, values)}"
        for name, value in sorted(params.items())
        if value is not None and name not in programs
    ]
    return f"[{' '.join(shown)}]" if shown else ""


def _param(value: Any, values: bool) -> str:
    if isinstance(value, (np.ndarray, np.generic, Array)) and not values:
        return f"{HIDDEN}:{value.dtype}{list(value.shape)}"
    if isinstance(value, float) and not (values or is_harmless(value)):
        return HIDDEN
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    text = str(value)
    if " object at 0x" in text:  # an address, which differs from run to run
        text = type(value).__name__
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def operand_types(equation: Equation) -> tuple[list[str], list[str]]:
    """Return the types of the operands and of the results, with shardings where there are any."""
    eqn = equation.eqn
    return [_type(x.aval) for x in eqn.invars], [_type(v.aval) for v in eqn.outvars]


def _type(aval: Any) -> str:
    sharding, shown = getattr(aval, "placement", None), aval.str_short()
    return f"{shown} on {sharding}" if sharding is not None else str(shown)
