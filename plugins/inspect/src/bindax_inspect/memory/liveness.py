"""Values that are alive while a program runs, equation by equation.

A value is alive from the equation that makes it to the last one that needs it; arguments and
constants are alive throughout. Compilers fuse equations, so that fewer values are ever stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bindax_core.extend import Jaxpr, JaxprEqn, Var, subjaxprs
from bindax_inspect.cost.kind import size_in_bytes
from bindax_inspect.program.equations import Program

LOOPS = ("scan", "while")
"""Primitives whose jaxprs run beside results that are allocated before."""


class Value(NamedTuple):
    """A value of a program.

    Attributes:
        bytes: the memory that it takes.
        equation: the number of the equation that makes it; None for an argument or a constant.
        type: its type, as it is printed.
    """

    bytes: int
    equation: int | None
    type: str


class Moment(NamedTuple):
    """A point in the run of a program.

    Attributes:
        equation: the number of the equation that runs.
        bytes: the memory of all values that are alive.
    """

    equation: int
    bytes: int


class Memory(NamedTuple):
    """The memory of a program over its run.

    Attributes:
        peak: the most bytes that are alive at one time.
        at: the number of the equation that runs then, or None in an empty program.
        alive: the values that are alive then, the largest first.
        moments: the bytes after each equation, in the order of the run.
        kept: the values that the forward pass makes and the backward pass uses, the largest first.
        planned: the bytes that the compiler plans for arguments, results and what is between them,
            after fusion; None without a compiler.
    """

    peak: int
    at: int | None
    alive: tuple[Value, ...]
    moments: tuple[Moment, ...]
    kept: tuple[Value, ...]
    planned: int | None = None

    @property
    def kept_bytes(self) -> int:
        """The bytes that are kept from the forward to the backward pass."""
        return sum(value.bytes for value in self.kept)


class _Run(NamedTuple):
    """The run of one jaxpr, without the values that it is given."""

    peak: int
    at: int | None
    alive: list[Value]
    moments: list[Moment]


def memory_of(program: Program) -> Memory:
    """Return the memory of a program over its run.

    >>> import bindax_lax_basic as lax
    >>> import numpy as np
    >>> from bindax_inspect.program.equations import Program
    >>> from bindax_transforms import make_jaxpr
    >>> jaxpr = make_jaxpr(lambda x: lax.exp(lax.sin(x)))(np.ones(4, np.float32))
    >>> memory_of(Program("f", jaxpr)).peak
    48
    """
    jaxpr = program.jaxpr.jaxpr
    given = [_value(v, None) for v in (*jaxpr.constvars, *jaxpr.invars)]
    below = sum(value.bytes for value in given)
    run = _Runs(program).of(jaxpr)
    alive = sorted((*given, *run.alive), key=lambda value: -value.bytes)
    moments = tuple(Moment(number, below + size) for number, size in run.moments)
    kept = sorted(_kept(program), key=lambda value: -value.bytes)
    return Memory(below + run.peak, run.at, tuple(alive), moments, tuple(kept))


def _value(v: Var, equation: int | None) -> Value:
    return Value(size_in_bytes(v.aval), equation, v.aval.str_short())


class _Runs:
    """The runs of the jaxprs of a program, each found once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, _Run] = {}

    def of(self, jaxpr: Jaxpr) -> _Run:
        """The run of a jaxpr."""
        known = self._known.get(id(jaxpr))
        if known is None:
            known = self._known[id(jaxpr)] = self._simulated(jaxpr)
        return known

    def _simulated(self, jaxpr: Jaxpr) -> _Run:
        alive: dict[Var, Value] = {}
        size = peak = 0
        at: int | None = None
        at_peak: list[Value] = []
        moments: list[Moment] = []
        numbers = self._program.numbers[id(jaxpr)]
        for number, eqn, freed in zip(numbers, jaxpr.eqns, jaxpr.last_uses, strict=True):
            inner = self._inner(eqn)
            made = {v: _value(v, number) for v in eqn.outvars}
            results = sum(value.bytes for value in made.values())
            beside = results if eqn.primitive.name in LOOPS else 0
            most = max(beside + inner.peak, results) if inner else results
            if size + most > peak or at is None:
                peak, at = size + most, number
                extra = list(inner.alive) if inner and beside + inner.peak >= results else []
                shown = made.values() if beside or not extra else ()
                at_peak = [*alive.values(), *shown, *extra]
                at = inner.at if extra and inner and inner.at is not None else number
            if inner:
                moments += [Moment(n, size + beside + more) for n, more in inner.moments]
            alive.update(made)
            moments.append(Moment(number, size + results))
            gone = [alive.pop(v) for v in freed if v in alive]
            size += results - sum(value.bytes for value in gone)
        return _Run(peak, at, at_peak, moments)

    def _inner(self, eqn: JaxprEqn) -> _Run | None:
        """The run with the highest peak among the jaxprs of an equation."""
        runs = [self.of(program.jaxpr) for _, program in subjaxprs(eqn.params)]
        return max(runs, key=lambda run: run.peak, default=None)


def _kept(program: Program) -> Iterator[Value]:
    """Yield what forward equations make and backward equations of the same jaxpr use."""
    for jaxpr in program.jaxprs:
        made: dict[Var, int] = {}
        found: set[Var] = set()
        for number, eqn in zip(program.numbers[id(jaxpr)], jaxpr.eqns, strict=True):
            if not program.equations[number].origin.backward:
                made.update(dict.fromkeys(eqn.outvars, number))
                continue
            for x in eqn.invars:
                if type(x) is Var and x in made and x not in found:
                    found.add(x)
                    yield _value(x, made[x])
