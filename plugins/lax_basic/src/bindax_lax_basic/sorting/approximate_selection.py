"""The largest or smallest elements where some may be missed: here none are."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Array, typeof
from bindax_lax_basic.dtypes import FLOAT
from bindax_lax_basic.elementwise.arithmetic import neg_p
from bindax_lax_basic.rules.types import axis_argument, require_kind, static_int
from bindax_lax_basic.sorting.top_k import top_k

__all__ = ["approx_max_k", "approx_min_k"]


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The ``k`` largest elements along an axis, and where they are.

    Other accelerators may miss some of them to be faster; here it is ``top_k``, which misses none,
    and what is said about the search is checked and not needed.

    Args:
        operand: an array of real floats.
        k: how many; from 1 to the size of the axis.
        reduction_dimension: the axis.
        recall_target: the part that must be found, above 0 and at most 1.
        reduction_input_size_override: the number of elements that ``recall_target`` is about,
            where it is not the size of the axis.
        aggregate_to_topk: whether there are ``k`` results, in order, and no more.

    Returns:
        The elements and their int32 indices, the largest first.

    Raises:
        ValueError: when ``k`` or ``recall_target`` is out of range, or the axis out of bounds.
        TypeError: when ``operand`` is not made of real floats.

    >>> import numpy as np
    >>> approx_max_k(np.array([1.0, 4.0, 2.0]), 2)
    (Array([4., 2.], dtype=float64), Array([1, 2], dtype=int32))
    """
    return _extremes("approx_max_k", operand, k, reduction_dimension, recall_target)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The ``k`` smallest elements along an axis, and where they are; see ``approx_max_k``.

    >>> import numpy as np
    >>> approx_min_k(np.array([1.0, 4.0, 2.0]), 2)
    (Array([1., 2.], dtype=float64), Array([0, 2], dtype=int32))
    """
    require_kind("approx_min_k", typeof(operand), FLOAT)
    negated = neg_p.bind(operand)
    values, indices = _extremes("approx_min_k", negated, k, reduction_dimension, recall_target)
    return neg_p.bind(values), indices


def _extremes(name: str, x: Any, k: Any, axis: Any, recall: Any) -> tuple[Array, Array]:
    aval = typeof(x)
    require_kind(name, aval, FLOAT)
    place = axis_argument(name, axis, aval.ndim, "reduction_dimension")
    count = static_int(name, "k", k)
    if not 0 < count <= aval.shape[place]:
        raise ValueError(
            f"{name}: k must be between 1 and {aval.shape[place]}, the size of axis {place} of "
            f"{aval.str_short()}, but it is {count}."
        )
    if not isinstance(recall, (int, float)) or not 0 < recall <= 1:
        raise ValueError(f"{name}: recall_target must be above 0 and at most 1, but is {recall!r}.")
    return top_k(x, count, axis=place)
