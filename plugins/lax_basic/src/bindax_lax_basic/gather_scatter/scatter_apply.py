"""Applying a function to elements of an array: they are read, computed and written back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import Array, describe_function, typeof
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import gather
from bindax_lax_basic.gather_scatter.scatter import scatter
from bindax_lax_basic.gather_scatter.windows import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    numbers_argument,
    update_sizes,
)
from bindax_lax_basic.rules.types import shape_argument

__all__ = ["scatter_apply"]


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """Apply a function to the elements of windows of an array.

    Args:
        operand: the array, which is not changed.
        scatter_indices: as for ``scatter_add``.
        func: takes an array of elements and returns one of the same type, elementwise.
        dimension_numbers: as for ``scatter_add``.
        update_shape: the shape that the updates of ``scatter_add`` would have.
        indices_are_sorted: as for ``scatter_add``.
        unique_indices: likewise.
        mode: likewise.

    Raises:
        TypeError: when ``func`` returns another type.
        ValueError: when the windows do not have ``update_shape``.

    An element that several windows contain is computed once. (JAX applies the function again for
    each of them.)

    >>> import numpy as np
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> where = np.array([[2], [0]])
    >>> scatter_apply(np.ones(3), where, lambda x: 2.0 * x, numbers, update_shape=(2,))
    Array([2., 1., 2.], dtype=float64)
    """
    name = "scatter_apply"
    numbers = numbers_argument(name, ScatterDimensionNumbers, dimension_numbers)
    shape = shape_argument(name, update_shape)
    sizes = update_sizes(typeof(operand).ndim, shape, numbers)
    promises = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    old = gather(operand, scatter_indices, numbers.as_gather(), sizes, mode="clip", **promises)
    if typeof(old).shape != shape:
        raise ValueError(
            f"{name}: scatter_indices of the shape {typeof(scatter_indices).shape} choose windows "
            f"of the shape {typeof(old).shape}, but update_shape is {shape}."
        )
    new = func(old)
    taken, returned = typeof(old).strip_weak_type(), typeof(new).strip_weak_type()
    if taken != returned:
        raise TypeError(
            f"{name}: the function must return the type that it takes, {taken.str_short()}, but "
            f"{describe_function(func)} returns {returned.str_short()}."
        )
    mode = GatherScatterMode.from_any(mode)
    return scatter(operand, scatter_indices, new, numbers, mode=mode, **promises)
