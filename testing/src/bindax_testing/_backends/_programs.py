"""Checks of whole programs on a backend: those of packages, and generated ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core import effects_barrier
from bindax_core.extend import Primitive, is_differentiable, typeof
from bindax_testing._backends._accuracy import ACCUMULATED, allowed_units
from bindax_testing._backends._execution import BackendCall, Refused, by_reference, on_backend
from bindax_testing._backends._generated import Generated, generated, rounded
from bindax_testing._backends._values import require_types
from bindax_testing._cases import Call, Case
from bindax_testing._compare import Mismatch, NotApplicable, host_parts, require_same, wide
from bindax_testing._transformations._subject import TransformationProgram
from bindax_testing._units import spacing

INSTALLED = "programs"
EFFECTS = "effects"
GENERATED = "generated programs"
_SAMPLES = (0, 3, 20)
"""Numbers of references with other rounding: none where results are as near as that."""
_DISTRUST = 4.0


@attrs.frozen(eq=False)
class BackendProgram(Call):
    """A function of a package to run on a backend.

    Attributes:
        backend: the name of the backend.
        given: the function with its operands.
    """

    backend: str
    given: TransformationProgram
    draws: tuple[tuple[Any, ...], ...]
    label: str
    skip: Mapping[str, str] = attrs.field(factory=dict)
    seed: int = 0
    no_derivative: tuple[int, ...] = ()

    def call(self, *operands: Any) -> list[Any]:
        """Call the function with other operands."""
        return list(self.given.function(*operands))

    @property
    def description(self) -> str:
        """The function and the types of its operands, in short."""
        return f"{self.label}({self.types})"


def check_program(program: BackendProgram, compiler: str | None) -> None:
    """The results of a function of a package are those of evaluation."""
    wanted = by_reference(program.call, *program.operands)
    got = on_backend(program.backend, program.fresh(), *program.operands)
    require_types(got, wanted)
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        require_same(f"result {i}", a, b, scale=5.0)


def check_effects(program: BackendProgram, compiler: str | None) -> None:
    """The effects of a function happen as often as without a compiler, and in the same order."""
    log = program.given.log
    if log is None:
        raise NotApplicable("it has no effects")

    def happened(call: Callable[[], Any]) -> list[Any]:
        log.clear()
        call()
        effects_barrier()
        return list(log)

    wanted = happened(lambda: by_reference(program.call, *program.operands))
    compiled = program.fresh()
    for _ in range(2):
        got = happened(lambda: on_backend(program.backend, compiled, *program.operands))
        if got != wanted:
            same = sorted(map(str, got)) == sorted(map(str, wanted))
            how = "happen in the order" if same else "are"
            raise Mismatch(f"the effects {how} {got}, and not {wanted}.")


# -------------------------------------------------------------------------------- generated


@attrs.frozen(eq=False)
class GeneratedCall(BackendCall):
    """A number of a generated program; the program is made when the check runs.

    Attributes:
        number: that of the program.
        pool: what gives the cases that programs are made of.
    """

    number: int = 0
    pool: Callable[[], Sequence[Case]] = tuple

    def program(self) -> Generated:
        """The program of the number."""
        pool = self.pool()
        if not pool:
            raise NotApplicable("the backend supports no primitive that programs are made of")
        return generated(pool, (self.seed, self.number))

    @property
    def description(self) -> str:
        """The number of the program."""
        return f"generated program {self.number}"


class WrongStep(Mismatch):
    """A generated program is wrong because of one of its steps: ``primitive``, its name."""

    def __init__(self, message: str, primitive: str) -> None:
        super().__init__(message)
        self.primitive = primitive


def check_generated(call: GeneratedCall, compiler: str | None) -> None:
    """The results of a generated program are those of evaluation, up to rounding."""
    program = call.program()
    try:
        by_reference(program.results(), *program.operands)
    except Exception as error:  # of a rule that refuses a type, for one
        if not program.around:
            raise
        reason = f"it has no {program.around}: {str(error).partition('. ')[0]}"
        raise NotApplicable(reason) from error
    problem = _problem(call.name, program)
    if problem is None:
        return
    for around in dict.fromkeys(["", program.around]):
        for k, step in enumerate(program.steps):
            alone = program.alone(k, around)
            found = _problem(call.name, alone)
            if found is not None:
                text = f"{step.case.primitive.name}{_around(alone)} alone is wrong: {found}"
                raise WrongStep(f"{text}\nIt is a step of\n{program}", step.case.primitive.name)
    names = ", ".join(dict.fromkeys(program.names))
    raise Mismatch(f"{problem}\nNo step alone is wrong, of {names}{_around(program)}:\n{program}")


def _around(program: Generated) -> str:
    return f" under {program.around}" if program.around else ""


def _problem(backend: str, program: Generated) -> str | None:
    """The fault of the results of a program on a backend; None where there is none."""
    wanted = by_reference(program.results(), *program.operands)
    try:
        got = on_backend(backend, program.results(), *program.operands)
    except Refused:
        raise
    except Mismatch as error:
        return str(error)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    try:
        require_types(got, wanted)
    except Mismatch as error:
        return str(error)
    reason: str | None = None
    for samples in _SAMPLES:
        reason = _too_far(program, got, wanted, _nearby(program, samples))
        if reason is None:
            break
    return reason


def _nearby(program: Generated, samples: int) -> list[list[Any]]:
    """The results of the reference with those of steps rounded in other ways.

    Of each second one the operands are rounded, too: what a sum that cancels rounds shows there.
    """
    found = []
    for number in range(samples):
        rng = np.random.default_rng(number)
        operands = [rounded(x, rng) if number % 2 else x for x in program.operands]
        found.append(by_reference(program.results(rng), *operands))
    return found


def _too_far(
    program: Generated, got: Sequence[Any], wanted: Sequence[Any], nearby: Sequence[Sequence[Any]]
) -> str | None:
    """The first result that is further from the reference than rounding explains."""
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        x, y = host_parts(a), host_parts(b)
        others = [host_parts(outs[i]) for outs in nearby]
        if is_differentiable(typeof(b).dtype):
            agree = _agree(x, y, others, len(program.steps))
        else:
            moved = np.any([one != y for one in others], axis=0)
            agree = (x == y) | moved
        if not np.all(agree):
            at = tuple(int(k) for k in np.argwhere(~np.atleast_1d(agree))[0])[: x.ndim]
            return f"result {i} should be {y[at]!r} at {at}, but is {x[at]!r}."
    return None


def _agree(got: Any, wanted: Any, others: Sequence[Any], steps: int) -> Any:
    """The elements that are as near as rounding explains, as a mask."""
    a, b = wide(got), wide(wanted)
    with np.errstate(all="ignore"):
        moved = [np.zeros(b.shape), *(np.abs(wide(one) - b) for one in others)]
        far = np.nan_to_num(np.max(moved, axis=0), nan=np.inf)
        finite = far[np.isfinite(far)]
        norm = float(finite.max()) if finite.size else 0.0
        own = allowed_units(ACCUMULATED, wanted.dtype) * spacing(b, wanted.dtype) * steps
        near = np.abs(a - b) <= _DISTRUST * np.maximum(far, norm) + own
    return near | (a == b) | (np.isnan(a) & np.isnan(b))


def pool_of(cases: Mapping[Primitive, Sequence[Case]], refused: Collection[str]) -> list[Case]:
    """The cases that generated programs are made of."""
    primitives = sorted(cases, key=lambda one: one.name)
    every = [case for one in primitives if one.name not in refused for case in cases[one]]
    # A branch for each platform is no branch for each value of an index.
    every = [case for case in every if not case.params.get("platforms")]
    left_out = {"compiled", GENERATED}
    return [case for case in every if case.size and left_out.isdisjoint(case.skip)]
