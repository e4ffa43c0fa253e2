"""The base of checks, and the functions that they share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import (
    Array,
    Primitive,
    RuleKind,
    float0,
    impl,
    is_differentiable,
    is_extended,
    lowering,
    typeof,
)
from bindax_testing._cases import Call
from bindax_testing._compare import NotApplicable, host
from bindax_transforms.rules import physical

Run = Callable[[Any, str | None], None]
LAST = 5
"""The rank of checks of what is made of a primitive outside of transformations, such as text."""


@attrs.frozen(eq=False)
class Check:
    """A property that the rules of a primitive have, and the rule kind to blame when it fails.

    ``run`` raises ``Mismatch`` when the property does not hold and ``NotApplicable`` when it says
    nothing about a case; ``why_not`` tells why it says nothing about a primitive. Both get the name
    of the compiling backend, None when none is installed. The rank is 0 for the one check that
    everything rests on, 1 when it needs nothing but ``impl`` and abstract evaluation, 2 when it
    needs one more rule, 3 when derivatives or batches of other rules take part, 4 for compositions.
    A failure may be the consequence of one of a lower rank. Programs that repeat a failure begin
    with the lines of ``setup``. ``cases`` gives what it runs on of a case of a sample.
    """

    name: str
    kind: str
    run: Run
    rank: int = 3
    why_not: Callable[[Primitive, str | None], str | None] = lambda primitive, compiler: None
    setup: str = ""
    cases: Callable[[Any], Sequence[Any]] = lambda case: [case]

    @property
    def skipped_as(self) -> tuple[str, ...]:
        """The names by which samples leave it out.

        Where a compiler may give other numbers, so may what is compiled outside.
        """
        compiled = self.rank == LAST and self.kind.startswith("lowering")
        return (self.name, "compiled") if compiled else (self.name,)


CHECKS: dict[str, Check] = {}
"""The checks by name, in the order of reports."""


def check(name: str, kind: str, **options: Any) -> Callable[[Run], Run]:
    """Register a function as a check; the arguments are those of ``Check``."""

    def register(run: Run) -> Run:
        CHECKS[name] = Check(name, kind, run, **options)
        return run

    return register


def differentiable(values: Sequence[Any]) -> list[int]:
    """The positions of the values that have tangents of their own dtype."""
    return [i for i, x in enumerate(values) if is_differentiable(typeof(x).dtype)]


def direction(rng: np.random.Generator, aval: Any) -> Any:
    """A random tangent or cotangent of a type, with no element near zero."""
    if aval.dtype == float0:
        return np.zeros(aval.shape, float0)

    def real() -> np.ndarray[Any, Any]:
        signs = np.where(rng.random(aval.shape) < 0.5, -1.0, 1.0)
        return np.asarray(signs * rng.uniform(0.4, 1.6, aval.shape))

    return value(real() + 1j * real() if aval.dtype.kind == "c" else real(), aval)


def with_operands(case: Call, positions: Sequence[int]) -> Callable[..., list[Any]]:
    """The primitive as a function of some operands, the others fixed."""
    return of_some(case.call, case.operands, positions)


def of_some(
    call: Callable[..., Any], operands: Sequence[Any], positions: Sequence[int]
) -> Callable[..., list[Any]]:
    """A function as one of some of its operands, the others fixed."""

    def function(*given: Any) -> list[Any]:
        full = list(operands)
        for i, x in zip(positions, given, strict=True):
            full[i] = x
        return list(call(*full))

    return function


def value(x: Any, aval: Any) -> Any:
    """A value of exactly a type, weak where the type is."""
    if not (aval.weak_type or is_extended(aval.dtype)):
        return np.asarray(x).astype(aval.dtype)
    return Array.from_numpy(host(x).astype(aval.dtype), aval)


def mapped_choices(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield the choices of mapped operands: all of them; for many operands, the telling ones."""
    if count <= 4:
        yield from (m for m in itertools.product((True, False), repeat=count) if any(m))
        return
    yield (True,) * count
    if count > 8:
        yield tuple(j % 2 == 0 for j in range(count))
        yield tuple(j % 2 == 1 for j in range(count))
        return
    for i in range(count):
        yield tuple(j == i for j in range(count))
        yield tuple(j != i for j in range(count))


def has_forward_mode(case: Call) -> bool:
    """Tell whether a case has forward mode; functions that know their transpose alone have not."""
    return not {"jvp", "linearize"} <= case.skip.keys()


def has_reverse_mode(case: Call) -> bool:
    """Tell whether a case has reverse mode; where the check of it is left out, it has not."""
    return "reverse" not in case.skip


def why_not_called(primitive: Primitive) -> str | None:
    """Why no check can call a primitive on values, where its definition says so; None where it can.

    Those of named axes, for one, are gone when the transformation that knows the axis is done.
    """
    rule = impl.rule_of(primitive)
    if rule is None or rule.reason is None or physical.find(primitive) is not None:
        return None
    lowered = lowering["stablehlo"].rule_of(primitive)
    if lowered is None or (lowered.reason is None and lowered.options.get("alone", True)):
        return None
    return f"it cannot be called on values: {rule.reason}"


def unless_absent(rules: RuleKind) -> Callable[[Primitive, str | None], str | None]:
    """The reason why checks of a kind of rules say nothing about primitives without such a rule."""

    def why_not(primitive: Primitive, compiler: str | None) -> str | None:
        rule = rules.rule_of(primitive)
        if rule is not None and rule.reason is not None:
            return f"it has no {rules.name} rule: {rule.reason}"
        return None if rules.find(primitive) is not None else f"it has no {rules.name} rule"

    return why_not


def require_derivative(case: Call) -> tuple[list[int], list[int]]:
    """The positions of differentiable operands and results; not applicable without any."""
    positions = case.positions
    if not positions:
        raise NotApplicable("no operand has a tangent")
    results = differentiable(case.call(*case.operands))
    if not results:
        raise NotApplicable("no result has a tangent")
    return positions, results
