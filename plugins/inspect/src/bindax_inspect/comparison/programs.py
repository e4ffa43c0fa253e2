"""Programs without calls: the equations of functions under ``jit`` and the like, in one list."""

from __future__ import annotations

from typing import Any, NamedTuple

from bindax_core.extend import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Printer,
    Var,
    format_application,
    subjaxprs,
)


class FlatProgram(NamedTuple):
    """A program whose equations are no calls.

    Attributes:
        closed: the equations.
        paths: for each of them the calls that it is in, outermost first.
    """

    closed: ClosedJaxpr
    paths: list[tuple[str, ...]]


def flat_program(closed: ClosedJaxpr) -> FlatProgram:
    """Replace all calls by the equations of what they call.

    Args:
        closed: a program of any depth; loops and branches stay what they are.
    """
    constvars = [Var(v.aval) for v in closed.jaxpr.constvars]
    consts = list(closed.consts)
    invars = [Var(v.aval) for v in closed.jaxpr.invars]
    eqns: list[JaxprEqn] = []
    paths: list[tuple[str, ...]] = []

    def inline(jaxpr: Jaxpr, given: dict[Any, Atom], path: tuple[str, ...]) -> list[Atom]:
        def read(atom: Atom) -> Atom:
            return atom if isinstance(atom, Literal) else given[atom]

        for eqn in jaxpr.eqns:
            operands = [read(x) for x in eqn.invars]
            called = called_program(eqn)
            if called is None:
                outvars = [Var(v.aval) for v in eqn.outvars]
                given.update(zip(eqn.outvars, outvars, strict=True))
                eqns.append(eqn.replace(invars=operands, outvars=outvars))
                paths.append(path)
                continue
            own = [Var(v.aval) for v in called.jaxpr.constvars]
            constvars.extend(own)
            consts.extend(called.consts)
            inside: dict[Any, Atom] = dict(zip(called.jaxpr.constvars, own, strict=True))
            inside.update(zip(called.jaxpr.invars, operands, strict=True))
            outs = inline(called.jaxpr, inside, (*path, _call_name(eqn)))
            given.update(zip(eqn.outvars, outs, strict=True))
        return [read(x) for x in jaxpr.outvars]

    top: dict[Any, Atom] = dict(zip(closed.jaxpr.constvars, constvars, strict=True))
    top.update(zip(closed.jaxpr.invars, invars, strict=True))
    outs = inline(closed.jaxpr, top, ())
    return FlatProgram(ClosedJaxpr(Jaxpr(constvars, invars, outs, eqns), consts), paths)


_NO_CALLS = frozenset(("scan", "while", "cond", "shard_map"))


def called_program(eqn: JaxprEqn) -> ClosedJaxpr | None:
    """The program that an equation calls with its operands, and whose results are its own."""
    if eqn.primitive.name in _NO_CALLS:
        return None
    programs = [value for value in eqn.params.values() if isinstance(value, ClosedJaxpr)]
    if len(programs) != 1:
        return None
    (program,) = programs
    given = [x.aval.strip_weak_type() for x in (*eqn.invars, *eqn.outvars)]
    own = [aval.strip_weak_type() for aval in (*program.in_avals, *program.out_avals)]
    return program if given == own and len(eqn.invars) == len(program.in_avals) else None


def equation_text(eqn: JaxprEqn) -> str:
    """An equation on one line, its bodies left out."""
    bodies = {name for name, _ in subjaxprs(eqn.params)}
    params = {name: value for name, value in eqn.params.items() if name not in bodies}
    text = " ".join(" ".join(format_application(eqn, params, Printer())).split())
    return text if len(text) <= 160 else f"{text[:157]}..."


def _call_name(eqn: JaxprEqn) -> str:
    name = eqn.params.get("name") or getattr(eqn.params.get("call"), "short_name", None)
    return f"{eqn.primitive.name} of {name}" if isinstance(name, str) else eqn.primitive.name
