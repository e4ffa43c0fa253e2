"""Jaxprs, programs as data: typed, functional, first-order, in A-normal form; and how they print.

A ``Jaxpr`` binds constants and arguments, applies primitives one equation at a time, and returns
atoms. A ``ClosedJaxpr`` has the values of the constants with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bindax_core.kernel import _rules as rules
from bindax_core.kernel._rules import Effect
from bindax_core.kernel._source_info import SourceInfo

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class Var:
    """A variable of a jaxpr; equal only to itself."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var({id(self):#x}:{self.aval.str_short()})"


class Literal:
    """A scalar constant that stands in the program itself; ``val`` is any legal operand."""

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: Any) -> None:
        self.val = val
        self.aval = aval

    def __repr__(self) -> str:
        return f"Literal({self.val}:{self.aval.str_short()})"


Atom = Var | Literal


class JaxprEqn:
    """One equation: ``outvars = primitive[params] invars``, and the user's line it came from."""

    __slots__ = ("invars", "outvars", "params", "primitive", "source_info")

    def __init__(
        self,
        primitive: Primitive,
        invars: Sequence[Atom],
        outvars: Sequence[Var],
        params: dict[str, Any],
        source_info: SourceInfo | None = None,
    ) -> None:
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.params = params
        self.source_info = source_info

    def replace(self, **changes: Any) -> JaxprEqn:
        """A copy with other fields."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return JaxprEqn(**{**fields, **changes})

    @property
    def effects(self) -> frozenset[Effect]:
        """The effects of the equation, those of programs among its parameters included."""
        return Jaxpr((), (), (), [self]).effects

    def __repr__(self) -> str:
        return "\n".join(format_eqn(self))


class Jaxpr:
    """A program: constants and arguments, equations, results.

    Attributes:
        constvars: the variables that constants are bound to.
        invars: the variables that arguments are bound to.
        eqns: the equations, in order.
        outvars: the results.
    """

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[JaxprEqn],
    ) -> None:
        self.constvars = list(constvars)
        self.invars = list(invars)
        self.outvars = list(outvars)
        self.eqns = list(eqns)

    @cached_property
    def effects(self) -> frozenset[Effect]:
        """The effects of its equations, those of programs among their parameters included."""
        own = rules.effects.functions
        found = [own[e.primitive](**e.params) for e in self.eqns if e.primitive in own]
        found += [program.jaxpr.effects for program in self.programs]
        return frozenset().union(*found)

    @cached_property
    def programs(self) -> list[ClosedJaxpr]:
        """The programs among the parameters of its equations."""
        return [program for eqn in self.eqns for _, program in subjaxprs(eqn.params)]

    @cached_property
    def last_uses(self) -> list[list[Var]]:
        """For each equation, the variables that nothing after it needs, so that they are freed."""
        needed = {x for x in self.outvars if type(x) is Var}
        freed: list[list[Var]] = []
        for eqn in reversed(self.eqns):
            mine = {x for x in (*eqn.invars, *eqn.outvars) if type(x) is Var} - needed
            needed |= mine
            freed.append(list(mine))
        return freed[::-1]

    def replace(self, **changes: Any) -> Jaxpr:
        """A copy with other fields."""
        fields = {name: getattr(self, name) for name in ("constvars", "invars", "outvars", "eqns")}
        return Jaxpr(**{**fields, **changes})

    def __repr__(self) -> str:
        return "\n".join(format_jaxpr(self))


def require_program(name: str, given: Any, *kinds: type) -> None:
    """Raise a TypeError that names the function, unless it was given a program."""
    if not isinstance(given, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} takes a {wanted}, but got {given!r:.80}; see bindax.make_jaxpr.")


class ClosedJaxpr:
    """A jaxpr with the values of its constants.

    Attributes:
        jaxpr: the program.
        consts: one value for each of ``jaxpr.constvars``.
        cache: what was derived from the program (its derivative, its executable) and lives as
            long as it.
    """

    __slots__ = ("__weakref__", "cache", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()) -> None:
        require_program("ClosedJaxpr", jaxpr, Jaxpr)
        if len(jaxpr.constvars) != len(consts):
            raise ValueError(
                f"a jaxpr with {len(jaxpr.constvars)} constants was closed over {len(consts)}."
            )
        self.jaxpr = jaxpr
        self.consts = list(consts)
        self.cache: dict[Any, Any] = {}

    @property
    def eqns(self) -> list[JaxprEqn]:
        """The equations."""
        return self.jaxpr.eqns

    @property
    def in_avals(self) -> list[Any]:
        """The types of the arguments."""
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[Any]:
        """The types of the results."""
        return [v.aval for v in self.jaxpr.outvars]

    def __repr__(self) -> str:
        return repr(self.jaxpr)


def subjaxprs(params: dict[str, Any]) -> list[tuple[str, ClosedJaxpr]]:
    """The programs among an equation's parameters, by name."""
    return [
        (name, entry)
        for name, value in params.items()
        for entry in (value if isinstance(value, (tuple, list)) else (value,))
        if isinstance(entry, ClosedJaxpr)
    ]


def hoist_consts(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[Any]]:
    """Turn a program's constants into leading arguments; gives the program and the constants."""
    jaxpr = closed.jaxpr
    if not jaxpr.constvars:
        return closed, []
    if "hoisted" not in closed.cache:
        hoisted = jaxpr.replace(constvars=(), invars=[*jaxpr.constvars, *jaxpr.invars])
        closed.cache["hoisted"] = ClosedJaxpr(hoisted)
    return closed.cache["hoisted"], closed.consts


Lines = list[str]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.permutations(_LETTERS, length):
            yield "".join(letters)


class Printer:
    """Gives the variables of one program their names, in order of appearance."""

    def __init__(self) -> None:
        self._fresh = _names()
        self._known: dict[Var, str] = {}

    def atom(self, x: Any) -> str:
        """A variable's name, or a literal's value."""
        if type(x) is Literal:
            return str(x.val)
        if x not in self._known:
            self._known[x] = next(self._fresh)
        return self._known[x]

    def binder(self, v: Var) -> str:
        """A variable's name with its type."""
        return f"{self.atom(v)}:{v.aval.str_short()}"


def beside(left: Lines, right: Lines) -> Lines:
    """Two blocks side by side, the first line of the right one after the last of the left."""
    if not left or not right:
        return left or right
    indent = " " * len(left[-1])
    return [*left[:-1], left[-1] + right[0], *(indent + line for line in right[1:])]


def format_jaxpr(jaxpr: Jaxpr, printer: Printer | None = None) -> Lines:
    """The lines of a program."""
    printer = printer or Printer()
    binders = ", ".join(printer.binder(v) for v in (*jaxpr.constvars, *jaxpr.invars))
    eqns = [line for eqn in jaxpr.eqns for line in format_eqn(eqn, printer)]
    outs = ", ".join(printer.atom(x) for x in jaxpr.outvars)
    body = [*beside(["let "], eqns), f"in ( {outs} ) }}"]
    return [f"{{ lambda {binders} .", *("  " + line for line in body)]


def format_eqn(eqn: JaxprEqn, printer: Printer | None = None) -> Lines:
    """The lines of an equation; programs among its parameters follow it, indented."""
    printer = printer or Printer()
    rule = rules.pretty_print.functions.get(eqn.primitive)
    if rule is not None:
        return list(rule(eqn, printer))
    return format_application(eqn, eqn.params, printer)


def format_application(eqn: JaxprEqn, shown: dict[str, Any], printer: Printer) -> Lines:
    """The lines of an equation that show the given parameters, for ``pretty_print`` rules."""
    operands = " ".join(printer.atom(x) for x in eqn.invars)
    binders = " ".join(printer.binder(v) for v in eqn.outvars)
    programs = subjaxprs(shown)
    names = {name for name, _ in programs}
    params = {name: value for name, value in shown.items() if name not in names}
    head = beside([f"{binders} = {eqn.primitive.name}"], format_params(params))
    lines = beside(head, [operands] if operands else [])
    for _, program in programs:
        lines += ["  " + line for line in format_jaxpr(program.jaxpr)]
    return lines


def format_params(params: dict[str, Any]) -> Lines:
    """Parameters in brackets, one a line, sorted by name."""
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
