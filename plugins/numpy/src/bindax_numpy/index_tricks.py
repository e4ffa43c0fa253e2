"""Arrays and indices written with brackets: grids, joined rows and columns, and slices."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Array, is_value, typeof
from bindax_numpy._operands import array_operand
from bindax_numpy.creation import asarray
from bindax_numpy.joining import concatenate, stack
from bindax_numpy.ranges import arange, linspace, meshgrid
from bindax_numpy.reshaping import atleast_1d, expand_dims, moveaxis


def _numbers(name: str, given: slice) -> Any:
    """The numbers of a slice: a range, or for an imaginary step as many evenly spaced ones."""
    start = 0 if given.start is None else given.start
    step = given.step
    if given.stop is None:
        raise ValueError(f"{name}: a slice needs its end, but it is {given}.")
    if isinstance(step, complex):
        return linspace(start, given.stop, int(abs(step)))
    return arange(start, given.stop, step)


class _Grid:
    """The coordinates of grids, from a slice for each axis."""

    def __init__(self, name: str, sparse: bool) -> None:
        self._name, self._sparse = name, sparse

    def __repr__(self) -> str:
        return f"bindax.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _numbers(self._name, key)
        parts = [_numbers(self._name, part) for part in key]
        grids = meshgrid(*parts, sparse=self._sparse, indexing="ij") if parts else []
        if self._sparse:
            return grids
        return stack(grids) if grids else asarray([], int)


_MATRICES = ("r", "c")


class _Joined:
    """Arrays, numbers and ranges joined along an axis."""

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int) -> None:
        self._name, self._axis, self._ndmin, self._trans1d = name, axis, ndmin, trans1d

    def __repr__(self) -> str:
        return f"bindax.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Array:
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, trans1d = self._axis, self._ndmin, self._trans1d
        matrix = ""
        if parts and isinstance(parts[0], str):
            matrix = parts[0] if parts[0] in _MATRICES else ""
            if not matrix:
                axis, ndmin, trans1d = self._directive(parts[0])
            parts = parts[1:]
        if not parts:
            raise ValueError(f"{self._name}: there is nothing between the brackets to join.")
        joined = concatenate([self._part(part, ndmin, trans1d) for part in parts], axis)
        if not matrix or typeof(joined).ndim > 1:
            return joined
        return joined[None, :] if matrix == "r" else joined[:, None]

    def _directive(self, text: str) -> tuple[int, int, int]:
        """Up to three integers: the axis, the least number of axes, and where a vector's goes."""
        try:
            numbers = [int(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ValueError(
                f"{self._name}: the first entry may be up to three integers such as '0,2,-1', "
                f"or 'r' or 'c' for a matrix of one row or column, but it is {text!r}."
            )
        given = (*numbers, *(self._axis, self._ndmin, self._trans1d)[len(numbers) :])
        return given[0], given[1], given[2]

    def _part(self, part: Any, ndmin: int, trans1d: int) -> Any:
        if isinstance(part, slice):
            x = _numbers(self._name, part)
        else:
            x = array_operand(self._name, part if is_value(part) else asarray(part))
        own = typeof(x).ndim
        x = atleast_1d(x)
        missing = ndmin - typeof(x).ndim
        if missing <= 0:
            return x
        ndim = max(own, 1)
        x = expand_dims(x, tuple(range(missing)))
        # The axes that were there go to `trans1d` of the new ones, counted as NumPy does.
        start = trans1d if trans1d >= 0 else trans1d + ndmin - ndim + 1
        return moveaxis(x, tuple(range(missing, ndmin)), tuple(range(start, start + ndim)))


class _IndexExpression:
    """An object whose brackets return their contents as a value."""

    def __init__(self, name: str, always_tuple: bool) -> None:
        self._name, self._always_tuple = name, always_tuple

    def __repr__(self) -> str:
        return f"bindax.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._always_tuple and not isinstance(key, tuple) else key


mgrid = _Grid("mgrid", sparse=False)
"""The coordinates of all points of a grid: ``mgrid[0:2, 0:3]`` has the shape (2, 2, 3)."""
ogrid = _Grid("ogrid", sparse=True)
"""The coordinates along each axis of a grid, of size 1 along the other axes."""
r_ = _Joined("r_", 0, 1, -1)
"""Arrays, numbers and ranges joined along the first axis: ``r_[1:4, 0, [7, 8]]``."""
c_ = _Joined("c_", -1, 2, 0)
"""Vectors joined as columns: ``c_[x, y]``."""
s_ = _IndexExpression("s_", always_tuple=False)
"""An index as a value: ``s_[::2, 1]``."""
index_exp = _IndexExpression("index_exp", always_tuple=True)
"""An index as a value, always a tuple."""
