"""One-sided derivatives of values at special points, and those that rules give there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import bindax
import bindax.numpy as jnp

# Values at this many places on one side of a point, this far from each other, make a derivative.
_NODES = 9
_STEP = 2.0**-6
_CLOSE = 1e-4
POINTS = {
    1: (0, -0.0, 0.5, -0.5, 1, -1, 2, -2, 3, -3, 4, -5, 6, -6, 8, -10, 20, -20, np.log(2.0)),
    2: (0.0, -0.0, 0.5, 1.0, -1.0, 2.0),
    3: (0.0, 0.5, 1.0, -1.0),
}
PARAMETERS = (0.5, 1.0, 2.0)


def points(arity: int, *, distribution: bool = False) -> Any:
    """All combinations of special numbers, each in a row; of a distribution, with parameters."""
    if distribution:
        return np.array(list(product(POINTS[2], *[PARAMETERS] * (arity - 1))))
    return np.array(list(product(POINTS[arity], repeat=arity)), float)


def directions(arity: int) -> list[tuple[float, ...]]:
    """Those of the axes, which come first, and two between for functions of several numbers."""
    axes = [tuple(float(i == j) for i in range(arity)) for j in range(arity)]
    return axes if arity == 1 else [*axes, (1.0, -1.0, 0.5)[:arity], (1.0, 2.0, -1.0)[:arity]]


@lru_cache
def _weights(order: int) -> Any:
    """Those that give a derivative at 0 of the polynomial through values at 1, 2, …"""
    powers = np.vander(np.arange(1.0, _NODES + 1), increasing=True).T
    wanted = np.zeros(_NODES)
    wanted[order] = [1.0, 1.0, 2.0][order]
    return np.linalg.solve(powers, wanted)


class Line(NamedTuple):
    """Derivatives of a function along one direction at each point.

    ``left`` and ``right`` are limits of value, first and second derivative, nan where unknown.
    ``singular`` tells where one is unknown although the function is defined on that side.
    """

    direction: tuple[float, ...]
    left: list[Any]
    right: list[Any]
    singular: list[Any]


def line(call: Callable[..., Any], at: Any, direction: tuple[float, ...]) -> Line:
    """The limits of a function from both sides of points."""
    left, right = (_limits(call, at, np.array(direction), side) for side in (-1, 1))
    unknown = [
        np.isnan(a) & left[3] | np.isnan(b) & right[3]
        for a, b in zip(left[:3], right[:3], strict=True)
    ]
    return Line(direction, left[:3], right[:3], list(np.logical_or.accumulate(unknown)))


def _limits(call: Callable[..., Any], at: Any, direction: Any, side: int) -> list[Any]:
    """Value, first and second derivative, and whether the function is defined on a side."""
    found, defined = [], np.ones(len(at), bool)
    for h in (_STEP, _STEP / 2):
        places = np.arange(1.0, _NODES + 1) * h * side
        moved = at[:, None, :] + places[None, :, None] * direction
        rows = np.where(direction == 0, at[:, None, :], moved)  # which keeps the sign of a zero
        values = evaluated(call, rows.reshape(-1, at.shape[-1])).reshape(rows.shape[:2])
        defined &= ~np.isnan(values).any(1)
        with np.errstate(invalid="ignore"):
            found.append([values @ _weights(order) / (h * side) ** order for order in range(3)])
    agreed = [
        np.where(np.abs(coarse - fine) <= _CLOSE / 4 * np.maximum(1.0, np.abs(fine)), fine, np.nan)
        for coarse, fine in zip(*found, strict=True)
    ]
    return [*agreed, defined]


def evaluated(call: Callable[..., Any], at: Any) -> Any:
    """Values at the rows of an array."""
    with np.errstate(all="ignore"):
        return np.asarray(bindax.vmap(call)(*jnp.asarray(at.T, dtype="float64")))


def by_rules(
    call: Callable[..., Any], at: Any, direction: tuple[float, ...]
) -> Iterator[tuple[str, Any, Any]]:
    """First and second derivatives along a direction, forward over forward and over reverse."""
    used = [i for i, v in enumerate(direction) if v]
    along = tuple(direction[i] for i in used)

    def at_point(mode: str, row: Any) -> Any:
        def moved(*xs: Any) -> Any:
            every = list(row)
            for i, x in zip(used, xs, strict=True):
                every[i] = x
            return call(*every)

        def slope(*xs: Any) -> Any:
            if mode == "forward":
                return bindax.jvp(moved, xs, along)[1]
            parts = bindax.grad(moved, argnums=tuple(range(len(xs))))(*xs)
            return sum(part * v for part, v in zip(parts, along, strict=True))

        return bindax.jvp(slope, tuple(row[i] for i in used), along)

    rows = jnp.asarray(at, dtype="float64")
    with np.errstate(all="ignore"):
        for mode in ("forward", "reverse"):
            first, second = bindax.vmap(lambda row, mode=mode: at_point(mode, row))(rows)
            yield mode, np.asarray(first), np.asarray(second)


def _close(a: Any, b: Any) -> Any:
    """Tell whether numbers agree; what is unknown does with everything."""
    agree = np.abs(a - b) <= _CLOSE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    return agree | np.isnan(a) | np.isnan(b)


def _between(got: Any, left: Any, right: Any) -> Any:
    """Tell whether numbers are between limits, or are the one that is known."""
    low, high = np.fmin(left, right), np.fmax(left, right)
    room = _CLOSE * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    return np.isnan(low) | ((got >= low - room) & (got <= high + room))


class Wrong(NamedTuple):
    """A derivative that is not as values say."""

    order: int
    mode: str
    point: tuple[float, ...]
    direction: tuple[float, ...]
    got: float
    left: float
    right: float

    def __str__(self) -> str:
        """A line for a person."""
        return (
            f"derivative {self.order} ({self.mode}) at {self.point} along {self.direction}: "
            f"{self.got:.6g}, by values {self.left:.6g} from the left, {self.right:.6g} from the "
            f"right"
        )


def lines_of(
    call: Callable[..., Any], arity: int, *, distribution: bool = False
) -> tuple[Any, Any, list[Line]]:
    """Points, values there, and limits along all directions."""
    at = points(arity, distribution=distribution)
    with np.errstate(all="ignore"):
        return at, evaluated(call, at), [line(call, at, v) for v in directions(arity)]


def wrong(call: Callable[..., Any], at: Any, here: Any, lines: list[Line]) -> Iterator[Wrong]:
    """Derivatives by rules that values contradict.

    Where a function has a kink, they must be between those of both sides along each axis. Second
    derivatives must be numbers there.
    """
    known = np.isfinite(here)
    slopes = [np.where(np.isnan(one.left[1]), one.right[1], one.left[1]) for one in lines]
    smooth, interior = known.copy(), known.copy()
    for one, slope in zip(lines, slopes, strict=True):
        smooth &= _close(one.left[0], here) & _close(one.right[0], here)
        smooth &= _close(one.left[1], one.right[1])
        interior &= ~np.isnan(one.left[1] + one.right[1])
        # A function with a derivative moves along other directions as along the axes.
        expected = sum(v * s for v, s in zip(one.direction, slopes, strict=False) if v)
        smooth &= _close(slope, expected)
    for number, one in enumerate(lines):
        jumps = ~_close(one.left[0], here) | ~_close(one.right[0], here)
        checked = known & ~jumps & (np.bool_(number < at.shape[1]) | (smooth & interior))
        flat = _close(one.left[1], one.right[1])
        for mode, first, second in by_rules(call, at, one.direction):
            fits = _between(first, one.left[1], one.right[1])
            yield from _listed(1, mode, checked & ~one.singular[1] & ~fits, at, one, first)
            fits = np.where(flat, _between(second, one.left[2], one.right[2]), np.isfinite(second))
            yield from _listed(2, mode, checked & ~one.singular[2] & ~fits, at, one, second)


def _listed(order: int, mode: str, which: Any, at: Any, one: Line, got: Any) -> Iterator[Wrong]:
    for i in np.flatnonzero(which):
        sides = float(one.left[order][i]), float(one.right[order][i])
        yield Wrong(order, mode, tuple(at[i].tolist()), one.direction, float(got[i]), *sides)
