"""Values between the points of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_core.tree_util import register_pytree_node
from bindax_scipy._operands import one_dtype

__all__ = ["RegularGridInterpolator"]

_METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """The values of a function that is known on a grid, between its points.

    Args:
        points: the coordinates of the grid, a growing vector for each axis.
        values: the values, with one axis for each vector first.
        method: ``"linear"`` or ``"nearest"``.
        bounds_error: must be False, as programs cannot raise errors about values.
        fill_value: the value outside of the grid; None to extrapolate.

    Raises:
        ValueError: for another method, or when the sizes do not fit together.

    >>> f = interpolate.RegularGridInterpolator((jnp.array([0.0, 1.0]),), jnp.array([1.0, 3.0]))
    >>> f(jnp.array([0.5, 2.0]))
    Array([ 2., nan], dtype=float32)
    """

    values: Array
    method: str
    bounds_error: bool

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        _check_method(method)
        if bounds_error:
            raise ValueError(
                "RegularGridInterpolator: bounds_error must be False, as a program cannot raise an "
                "error about values; give a fill_value."
            )
        (self.values,) = one_dtype("RegularGridInterpolator", values)
        self.grid: tuple[Array, ...] = tuple(jnp.asarray(p) for p in points)
        shapes = [p.shape for p in self.grid]
        if shapes != [(n,) for n in self.values.shape[: len(shapes)]]:
            raise ValueError(
                f"RegularGridInterpolator: points must be a vector for each of the first axes of "
                f"values, but their shapes are {shapes}, and that of values {self.values.shape}."
            )
        self.method, self.bounds_error = method, False
        self.fill_value: Array | None = None if fill_value is None else jnp.asarray(fill_value)

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The values at points.

        Args:
            xi: points, with their coordinates along the last axis, or as a tuple of arrays.
            method: another method than that of this object.
        """
        chosen = self.method if method is None else method
        _check_method(chosen)
        rank = len(self.grid)
        if isinstance(xi, tuple):
            xi = jnp.stack(jnp.broadcast_arrays(*xi), axis=-1)
        xi = jnp.asarray(xi)
        if xi.ndim == 1:
            xi = jnp.reshape(xi, (-1, rank))
        if xi.shape[-1] != rank:
            raise ValueError(
                f"RegularGridInterpolator: xi must have {rank} coordinates along its last axis, "
                f"but its shape is {xi.shape}."
            )
        cells, places, outside = [], [], jnp.zeros(xi.shape[:-1], bool)
        for axis, grid in enumerate(self.grid):
            x = xi[..., axis]
            i = jnp.clip(jnp.searchsorted(grid, x) - 1, 0, grid.shape[0] - 2)
            cells.append(i)
            places.append((x - grid[i]) / (grid[i + 1] - grid[i]))
            outside = outside | (x < grid[0]) | (x > grid[-1])
        extra = (None,) * (self.values.ndim - rank)
        if chosen == "nearest":
            near = [jnp.where(p <= 0.5, i, i + 1) for i, p in zip(cells, places, strict=True)]
            result = self.values[tuple(near)]
        else:
            result = self._linear(cells, places, extra)
        if self.fill_value is None:
            return result
        return jnp.where(outside[(..., *extra)], self.fill_value, result)

    def _linear(self, cells: list[Any], places: list[Any], extra: tuple[None, ...]) -> Any:
        total: Any = 0.0
        for corner in itertools.product((0, 1), repeat=len(cells)):
            weight: Any = 1.0
            for side, place in zip(corner, places, strict=True):
                weight = weight * (place if side else 1 - place)
            index = tuple(i + side for i, side in zip(cells, corner, strict=True))
            total = total + self.values[index] * weight[(..., *extra)]
        return total


def _check_method(method: str) -> None:
    if method not in _METHODS:
        raise ValueError(
            f"RegularGridInterpolator: method must be one of {_METHODS}, but it is {method!r:.60}."
        )


def _rebuilt(aux: Any, children: Any) -> RegularGridInterpolator:
    out = object.__new__(RegularGridInterpolator)
    out.grid, out.values, out.fill_value = children
    out.method, out.bounds_error = aux
    return out


register_pytree_node(
    RegularGridInterpolator,
    lambda x: ((x.grid, x.values, x.fill_value), (x.method, x.bounds_error)),
    _rebuilt,
)
