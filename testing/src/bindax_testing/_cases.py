"""Cases: one primitive with concrete operands and parameters, from the samples of a plugin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import Jaxpr, Primitive, Var, is_differentiable, is_extended, typeof
from bindax_testing._samples import Sample
from bindax_transforms import make_jaxpr

DRAWS = 3


def _read_only(draws: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    """The lists of operands with arrays that no rule can change; equal lists stay one object."""
    made = {id(row): tuple(map(_protected, row)) for row in draws}
    return tuple(made[id(row)] for row in draws)


def _protected(x: Any) -> Any:
    if type(x) is not np.ndarray or not x.flags.writeable:
        return x
    x = x.copy()
    x.flags.writeable = False
    return x


@attrs.frozen(eq=False)
class Case:
    """A primitive with operands and parameters.

    Attributes:
        primitive: what is checked.
        draws: some lists of operands of the same types, whose arrays are read-only.
        params: its parameters.
        label: the sample it comes from.
        skip: checks to leave out, by name, each with the reason.
        seed: what random directions are drawn from.
        no_derivative: the positions of operands that no derivative is taken along.
    """

    primitive: Primitive
    draws: tuple[tuple[Any, ...], ...] = attrs.field(converter=_read_only)
    params: Mapping[str, Any]
    label: str = ""
    skip: Mapping[str, str] = attrs.field(factory=dict)
    seed: int = 0
    no_derivative: tuple[int, ...] = ()

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands of the first draw."""
        return self.draws[0]

    @property
    def avals(self) -> list[Any]:
        """The types of the operands."""
        return [typeof(x) for x in self.operands]

    @property
    def positions(self) -> list[int]:
        """The positions of the operands that derivatives are taken along."""
        return [
            i
            for i, aval in enumerate(self.avals)
            if is_differentiable(aval.dtype) and i not in self.no_derivative
        ]

    @property
    def size(self) -> int:
        """The number of elements of its operands, to find small cases."""
        return sum(aval.size for aval in self.avals)

    def call(self, *operands: Any) -> list[Any]:
        """Bind the primitive; gives the list of its results."""
        out = self.primitive.bind(*operands, **self.params)
        return list(out) if self.primitive.multiple_results else [out]

    def fresh(self) -> Callable[..., list[Any]]:
        """``call`` as a function that nothing was remembered for, for ``jit``."""
        return lambda *operands: self.call(*operands)

    def rng(self) -> np.random.Generator:
        """A random generator for directions."""
        return np.random.default_rng(self.seed)

    @property
    def description(self) -> str:
        """The types of its operands and its parameters, in short."""
        types = ", ".join(aval.str_short() for aval in self.avals)
        params = "".join(f", {key}={value!r:.60}" for key, value in self.params.items())
        return f"{self.primitive.name}({types}{params})"


def cases_of(sample: Sample, wanted: Collection[Primitive], seed: int = 0) -> Iterator[Case]:
    """The cases that a sample gives: its own primitive, or those that its function binds."""
    draws = tuple(tuple(sample.draw(seed, number)) for number in range(DRAWS))
    if isinstance(sample.function, Primitive):
        yield _made(sample, seed, sample.function, draws, dict(sample.params))
        return
    closed = make_jaxpr(sample.call)(*[operand.aval for operand in sample.operands])
    consts = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    environments = [
        consts | dict(zip(closed.jaxpr.invars, operands, strict=True)) for operands in draws
    ]
    yield from _walk(closed.jaxpr, environments, sample, wanted, seed)


def _made(
    sample: Sample, seed: int, primitive: Primitive, draws: Any, params: Mapping[str, Any]
) -> Case:
    return Case(primitive, draws, params, sample.label, sample.skip, seed, sample.no_derivative)


def _walk(
    jaxpr: Jaxpr,
    environments: list[dict[Var, Any]],
    sample: Sample,
    wanted: Collection[Primitive],
    seed: int,
) -> Iterator[Case]:
    """Evaluate a program once for each draw, and yield the equations of wanted primitives."""
    remaining = sum(eqn.primitive in wanted for eqn in jaxpr.eqns)
    for eqn in jaxpr.eqns:
        if not remaining:
            return
        draws = tuple(
            tuple(_plain(known[x] if isinstance(x, Var) else x.val) for x in eqn.invars)
            for known in environments
        )
        if eqn.primitive in wanted:
            remaining -= 1
            yield _made(sample, seed, eqn.primitive, draws, eqn.params)
        if remaining:
            for known, operands in zip(environments, draws, strict=True):
                outs = eqn.primitive.bind(*operands, **eqn.params)
                outs = outs if eqn.primitive.multiple_results else [outs]
                known.update(zip(eqn.outvars, outs, strict=True))


def _plain(x: Any) -> Any:
    """A value as a test can write it: a NumPy array, or a Python scalar where it is weak."""
    aval = typeof(x)
    if not aval.weak_type:
        return x if is_extended(aval.dtype) else np.asarray(x)
    number = None if aval.shape else np.asarray(x).item()
    return number if number is not None and typeof(number) == aval else x


def replaced(case: Case, draws: Sequence[Sequence[Any]]) -> Case:
    """A case with other operands."""
    return attrs.evolve(case, draws=draws)
