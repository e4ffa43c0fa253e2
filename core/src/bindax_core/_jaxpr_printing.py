"""Printing of jaxprs: variables get names in order of appearance, equations a line each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.kernel import _rules as rules
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, subjaxprs
from bindax_core.kernel._source_info import SourceInfo

Lines = list[str]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.permutations(_LETTERS, length):
            yield "".join(letters)


class Printer:
    """Names for the variables of one jaxpr, in order of appearance.

    Args:
        source_info: whether each equation is followed by its line of the user's program.
        name_stack: whether the primitive of each is followed by its stack of names.
    """

    def __init__(self, *, source_info: bool = False, name_stack: bool = False) -> None:
        self.source_info = source_info
        self.name_stack = name_stack
        self._fresh = _names()
        self._known: dict[Var, str] = {}

    def atom(self, x: Any) -> str:
        """Return a variable's name, or a literal's value."""
        if type(x) is Literal:
            return str(x.val)
        if x not in self._known:
            self._known[x] = next(self._fresh)
        return self._known[x]

    def of_program(self) -> Printer:
        """Return the same for a jaxpr inside of an equation, which has variables of its own."""
        return Printer(source_info=self.source_info, name_stack=self.name_stack)

    def binder(self, v: Var) -> str:
        """Return a variable's name with its type."""
        return f"{self.atom(v)}:{v.aval.str_short()}"


def beside(left: Lines, right: Lines) -> Lines:
    """Put two blocks side by side, the first line of the right one after the last of the left."""
    if not left or not right:
        return left or right
    indent = " " * len(left[-1])
    return [*left[:-1], left[-1] + right[0], *(indent + line for line in right[1:])]


def format_jaxpr(jaxpr: Jaxpr, printer: Printer | None = None) -> Lines:
    """Return the lines of a jaxpr."""
    printer = printer or Printer()
    binders = ", ".join(printer.binder(v) for v in (*jaxpr.constvars, *jaxpr.invars))
    eqns = [line for eqn in jaxpr.eqns for line in format_eqn(eqn, printer)]
    outs = ", ".join(printer.atom(x) for x in jaxpr.outvars)
    body = [*beside(["let "], eqns), f"in ( {outs} ) }}"]
    return [f"{{ lambda {binders} .", *("  " + line for line in body)]


def format_eqn(eqn: JaxprEqn, printer: Printer | None = None) -> Lines:
    """Return the lines of an equation; jaxprs among its parameters follow it, indented."""
    printer = printer or Printer()
    rule = rules.pretty_print.functions.get(eqn.primitive)
    if rule is not None:
        lines = list(rule(eqn, printer))
    else:
        lines = format_application(eqn, eqn.params, printer)
    return lines if eqn.source_info is None else _with_origin(lines, eqn.source_info, printer)


def _with_origin(lines: Lines, source: SourceInfo, printer: Printer) -> Lines:
    """Add what was asked for to the first line of an equation, which has the primitive."""
    names = f" [{source.names}]" if printer.name_stack and source.stack else ""
    line = f" {source.file}:{source.line} ({source.function})" if printer.source_info else ""
    return [f"{lines[0]}  #{line}{names}", *lines[1:]] if line or names else lines


def format_application(eqn: JaxprEqn, shown: dict[str, Any], printer: Printer) -> Lines:
    """Return the lines of an equation with the given parameters, for ``pretty_print`` rules."""
    operands = " ".join(printer.atom(x) for x in eqn.invars)
    binders = " ".join(printer.binder(v) for v in eqn.outvars)
    programs = subjaxprs(shown)
    names = {name for name, _ in programs}
    params = {name: value for name, value in shown.items() if name not in names}
    head = beside([f"{binders} = {eqn.primitive.name}"], format_params(params))
    lines = beside(head, [operands] if operands else [])
    for _, program in programs:
        lines += ["  " + line for line in format_jaxpr(program.jaxpr, printer.of_program())]
    return lines


def format_params(params: dict[str, Any]) -> Lines:
    """Format parameters in brackets, one a line, sorted by name."""
    if not params:
        return [" "]
    lines = [f"{name}={_param(value)}" for name, value in sorted(params.items())]
    return beside(beside([" [ "], lines), [" ] "])


def _param(value: Any) -> str:
    if isinstance(value, ClosedJaxpr):
        return "<jaxpr>"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return str(value)


def _show(jaxpr: Jaxpr | JaxprEqn, source_info: bool = False, name_stack: bool = False) -> str:
    printer = Printer(source_info=source_info, name_stack=name_stack)
    if isinstance(jaxpr, JaxprEqn):
        return "\n".join(format_eqn(jaxpr, printer))
    return "\n".join(format_jaxpr(jaxpr, printer))


runtime.show_jaxpr = _show
