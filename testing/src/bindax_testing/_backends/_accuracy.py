"""Distances of results from the reference, and the greatest allowed by dtype and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import is_differentiable
from bindax_testing._cases import Case
from bindax_testing._compare import host_parts, real_size, wide
from bindax_testing._units import spacing

EXACT = "exact"
ELEMENTWISE = "elementwise"
ACCUMULATED = "accumulated"

UNITS: dict[str, dict[int, float]] = {
    EXACT: {8: 0.0, 4: 0.0, 2: 0.0, 1: 0.0},
    ELEMENTWISE: {8: 64.0, 4: 8.0, 2: 2.0, 1: 1.0},
    ACCUMULATED: {8: 64.0, 4: 32.0, 2: 4.0, 1: 2.0},
}
"""The greatest distance in units in the last place, by the bytes of a real number.

- exact: integers, booleans, keys, and operations that only move or choose elements.
- elementwise: element by element.
- accumulated: sums, products of matrices, decompositions: all elements of a result in the unit of
  the greatest one.

Complex results may be twice as far. Where a function magnifies rounding, as near a zero that is no
zero of its operand, the unit is what the result moves by when the operands move by one unit.
"""
_SHAKES = 3


@attrs.frozen
class Measurement:
    """The greatest distance between a backend and the reference, of a primitive and a dtype.

    Attributes:
        primitive: the name of the primitive.
        dtype: the dtype of its first operand; of its first result where it has no operand.
        kind: exact, elementwise or accumulated; of several, the last one.
        units: the distance in units in the last place of the result.
        conditioned: the distance where a unit is what one last place of the operands changes, if
            that is more.
        allowed: the greatest distance of the latter kind.
        at: the elements of the operands there, where each result has those of its own.

    >>> Measurement("sin", "float32", "elementwise", 1.0, 1.0, 8.0).units
    1.0
    """

    primitive: str
    dtype: str
    kind: str
    units: float
    conditioned: float
    allowed: float
    at: str = ""


def kind_of(case: Case) -> str:
    """The kind of an operation, from what the reference computes for all draws."""
    results = [[host_parts(x) for x in case.call(*row)] for row in case.draws]
    inexact = [[x for x in outs if is_differentiable(x.dtype)] for outs in results]
    if all(_is_chosen(row, outs) for row, outs in zip(case.draws, inexact, strict=True)):
        return EXACT
    return ELEMENTWISE if _is_elementwise(case, results[0]) else ACCUMULATED


def _is_chosen(operands: Sequence[Any], results: Sequence[Any]) -> bool:
    """Tell whether all elements of results are, but for signs, elements of operands."""
    if any(x.dtype.kind == "c" for x in results):
        return False  # whose parts are computed apart
    known = [wide(part).ravel() for x in map(host_parts, operands) for part in _parts(x)]
    elements = np.abs(np.concatenate([*known, []]))
    sizes = [np.abs(wide(x)) for x in results]
    return all(bool((np.isin(x, elements) | np.isnan(x)).all()) for x in sizes)


def _parts(x: Any) -> list[Any]:
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def _is_elementwise(case: Case, results: Sequence[Any]) -> bool:
    """Tell whether each element of the results comes from the elements of operands at its place."""
    operands = [host_parts(x) for x in case.operands]
    shapes = {x.shape for x in (*operands, *results) if x.shape}
    if not operands or len(shapes) > 1:
        return False
    if not shapes:
        return True
    (shape,) = shapes
    if any(x.shape != shape for x in results):
        return False
    order = np.random.default_rng(case.seed).permutation(int(np.prod(shape)))

    def moved(x: Any) -> Any:
        return x.ravel()[order].reshape(shape) if x.shape else x

    try:
        outs = case.call(*[moved(x) for x in operands])
    except Exception:  # operands that are no operands in another order
        return False
    pairs = zip(map(host_parts, outs), map(moved, results), strict=True)
    # NumPy rounds the last elements of a row in another way than the first ones.
    return all(np.allclose(wide(a), wide(b), rtol=1e-2, equal_nan=True) for a, b in pairs)


def allowed_units(kind: str, dtype: np.dtype[Any]) -> float:
    """The greatest distance of results of a dtype."""
    if not is_differentiable(dtype):
        return 0.0
    return UNITS[kind][min(real_size(dtype), 8)] * (2.0 if dtype.kind == "c" else 1.0)


@attrs.frozen(eq=False)
class Distance:
    """The distances of the elements of a result from those of the reference.

    Attributes:
        units: in units in the last place.
        conditioned: in what one last place of the operands changes, if that is more.
    """

    units: np.ndarray[Any, Any]
    conditioned: np.ndarray[Any, Any]


def distances(
    case: Case, kind: str, got: Sequence[Any], wanted: Sequence[Any], row: Sequence[Any]
) -> Iterator[Distance]:
    """Yield the distances of the elements of each result from those of the reference."""
    moved = None
    for i, (a, b) in enumerate(zip(map(host_parts, got), map(host_parts, wanted), strict=True)):
        if not is_differentiable(b.dtype):
            apart = np.where(a == b, 0.0, np.inf)
            yield Distance(apart, apart)
            continue
        unit = spacing(_greatest(b) if kind == ACCUMULATED else b, b.dtype)
        apart = _in_units(a, b, unit)
        if kind == EXACT or not np.any(apart > 0.0):
            yield Distance(apart, apart)
            continue
        moved = moved or _moved(case, wanted, row)
        far = np.max(moved[i], initial=0.0) if kind == ACCUMULATED else moved[i]
        yield Distance(apart, _in_units(a, b, np.maximum(unit, far)))


def _greatest(values: Any) -> float:
    """The greatest absolute value that is finite."""
    size = np.abs(wide(values))
    finite = size[np.isfinite(size)]
    return float(finite.max()) if finite.size else 0.0


def _in_units(got: Any, wanted: Any, unit: Any) -> np.ndarray[Any, Any]:
    a, b = wide(got), wide(wanted)
    with np.errstate(all="ignore"):
        distance = np.abs(a - b) / unit
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def _moved(case: Case, wanted: Sequence[Any], row: Sequence[Any]) -> list[Any]:
    """The change of the elements of each result when those of operands move by one unit."""
    found: list[Any] = [np.zeros(host_parts(x).shape) for x in wanted]
    for number in range(_SHAKES):
        rng = np.random.default_rng([case.seed, number])
        try:
            outs = case.call(*[shaken(x, rng) for x in row])
        except Exception:  # operands that are none any more
            continue
        for i, (a, b) in enumerate(zip(outs, wanted, strict=True)):
            x, y = host_parts(a), host_parts(b)
            if x.shape == y.shape and is_differentiable(y.dtype):
                with np.errstate(all="ignore"):
                    apart = np.abs(wide(x) - wide(y))
                found[i] = np.maximum(found[i], np.where(np.isfinite(apart), apart, 0.0))
    return found


def shaken(x: Any, rng: np.random.Generator, units: float = 1.0) -> Any:
    """A value whose elements are changed by some units in the last place, up or down."""
    array = host_parts(x)
    if not isinstance(x, np.ndarray) or not is_differentiable(array.dtype):
        return x
    signs = rng.choice([-units, units], array.shape)
    with np.errstate(all="ignore"):
        return (wide(array) + signs * spacing(array, array.dtype)).astype(array.dtype)
