"""Taking elements at positions along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import add_p
from bindax_lax_basic.elementwise.comparison import lt_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.remainder import rem_p
from bindax_lax_basic.elementwise.selection import select_scalars
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    GatherDimensionNumbers,
    GatherScatterMode,
)
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import gather
from bindax_lax_basic.rules.operands import constant
from bindax_lax_basic.rules.types import axes_argument, axis_argument, describe
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_in_dim_p
from bindax_lax_basic.shape.concatenate import concatenate

__all__ = ["index_take", "take"]


def take(x: Any, index: Any, axis: int) -> Any:
    """Slices of an array along an axis, at indices that need not be known while tracing.

    Args:
        x: an array.
        index: an array of integers; negative ones count from the end, and what is out of bounds
            is taken to the nearest end.
        axis: the axis, in the place of which the axes of ``index`` stand in the result.

    >>> take(np.array([10.0, 20.0, 30.0]), np.array([2, 0]), 0)
    Array([30., 10.], dtype=float64)
    """
    shape, index_shape = typeof(x).shape, typeof(index).shape
    axis = axis_argument("take", axis, len(shape))
    size, n = shape[axis], len(index_shape)
    if size == 0:
        raise IndexError(f"cannot take slices along axis {axis}, which is empty: shape {shape}.")
    index = wrap_index(index, size)
    vectors = broadcast_in_dim_p.bind(
        index, shape=(*index_shape, 1), broadcast_dimensions=tuple(range(n))
    )
    kept = (*range(axis), *range(axis + n, len(shape) + n - 1))
    numbers = GatherDimensionNumbers(kept, (axis,), (axis,))
    return gather(
        x, vectors, numbers, (*shape[:axis], 1, *shape[axis + 1 :]), mode=GatherScatterMode.CLIP
    )


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Array:
    """Slices of an array at several positions, each an index on some of the axes.

    Args:
        src: an array.
        idxs: for each of ``axes`` a vector of integers, all equally long. Indices count modulo the
            size of their axis.
        axes: the axes that are indexed; they are missing in the slices.

    Returns:
        The slices along a new leading axis.

    Raises:
        ValueError: when an index vector is missing or no vector of integers, or an indexed axis is
            empty.

    >>> index_take(np.arange(6).reshape(2, 3), [np.array([1, 0]), np.array([-1, 0])], (0, 1))
    Array([5, 0], dtype=int64)
    """
    shape = typeof(src).shape
    chosen = axes_argument("index_take", axes, len(shape))
    vectors = [typeof(index) for index in idxs]
    legal = all(v.ndim == 1 and dtypes.is_integer(v.dtype) for v in vectors)
    if len(vectors) != len(chosen) or not legal or not vectors:
        raise ValueError(
            f"index_take: idxs must be one vector of integers for each of the axes {chosen}, but "
            f"got {describe(vectors)}."
        )
    if any(shape[axis] == 0 for axis in chosen):
        raise ValueError(f"index_take: an axis of {chosen} is empty in the shape {shape}.")
    columns = [
        broadcast_in_dim_p.bind(
            _modulo(index, shape[axis]), shape=(*v.shape, 1), broadcast_dimensions=(0,)
        )
        for index, axis, v in zip(idxs, chosen, vectors, strict=True)
    ]
    kept = tuple(range(1, 1 + len(shape) - len(chosen)))
    sizes = tuple([1 if axis in chosen else size for axis, size in enumerate(shape)])
    numbers = GatherDimensionNumbers(kept, chosen, chosen)
    return gather(src, concatenate(columns, 1), numbers, sizes, mode=GatherScatterMode.CLIP)


def _modulo(index: Any, size: int) -> Any:
    """Indices with whole turns removed, from 0 to ``size - 1``; narrow ones in 32 bits."""
    index = widened(index)
    return wrap_index(rem_p.bind(index, constant(size, index)), size)


def widened(index: Any) -> Any:
    """Indices of less than 32 bits in 32 bits, so that any size can be added."""
    aval = typeof(index)
    narrow = aval.dtype.itemsize < 4
    return convert(index, np.dtype(np.int32), aval.weak_type) if narrow else index


def wrap_index(index: Any, size: int) -> Any:
    """Indices with those from the end made positive; narrow ones in 32 bits."""
    aval = typeof(index)
    index = widened(index)
    if dtypes.kind_of(aval.dtype) != "signed integer":
        return index
    shifted = add_p.bind(index, constant(size, index))
    return select_scalars(lt_p.bind(index, constant(0, index)), index, shifted)
