"""Domains: the values that operands may have."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from bindax_core.extend import is_differentiable

Shape = tuple[int, ...]
NumPyArray = np.ndarray[Any, Any]


@attrs.frozen
class Domain:
    """The values that an operand may have.

    Attributes:
        low: the least one.
        high: the greatest one; for integers, the last one that is drawn.
        avoid: points that floating-point values keep away from, such as kinks and poles.
        margin: how far away.

    >>> rng = np.random.default_rng(0)
    >>> domain = Domain(0.0, 1.0, avoid=(0.5,))
    >>> bool((domain.draw(rng, (100,), np.dtype("float32")) >= 0.0).all())
    True
    >>> isinstance(REAL, Domain), isinstance(NONZERO, Domain), isinstance(UNIT_INTERVAL, Domain)
    (True, True, True)
    """

    low: float = -2.0
    high: float = 2.0
    avoid: tuple[float, ...] = ()
    margin: float = 0.1

    def draw(self, rng: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> NumPyArray:
        """Values of a shape and dtype; floating-point ones are distinct."""
        if dtype == np.bool_:
            return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
        if not is_differentiable(dtype):
            low = max(0, round(self.low)) if dtype.kind == "u" else round(self.low)
            drawn = rng.integers(low, max(low, round(self.high)) + 1, shape)
            return np.asarray(drawn).astype(dtype)
        real = self._grid(rng, shape)
        if dtype.kind == "c":
            return np.asarray(real + 1j * self._grid(rng, shape)).astype(dtype)
        return real.astype(dtype)

    def contains(self, x: Any) -> bool:
        """Tell whether all elements of an operand are values of the domain."""
        values = np.asarray(x)
        if not is_differentiable(values.dtype) or values.dtype.kind == "b":
            return True
        parts = [values.real, values.imag] if values.dtype.kind == "c" else [values]
        return all(self._contains(np.asarray(part, np.float64)) for part in parts)

    def _contains(self, x: NumPyArray) -> bool:
        inside = (x >= self.low) & (x <= self.high)
        for point in self.avoid:
            inside &= np.abs(x - point) >= 0.99 * self.margin
        return bool(np.all(inside))

    def _grid(self, rng: np.random.Generator, shape: Shape) -> NumPyArray:
        """Distinct values, one in each of as many cells of the interval, in random order."""
        count = int(np.prod(shape))
        places = (rng.permutation(count) + 0.25 + 0.5 * rng.random(count)) / max(count, 1)
        values = self.low + (self.high - self.low) * places
        for point in self.avoid:
            near = np.abs(values - point) < self.margin
            away = point + self.margin * (1.0 + 0.5 * rng.random(count))
            values = np.where(near, away, values)
        return np.asarray(values.reshape(shape))


REAL = Domain()
POSITIVE = Domain(0.2, 3.0)
UNIT_INTERVAL = Domain(0.05, 0.95)
NONZERO = Domain(avoid=(0.0,), margin=0.2)


def anything(rng: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> NumPyArray:
    """Integers from the whole range of a dtype; real values otherwise."""
    if dtype.kind not in "iu":
        return REAL.draw(rng, shape, dtype)
    ends = np.iinfo(dtype)
    return rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)


def between(low: float, high: float) -> Domain:
    """Values of an interval; for integers, both ends included.

    >>> from bindax_testing import array
    >>> array((2,), domain=between(0.0, 1.0)).domain.high
    1.0
    """
    return Domain(low, high)


def away_from(*points: float, margin: float = 0.1, low: float = -2.0, high: float = 2.0) -> Domain:
    """Values of an interval that keep away from kinks or poles.

    >>> from bindax_testing import array
    >>> array((3,), domain=away_from(0.0, margin=0.2)).aval
    ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    return Domain(low, high, points, margin)
