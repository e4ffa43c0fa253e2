"""The equations of a program, those of inner jaxprs included, with numbers.

A jaxpr that several equations call is one part of the program: its equations have one number each,
however often they run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bindax_core.extend import ClosedJaxpr, Jaxpr, JaxprEqn, subjaxprs
from bindax_inspect.program.origins import TOP, Origin, origin_of
from bindax_inspect.rules import Cost, cost_of


@dataclass(slots=True)
class Equation:
    """One equation of a program.

    Attributes:
        number: its number, in the order of the printed jaxpr.
        eqn: the equation itself.
        origin: the user's line, and the names around it.
        cost: what one run of it costs, without the jaxprs among its parameters.
        parents: the numbers of the equations whose jaxprs have it; none at the top.
        inner: the numbers of the equations of its own jaxprs, one level down.
        runs: how often it runs in one call of the program; never, where nothing uses its results.
    """

    number: int
    eqn: JaxprEqn
    origin: Origin
    cost: Cost
    parents: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    runs: float = 0.0

    @property
    def operations(self) -> float:
        """The operations in one call of the program."""
        return self.runs * self.cost.operations

    @property
    def bytes(self) -> float:
        """The bytes that are read and written in one call of the program."""
        return self.runs * (self.cost.bytes or 0.0)


class Program:
    """A jaxpr with numbered equations.

    Attributes:
        name: the name of the function.
        jaxpr: the jaxpr.
        equations: the equations, by number.
        jaxprs: the jaxprs, those that are called before those that call them.
        numbers: for each jaxpr of the program, by identity, the numbers of its equations.
    """

    def __init__(self, name: str, jaxpr: ClosedJaxpr) -> None:
        self.name = name
        self.jaxpr = jaxpr
        self.equations: list[Equation] = []
        self.numbers: dict[int, list[int]] = {}
        self._calls: dict[int, list[tuple[int, float]]] = {}  # by jaxpr: who runs it, how often
        self.jaxprs: list[Jaxpr] = []  # callees before callers
        self._visit(jaxpr.jaxpr, None)
        self._count_runs()

    def _visit(self, jaxpr: Jaxpr, parent: Equation | None) -> None:
        """Number the equations of a jaxpr, and of those that it calls."""
        known = self.numbers.get(id(jaxpr))
        if known is None:
            known = self.numbers[id(jaxpr)] = []
            around = TOP if parent is None else _around(parent)
            for eqn in jaxpr.eqns:
                origin = origin_of(eqn, around)
                equation = Equation(len(self.equations), eqn, origin, cost_of(eqn))
                known.append(equation.number)
                self.equations.append(equation)
                for name, program in subjaxprs(eqn.params):
                    self._visit(program.jaxpr, equation)
                    times = equation.cost.runs.get(name, 1.0)
                    self._calls.setdefault(id(program.jaxpr), []).append((equation.number, times))
            self.jaxprs.append(jaxpr)
        if parent is not None:
            parent.inner.extend(known)
            for number in known:
                if parent.number not in self.equations[number].parents:
                    self.equations[number].parents.append(parent.number)

    def _count_runs(self) -> None:
        for jaxpr in reversed(self.jaxprs):
            callers = self._calls.get(id(jaxpr), ())
            runs = sum(self.equations[number].runs * times for number, times in callers)
            runs = 1.0 if jaxpr is self.jaxpr.jaxpr else runs
            for number, is_used in zip(self.numbers[id(jaxpr)], _used(jaxpr), strict=True):
                self.equations[number].runs = runs if is_used else 0.0


def _around(equation: Equation) -> Origin:
    """The origin of the equations of a jaxpr, with the name of the function or the primitive."""
    name, function = equation.eqn.primitive.name, equation.eqn.params.get("name")
    shown = f"{name}({function})" if name == "jit" and function else name
    names = "/".join(filter(None, (equation.origin.names, shown)))
    return equation.origin._replace(names=names)


def _used(jaxpr: Jaxpr) -> list[bool]:
    """For each equation, whether something needs its results, or it has an effect."""
    needed = set(map(id, jaxpr.outvars))
    found: list[bool] = []
    for eqn in reversed(jaxpr.eqns):
        is_used = any(id(v) in needed for v in eqn.outvars) or bool(eqn.effects)
        found.append(is_used)
        if is_used:
            needed.update(map(id, eqn.invars))
    return found[::-1]
