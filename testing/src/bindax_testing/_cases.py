"""Cases: one primitive with concrete operands and parameters, from the samples of a plugin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import attrs
import numpy as np

from bindax_core.extend import (
    Jaxpr,
    Primitive,
    Rule,
    RuleKind,
    Var,
    abstract_eval,
    is_differentiable,
    is_extended,
    typeof,
)
from bindax_testing._samples import Sample
from bindax_transforms import make_jaxpr

DRAWS = 3


AnyCall = TypeVar("AnyCall", bound="Call")


def read_only(draws: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    """The lists of operands with arrays that no rule can change; equal lists stay one object."""
    made = {id(row): tuple(map(_protected, row)) for row in draws}
    return tuple(made[id(row)] for row in draws)


def _protected(x: Any) -> Any:
    if type(x) is not np.ndarray or not x.flags.writeable:
        return x
    x = x.copy()
    x.flags.writeable = False
    return x


class Call:
    """A call with concrete operands that checks look at, of a primitive or of a function.

    Attributes:
        draws: some lists of operands of the same types, whose arrays are read-only.
        label: the sample it comes from.
        skip: checks to leave out, by name, each with the reason.
        seed: what random directions are drawn from.
        no_derivative: the positions of operands that no derivative is taken along.
    """

    draws: tuple[tuple[Any, ...], ...]
    label: str
    skip: Mapping[str, str]
    seed: int
    no_derivative: tuple[int, ...]

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
        """Make the call with other operands; gives the list of its results."""
        raise TypeError(f"{type(self).__name__} must define call")

    def with_draws(self, draws: Sequence[Sequence[Any]]) -> Self:
        """The same call with other operands."""
        return attrs.evolve(self, draws=draws)  # type: ignore[misc]

    def is_inside(self) -> bool:
        """Tell whether the operands are inside the domain, as far as it is known."""
        return True

    def out_avals(self) -> list[Any]:
        """The types of the results, by abstract evaluation."""
        return list(make_jaxpr(self.fresh())(*self.avals).out_avals)

    def rule_of(self, kind: RuleKind) -> Rule | None:
        """The rule of a kind that is called; None for functions, which have none."""
        return None

    def fresh(self) -> Callable[..., list[Any]]:
        """``call`` as a function that nothing was remembered for, for ``jit``."""
        return lambda *operands: self.call(*operands)

    def rng(self) -> np.random.Generator:
        """A random generator for directions."""
        return np.random.default_rng(self.seed)

    @property
    def types(self) -> str:
        """The types of its operands, in short."""
        return ", ".join(aval.str_short() for aval in self.avals)


@attrs.frozen(eq=False)
class Case(Call):
    """A primitive with operands and parameters.

    Attributes:
        primitive: what is checked.
        draws: some lists of operands of the same types, whose arrays are read-only.
        params: its parameters.
        label: the sample it comes from.
        skip: checks to leave out, by name, each with the reason.
        seed: what random directions are drawn from.
        no_derivative: the positions of operands that no derivative is taken along.
        contains: tells whether operands are inside the domains of the sample.
        reference: a function of NumPy arrays that computes the results independently.
        ulps: how many units in the last place results may be from those of the reference.
        specs: how the operands lie on a mesh, where it is divided among devices.
    """

    primitive: Primitive
    draws: tuple[tuple[Any, ...], ...] = attrs.field(converter=read_only)
    params: Mapping[str, Any]
    label: str = ""
    skip: Mapping[str, str] = attrs.field(factory=dict)
    seed: int = 0
    no_derivative: tuple[int, ...] = ()
    contains: Callable[[Sequence[Any]], bool] = lambda operands: True
    reference: Callable[..., Any] | None = None
    ulps: float = 0.0
    specs: tuple[Any, ...] | None = None

    def call(self, *operands: Any) -> list[Any]:
        """Bind the primitive; gives the list of its results."""
        out = self.primitive.bind(*operands, **self.params)
        return list(out) if self.primitive.multiple_results else [out]

    def is_inside(self) -> bool:
        """Tell whether the operands of all draws are inside the domains of the sample."""
        return all(map(self.contains, self.draws))

    def out_avals(self) -> list[Any]:
        """The types of the results, by the rule of abstract evaluation."""
        return list(abstract_eval.get(self.primitive)(*self.avals, **self.params))

    def rule_of(self, kind: RuleKind) -> Rule | None:
        """The rule of a kind that the primitive has."""
        return kind.rule_of(self.primitive)

    @property
    def description(self) -> str:
        """The types of its operands and its parameters, in short."""
        params = "".join(f", {key}={value!r:.60}" for key, value in self.params.items())
        return f"{self.primitive.name}({self.types}{params})"


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
    made = Case(primitive, draws, params, sample.label, sample.skip, seed, sample.no_derivative)
    if sample.function is not primitive:
        return made
    return attrs.evolve(
        made, contains=sample.contains, reference=sample.reference, ulps=sample.ulps
    )


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
            tuple(plain(known[x] if isinstance(x, Var) else x.val) for x in eqn.invars)
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


def plain(x: Any) -> Any:
    """A value as a test can write it: a NumPy array, or a Python scalar where it is weak."""
    aval = typeof(x)
    if not aval.weak_type:
        return x if is_extended(aval.dtype) else np.asarray(x)
    number = None if aval.shape else np.asarray(x).item()
    return number if number is not None and typeof(number) == aval else x


def replaced(case: AnyCall, draws: Sequence[Sequence[Any]]) -> AnyCall:
    """The same call with other operands."""
    return case.with_draws(draws)
