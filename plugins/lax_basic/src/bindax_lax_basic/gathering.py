"""Selecting slices of an array by indices that are arrays or traced."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic._operands import constant
from bindax_lax_basic._types import axis_argument
from bindax_lax_basic.axes import broadcast_in_dim_p, reduce_sum_p
from bindax_lax_basic.comparison import eq_p
from bindax_lax_basic.creation import iota_p
from bindax_lax_basic.reductions import reduce_or_p
from bindax_lax_basic.selection import clamp, select_n_p


def take(x: Any, index: Any, axis: int) -> Any:
    """Slices of an array along an axis, at indices that need not be known while tracing.

    Args:
        x: an array.
        index: an array of integers; negative ones count from the end, and what is out of bounds
            is taken to the nearest end.
        axis: the axis, in the place of which the axes of ``index`` stand in the result.

    >>> import numpy as np
    >>> take(np.array([10.0, 20.0, 30.0]), np.array([2, 0]), 0)
    Array([30., 10.], dtype=float64)
    """
    shape, index_shape = typeof(x).shape, typeof(index).shape
    axis = axis_argument("take", axis, len(shape))
    size = shape[axis]
    if size == 0:
        raise IndexError(f"cannot take slices along axis {axis}, which is empty: shape {shape}.")
    index = _wrap(index, size)
    rank, n = len(shape) + len(index_shape), len(index_shape)
    # One axis more than the result: the one that is searched, behind the axes of the index.
    full = (*shape[:axis], *index_shape, *shape[axis:])
    index_axes = tuple(range(axis, axis + n))
    at = broadcast_in_dim_p.bind(index, shape=full, broadcast_dimensions=index_axes)
    places = iota_p.bind(dtype=typeof(index).dtype, shape=full, dimension=axis + n)
    kept = tuple([d for d in range(rank) if d not in index_axes])
    values = broadcast_in_dim_p.bind(x, shape=full, broadcast_dimensions=kept)
    zeros = broadcast_in_dim_p.bind(constant(0, x), shape=full, broadcast_dimensions=())
    chosen = select_n_p.bind(eq_p.bind(places, at), zeros, values)
    if typeof(x).dtype == dtypes.bool_:
        return reduce_or_p.bind(chosen, axes=(axis + n,))
    return reduce_sum_p.bind(chosen, axes=(axis + n,))


def _wrap(index: Any, size: int) -> Any:
    """Indices from the end made positive, and all brought within the bounds."""
    if dtypes.kind_of(typeof(index).dtype) == "signed integer":
        zero = constant(0, index)
        index = select_n_p.bind(index < zero, index, index + constant(size, index))
    return clamp(constant(0, index), index, constant(size - 1, index))
