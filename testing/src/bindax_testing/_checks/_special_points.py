"""First and second derivatives at special points: zeros, ties, joints of pieces.

Where one-sided differences of values show a smooth function, its rules must give their limits. A
rule that is made of functions with kinks (``abs``, ``max``, ``where``) fails there and nowhere
else. Where the function has a kink itself, its convention is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import typeof
from bindax_testing._cases import Call
from bindax_testing._checks._base import (
    check,
    differentiable,
    direction,
    of_some,
    require_derivative,
    unless_absent,
)
from bindax_testing._checks._derivatives import widened
from bindax_testing._compare import Mismatch, NotApplicable, wide
from bindax_transforms import jvp
from bindax_transforms.rules import jvp as jvp_rules

Vector = np.ndarray[Any, Any]

# Zero, the joints that pieces of functions often have, and a number between.
_NUMBERS = (0.0, 1.0, -1.0, 0.5)
# Values at this many places on one side of a point, this far from each other, make a derivative.
_PLACES = 8
_STEP = 2.0**-6
_CLOSE = 1e-5
# How often a derivative that seems wrong is looked at again, along other directions.
_DOUBTS = 8


@check("special points", "jvp", why_not=unless_absent(jvp_rules))
def _special_points(case: Call, compiler: str | None) -> None:
    require_derivative(case)
    for other in ("jvp", "second order"):
        if other in case.skip:
            raise NotApplicable(case.skip[other])
    exact = widened(case)
    keep = differentiable(exact.call(*exact.operands))
    compared = False
    with np.errstate(all="ignore"):
        for name, operands in _points(exact):

            def function(*given: Any, operands: list[Any] = operands) -> list[Any]:
                outs = of_some(exact.call, operands, exact.positions)(*given)
                return [outs[i] for i in keep]

            primals = [operands[i] for i in exact.positions]
            compared |= _compare(exact, function, primals, name)
    if not compared:
        raise NotApplicable("its values show no derivative at zeros, ties and joints")


def _points(case: Call) -> Iterator[tuple[str, list[Any]]]:
    """Operands made of special numbers: zeros, equal operands, and different ones."""

    def made(number: Callable[[int, int], float]) -> list[Any]:
        operands = list(case.operands)
        for position, i in enumerate(case.positions):
            aval = typeof(operands[i])
            numbers = [number(position, k) for k in range(aval.size)]
            operands[i] = np.array(numbers, aval.dtype).reshape(aval.shape)
        return operands

    count = len(_NUMBERS)
    yield "that are 0", made(lambda position, k: 0.0)
    yield f"of elements {_NUMBERS}", made(lambda position, k: _NUMBERS[k % count])
    if len(case.positions) > 1:
        shifted = made(lambda position, k: _NUMBERS[(k + position) % count])
        yield f"of elements {_NUMBERS}, which begin one later in each next operand", shifted


@lru_cache
def _weights(order: int) -> Vector:
    """Those of values at 1, 2, … that give a derivative at 0 of the polynomial through them."""
    powers = np.vander(np.arange(1.0, _PLACES + 1), increasing=True).T
    wanted = np.zeros(_PLACES)
    wanted[order] = (1.0, 1.0, 2.0)[order]
    return np.linalg.solve(powers, wanted)


def _limits(values: Callable[[float], Vector], side: int) -> list[Vector]:
    """Value, first and second derivative at 0 from one side, nan where they cannot be trusted."""
    at = lru_cache(lambda k: values(side * k * _STEP / 2))
    found = []
    for stride in (2, 1):
        table = np.stack([at(k * stride) for k in range(1, _PLACES + 1)])
        h = side * stride * _STEP / 2
        found.append([np.tensordot(_weights(n), table, 1) / h**n for n in (0, 1, 2)])
    return [np.where(_agree(a, b, _CLOSE / 4), b, np.nan) for a, b in zip(*found, strict=True)]


def _along(
    function: Callable[..., Any], primals: list[Any], tangents: list[Any]
) -> Callable[[float], Vector]:
    """Return the values of a function on the line through a point along a direction."""

    def values(s: float) -> Vector:
        return _vector(function(*(x + s * t for x, t in zip(primals, tangents, strict=True))))

    return values


def _agree(a: Any, b: Any, tolerance: float = _CLOSE) -> Any:
    return np.abs(a - b) <= tolerance * np.maximum(1.0, np.abs(b))


def _vector(outs: Any) -> Vector:
    return np.concatenate([np.ravel(wide(out)) for out in outs])


class _Known(NamedTuple):
    """Derivatives along a direction by differences of values, and where they are to be trusted."""

    tangents: list[Any]
    first: Vector
    second: Vector
    smooth: Vector
    smooth_twice: Vector


def _known(
    function: Callable[..., Any], primals: list[Any], here: Vector, rng: np.random.Generator
) -> _Known:
    """Derivatives along a random direction, beside those along another one and between both."""
    u, v = ([direction(rng, typeof(x)) for x in primals] for _ in range(2))
    between = [[a + sign * b for a, b in zip(u, v, strict=True)] for sign in (1, -1)]
    smooth, twice, found = np.isfinite(here), np.isfinite(here), []
    for tangents in (u, v, *between):
        values = _along(function, primals, tangents)
        left, right = (_limits(values, side) for side in (-1, 1))
        smooth &= _agree(left[0], here) & _agree(right[0], here) & _agree(left[1], right[1])
        twice &= _agree(left[2], right[2])
        found.append(right)
    (_, du, ddu), (_, dv, ddv), (_, d_sum, dd_sum), (_, d_less, dd_less) = found
    # One-sided derivatives of a function with a kink differ, or are not linear.
    smooth &= _agree(d_sum, du + dv) & _agree(d_less, du - dv)
    twice &= smooth & _agree(dd_sum + dd_less, 2 * (ddu + ddv))
    return _Known(u, du, ddu, smooth, twice)


def _are_limits(by_rules: tuple[Vector, Vector], limits: list[Vector]) -> Any:
    """Tell where derivatives by rules are those from one side, as far as these are trusted."""
    first, second = by_rules
    _, slope, bend = limits
    return _agree(first, slope) & (_agree(second, bend, 10 * _CLOSE) | np.isnan(bend))


def _compare(case: Call, function: Callable[..., Any], primals: list[Any], name: str) -> bool:
    """Compare the derivatives at one point; False where values say nothing about them."""
    rng = case.rng()
    try:
        here = _vector(function(*primals))
        tangents = [direction(rng, typeof(x)) for x in primals]
        right = _limits(_along(function, primals, tangents), 1)
    except Exception:  # the point is none of its domain
        return False
    shown = np.isfinite(here) & _agree(right[0], here) & np.isfinite(right[1])
    if not np.any(shown):
        return False
    # Rules that give what one side shows are right, whether there is a kink or not. To see this
    # takes an eighth of the values that the whole comparison takes.
    by_rules = _by_rules(function, primals, tangents)
    if np.all(_are_limits(by_rules, right) | ~shown):
        return True
    try:
        known = _known(function, primals, here, rng)
    except Exception:  # beside the point is none of its domain
        return False
    if not np.any(known.smooth):
        return False
    first, second = _by_rules(function, primals, known.tangents)
    # The zeros of a triangle, for one, are constant where the rest of it has no derivative.
    constant = (known.first == 0) & (known.second == 0)
    wrong = known.smooth & ~_agree(first, known.first, 10 * _CLOSE)
    wrong &= ~(constant & np.isnan(first))
    wrong_twice = known.smooth_twice & ~_agree(second, known.second, 10 * _CLOSE)
    wrong_twice &= ~(constant & np.isnan(second))
    for _ in range(_DOUBTS):
        if not np.any(wrong | wrong_twice):
            break
        # A kink that happens to be none along four directions shows along others.
        other = _known(function, primals, here, rng)
        wrong, wrong_twice = wrong & other.smooth, wrong_twice & other.smooth_twice
    _require("first", name, first, known.first, wrong)
    _require("second", name, second, known.second, wrong_twice)
    return True


def _by_rules(
    function: Callable[..., Any], primals: list[Any], tangents: list[Any]
) -> tuple[Vector, Vector]:
    def slope(*xs: Any) -> Any:
        return jvp(function, xs, tangents)[1]

    first, second = jvp(slope, primals, tangents)
    return _vector(first), _vector(second)


def _require(order: str, name: str, got: Vector, wanted: Vector, wrong: Vector) -> None:
    if np.any(wrong):
        i = int(np.argmax(wrong))
        raise Mismatch(
            f"for operands {name}, the {order} derivative of element {i} of the results is "
            f"{got[i]:.6g}, but {wanted[i]:.6g} by differences of values from either side: the "
            f"function has no kink there, so its derivative must not go through one (abs, max, "
            f"sign, where)."
        )
