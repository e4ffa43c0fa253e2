"""Inputs that errors are measured at: all magnitudes, and what lies beside points of interest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Values = np.ndarray[Any, Any]
SEED = 20
RANDOM = {1: 1000, 2: 250, 3: 250, 4: 250}
"""Numbers of random points for each part of the inputs, by the number of operands."""


class Axis(NamedTuple):
    """Where one operand of a function is measured.

    ``points`` are the zeros, poles, branch points and joints beside which there are more inputs,
    and ``span`` is the size of numbers that are evenly distributed.
    """

    low: float = -math.inf
    high: float = math.inf
    points: tuple[float, ...] = ()
    span: float = 30.0
    whole: bool = False


def inputs(axes: Sequence[Axis], dtype: np.dtype[Any], name: str) -> list[Values]:
    """The operands of a function: rows of one array each."""
    rng = np.random.default_rng([SEED, *name.encode()])
    count = RANDOM[len(axes)]
    columns = [_random(axis, dtype, rng, count) for axis in axes]
    if len(axes) == 1:
        columns = [np.concatenate([columns[0], _near(axes[0], dtype)])]
    else:
        grid = np.array(list(itertools.product(*(_few(axis, len(axes)) for axis in axes))))
        related = _related(columns, axes, rng)
        columns = [
            np.concatenate([column, grid[:, i], related[i]]) for i, column in enumerate(columns)
        ]
    with np.errstate(over="ignore"):
        return _inside(axes, [column.astype(dtype) for column in columns])


def _inside(axes: Sequence[Axis], columns: list[Values]) -> list[Values]:
    kept = np.ones(len(columns[0]), bool)
    for axis, column in zip(axes, columns, strict=True):
        kept &= (column >= axis.low) & (column <= axis.high) & np.isfinite(column)
    return [column[kept] for column in columns]


def _random(axis: Axis, dtype: np.dtype[Any], rng: np.random.Generator, count: int) -> Values:
    """Logarithms over all of the range, logarithms in the middle of it, and even numbers."""
    info = np.finfo(dtype)
    most = min(max(abs(axis.low), abs(axis.high)), float(info.max) / 2)
    least = float(info.smallest_subnormal)
    low, high = max(axis.low, -axis.span), min(axis.high, axis.span)
    with np.errstate(all="ignore"):
        wide = 2 ** rng.uniform(math.log2(least), math.log2(most), count)
    middle = 2 ** rng.uniform(-12, min(12, math.log2(most)), count)
    sizes = np.concatenate([wide, middle])
    if axis.low >= 0:
        signs: Any = 1.0
    elif axis.high <= 0:
        signs = -1.0
    else:
        signs = rng.choice([-1.0, 1.0], len(sizes))
    with np.errstate(over="ignore"):
        sizes = sizes * signs + max(axis.low, 0.0)
    out = np.concatenate([sizes, rng.uniform(low, high, count)])
    return rng.permutation(np.round(out) if axis.whole else out)


def _near(axis: Axis, dtype: np.dtype[Any]) -> Values:
    """Numbers at distances of powers of 2 from points, and the neighbours of them."""
    info = np.finfo(dtype)
    distances = 2.0 ** -np.arange(0, info.nmant + 1)
    found = [np.array([0.0, info.max, -info.max, info.tiny, -info.tiny])]
    for point in axis.points or (0.0, 1.0, -1.0):
        size = abs(point) or 1.0
        found += [point + size * distances, point - size * distances, np.array([point])]
    return np.concatenate(found)


def _few(axis: Axis, count: int) -> list[float]:
    """Numbers of a grid."""
    sizes = {
        2: (1e-30, 1e-8, 1e-3, 0.1, 0.5, 0.9, 1, 1.1, 1.5, 2, 3, 5, 8, 10, 20, 40, 100, 200, 1e3),
        3: (1e-8, 1e-2, 0.5, 1, 2.5, 8, 40, 300),
        4: (0.1, 0.5, 1, 2.5, 7),
    }[count]
    every = {float(s) for size in sizes for s in (size, -size)} | set(axis.points)
    if axis.whole:
        every = {float(round(x)) for x in every}
    return sorted(x for x in every if axis.low <= x <= axis.high)


def _related(columns: list[Values], axes: Sequence[Axis], rng: np.random.Generator) -> list[Values]:
    """The last operand near the first one, where functions of several operands change the most."""
    out = [column.copy() for column in columns]
    if not axes[-1].whole and not axes[0].whole:
        exponents = rng.uniform(-20, 0, len(columns[0]))
        out[-1] = out[0] * (1 + rng.choice([-1, 1], len(out[0])) * 2**exponents)
    return out
