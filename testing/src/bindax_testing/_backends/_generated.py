"""Generated programs: well typed, made of the primitives of installed packages.

A step applies a primitive with the parameters of a sample to values of the types that it takes:
earlier ones, where they lie in its domain, or operands of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.errors import BindaxError
from bindax_core.extend import as_array, is_differentiable, typeof
from bindax_testing._cases import Case
from bindax_testing._compare import host, host_parts, wide
from bindax_testing._units import spacing
from bindax_transforms import custom_jvp, jit, jvp, vjp, vmap

Operand = tuple[int, int]
"""A step and one of its results, or -1 and the position of an operand of the program."""
_DERIVATIVES = ("jvp", "vjp")
_AROUND = ("", "", "jit", "vmap", *_DERIVATIVES)
_RESULTS = 4
_UNITS = 8.0  # that each step may be wrong by


@attrs.frozen(eq=False)
class Step:
    """A primitive with the parameters of a sample, and where its operands come from.

    Attributes:
        case: the primitive and its parameters.
        operands: where its operands come from.
        given: these operands.
    """

    case: Case
    operands: tuple[Operand, ...]
    given: tuple[Any, ...]


@attrs.frozen(eq=False)
class Generated:
    """A program: its steps, operands, and the transformation around it.

    Attributes:
        steps: the applications of primitives, in order.
        operands: the operands of the program.
        around: the name of the transformation; empty for none.
    """

    steps: tuple[Step, ...]
    operands: tuple[Any, ...]
    around: str = ""

    def values(self, operands: Sequence[Any], rng: Any = None) -> list[list[Any]]:
        """The results of all steps; with a generator, each is changed as rounding changes it."""
        found: list[list[Any]] = []
        for step in self.steps:
            given = [operands[i] if k < 0 else found[k][i] for k, i in step.operands]
            if rng is not None and self.around in _DERIVATIVES:
                given = [with_rounded_tangent(x, rng) for x in given]
            outs = step.case.call(*given)
            found.append(outs if rng is None else [rounded(x, rng) for x in outs])
        return found

    def results(self, rng: Any = None) -> Callable[..., list[Any]]:
        """The program as a function, with the transformation around it."""

        def run(*operands: Any) -> list[Any]:
            found = self.values(operands, rng)
            return [x for outs in found[-_RESULTS:] for x in outs]

        return _transformed(run, self.around, self.operands)

    def alone(self, k: int, around: str) -> Generated:
        """One step as a program, with a transformation around it if it has operands for one."""
        step = self.steps[k]
        places = tuple((-1, i) for i in range(len(step.given)))
        made = Generated((Step(step.case, places, step.given),), step.given)
        return made.with_transformation(around if any(map(_has_tangent, step.given)) else "")

    def with_transformation(self, around: str) -> Generated:
        """The program with a transformation around it; for ``vmap`` its operands get an axis."""
        rows: tuple[Any, ...] = self.operands
        if around == "vmap":
            rows = tuple(np.stack([host(x)] * 2) if _has_tangent(x) else x for x in rows)
        # Products of NumPy's scalars have the weak types of Python numbers.
        return attrs.evolve(self, operands=tuple(map(as_array, rows)), around=around)

    @property
    def names(self) -> list[str]:
        """The names of the primitives."""
        return [step.case.primitive.name for step in self.steps]

    def __str__(self) -> str:
        lines = []
        for k, step in enumerate(self.steps):
            given = [f"x{i}" if s < 0 else f"v{s}.{i}" for s, i in step.operands]
            params = "".join(f" {key}={value!r:.40}" for key, value in step.case.params.items())
            lines.append(f"v{k} = {step.case.primitive.name}({', '.join(given)}){params}")
        return "\n".join(lines)


def rounded(x: Any, rng: Any) -> Any:
    """A value multiplied by one more or less some units in the last place, traced or not."""
    return x * _near_one(typeof(x), rng) if _is_rounded(x) else x


def with_rounded_tangent(x: Any, rng: Any) -> Any:
    """A value as it is, whose tangent or cotangent is multiplied as by ``rounded``.

    The terms of a derivative are rounded before they are added, so that where they cancel, the sum
    is as far from the exact one as the terms are, and not only by units of itself.
    """
    if not _is_rounded(x):
        return x
    factor = _near_one(typeof(x), rng)
    same = custom_jvp(lambda x: x)
    same.defjvp(lambda primals, tangents: (primals[0], tangents[0] * factor))
    return same(x)


def _is_rounded(x: Any) -> bool:
    return _has_tangent(x) and not typeof(x).weak_type


def _near_one(aval: Any, rng: Any) -> Any:
    """Factors one more or less some units in the last place, of the shape and dtype of a type.

    Complex ones are off in both parts: products and quotients of complex numbers are right up to
    units of their absolute values, not of each part. N. J. Higham, Accuracy and Stability of
    Numerical Algorithms, 2nd edition, section 3.6.
    """
    off = rng.choice([-_UNITS, _UNITS], aval.shape)
    if aval.dtype.kind == "c":
        off = off + 1j * rng.choice([-_UNITS, _UNITS], aval.shape)
    return np.asarray(1.0 + off * spacing(np.float64(1.0), aval.dtype)).astype(aval.dtype)


def _transformed(
    run: Callable[..., Any], around: str, operands: Sequence[Any]
) -> Callable[..., list[Any]]:
    """A function with a transformation around it, of the same operands."""
    inexact = [i for i, x in enumerate(operands) if _has_tangent(x)]

    def of_inexact(given: Sequence[Any]) -> Callable[..., Any]:
        def function(*some: Any) -> list[Any]:
            full = list(given)
            for i, x in zip(inexact, some, strict=True):
                full[i] = x
            return [x for x in run(*full) if _has_tangent(x)]

        return function

    def pushed(*given: Any) -> list[Any]:
        primals = [given[i] for i in inexact]
        return list(jvp(of_inexact(given), primals, [x * 0.5 for x in primals])[1])

    def pulled(*given: Any) -> list[Any]:
        outs, pull = vjp(of_inexact(given), *[given[i] for i in inexact])
        return list(pull([x * 0.0 + 0.5 for x in outs]))

    def batched(*given: Any) -> list[Any]:
        axes = [0 if _has_tangent(x) else None for x in operands]
        return list(vmap(run, in_axes=axes)(*given))

    forms: dict[str, Callable[..., list[Any]]] = {
        "": run,
        "jit": jit(run),
        "jvp": pushed,
        "vjp": pulled,
        "vmap": batched,
    }
    return forms[around]


def _has_tangent(x: Any) -> bool:
    return is_differentiable(typeof(x).dtype)


def generated(pool: Sequence[Case], seed: Sequence[int]) -> Generated:
    """A program of two to twelve steps, decided by the seed and the cases that there are."""
    rng = np.random.default_rng(list(seed))
    steps: list[Step] = []
    operands: list[Any] = []
    known: list[tuple[Operand, Any]] = []
    wanted = int(rng.integers(2, 13))
    for _ in range(8 * wanted):
        if len(steps) == wanted:
            break
        case = pool[int(rng.integers(len(pool)))] if rng.random() < 0.5 or not known else None
        made = _step(case or _continuing(pool, known[-1][1], rng), known, operands, rng)
        if made is None:
            continue
        step, given = made
        try:
            outs = step.case.call(*given)
        except BindaxError:
            continue
        if not all(_is_moderate(x) for x in outs):
            continue
        operands += [x for (k, _), x in zip(step.operands, given, strict=True) if k < 0]
        known += [((len(steps), i), x) for i, x in enumerate(outs)]
        steps.append(step)
    program = Generated(tuple(steps), tuple(operands))
    return program.with_transformation(_AROUND[int(rng.integers(len(_AROUND)))])


def _continuing(pool: Sequence[Case], last: Any, rng: Any) -> Case:
    """A case that takes the type of a value, if there is one."""
    aval = typeof(last)
    fitting = [case for case in pool if aval in case.avals]
    some = fitting or pool
    return some[int(rng.integers(len(some)))]


def _step(
    case: Case, known: Sequence[tuple[Operand, Any]], operands: Sequence[Any], rng: Any
) -> tuple[Step, list[Any]] | None:
    """A step with some earlier values among its operands; None where the domain has none."""
    places: list[Operand] = []
    given: list[Any] = []
    count = len(operands)
    for x in case.operands:
        fitting = [one for one in known if typeof(one[1]) == typeof(x)]
        if fitting and rng.random() < 0.8:
            place, value = fitting[int(rng.integers(len(fitting)))]
        else:
            place, value = (-1, count), x
            count += 1
        places.append(place)
        given.append(value)
    made = Step(case, tuple(places), tuple(given))
    return (made, given) if case.contains(given) else None


def _is_moderate(x: Any) -> bool:
    """Tell whether all elements are numbers of moderate size."""
    array = host_parts(x)
    if not is_differentiable(array.dtype):
        return True
    with np.errstate(all="ignore"):
        size = np.abs(wide(array))
    return bool(np.all(size < 1e4))
