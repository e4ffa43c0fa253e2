"""Reductions of the rows of an array that share a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Array, typeof
from bindax_core.sharding import as_open_sum
from bindax_lax_basic.extend import is_integer, largest, real_dtype, smallest
from bindax_numpy.comparison import where
from bindax_numpy.creation import asarray, full
from bindax_numpy.reshaping import broadcast_to
from bindax_transforms.extend import decided


def _reduced(
    name: str,
    data: Any,
    segment_ids: Any,
    num_segments: int | None,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
) -> Any:
    method, neutral = _METHODS[name]
    data, ids = asarray(data), asarray(segment_ids)
    if not data.shape:  # one number for all rows
        data = broadcast_to(data, ids.shape)
    if not is_integer(typeof(ids).dtype) or data.shape[:1] != ids.shape:
        raise ValueError(
            f"{name}: segment_ids must be integers, one for each row of data, but data is "
            f"{typeof(data).str_short()} and segment_ids {typeof(ids).str_short()}."
        )
    if num_segments is None:
        # As many as the largest number says, which has to be known.
        count = int(np.max(np.asarray(segment_ids), initial=-1)) + 1
    else:
        count = operator.index(num_segments)
    if count < 0:
        raise ValueError(f"{name}: num_segments must not be negative, but it is {count}.")
    out = full((count, *data.shape[1:]), neutral(typeof(data).dtype), typeof(data).dtype)
    out = as_open_sum(out) if method == "add" else out
    # Numbers below 0 do not count, as those that are too large.
    index = where(ids < 0, count, ids)
    return getattr(out.at[index], method)(
        data, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode
    )


_METHODS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "segment_sum": ("add", lambda dtype: 0),
    "segment_prod": ("multiply", lambda dtype: 1),
    "segment_max": ("max", lambda dtype: smallest(real_dtype(dtype))),
    "segment_min": ("min", lambda dtype: largest(real_dtype(dtype))),
}
"""The method of ``x.at`` that reduces, and what it starts from."""


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The sum of the rows of each number.

    Args:
        data: an array.
        segment_ids: a number for each row; those out of range do not count.
        num_segments: how many numbers there are; by default one more than the largest, which has
            to be known before the program runs.
        indices_are_sorted: the numbers do not fall.
        unique_indices: no number comes twice.
        bucket_size: not used.
        mode: what is done with numbers out of range, as for ``x.at``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the numbers are not integers, or not as many as rows.

    >>> from bindax_numpy.segments import segment_sum
    >>> segment_sum(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 0, 1]))
    Array([3., 3.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            segment_sum,
            out_sharding,
            (
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
        )
    return _reduced(
        "segment_sum", data, segment_ids, num_segments, indices_are_sorted, unique_indices, mode
    )


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The product of the rows of each number; arguments as for ``segment_sum``.

    >>> from bindax_numpy.segments import segment_prod
    >>> segment_prod(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 0, 1]))
    Array([2., 3.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            segment_prod,
            out_sharding,
            (
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
        )
    return _reduced(
        "segment_prod", data, segment_ids, num_segments, indices_are_sorted, unique_indices, mode
    )


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The largest element of the rows of each number; arguments as for ``segment_sum``.

    >>> from bindax_numpy.segments import segment_max
    >>> segment_max(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 0, 1]))
    Array([2., 3.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            segment_max,
            out_sharding,
            (
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
        )
    return _reduced(
        "segment_max", data, segment_ids, num_segments, indices_are_sorted, unique_indices, mode
    )


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The smallest element of the rows of each number; arguments as for ``segment_sum``.

    >>> from bindax_numpy.segments import segment_min
    >>> segment_min(jnp.array([1.0, 2.0, 3.0]), jnp.array([0, 0, 1]))
    Array([1., 3.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            segment_min,
            out_sharding,
            (
                data,
                segment_ids,
                num_segments,
                indices_are_sorted,
                unique_indices,
                bucket_size,
                mode,
            ),
        )
    return _reduced(
        "segment_min", data, segment_ids, num_segments, indices_are_sorted, unique_indices, mode
    )
