"""Masks of attention."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array, is_value
from bindax_nnx.layers._common import array_of


def combine_masks(*masks: Any, dtype: Any = np.float32) -> Array | None:
    """Combine masks: attention is allowed where all of them allow it; None is no mask.

    >>> import numpy as np
    >>> combine_masks(np.array([True, True]), None, np.array([True, False])).tolist()
    [1.0, 0.0]
    """
    given = [array_of(mask) for mask in masks if mask is not None]
    if not given:
        return None
    for mask in given:
        if not is_value(mask):
            raise TypeError(f"combine_masks: masks must be arrays or None, but got {mask!r:.60}.")
    combined = reduce(jnp.logical_and, [jnp.not_equal(mask, 0) for mask in given])
    return combined if dtype is None else combined.astype(dtype)


def make_attention_mask(
    query_input: Any,
    key_input: Any,
    pairwise_fn: Callable[[Any, Any], Any] = lambda x, y: x * y,
    extra_batch_dims: int = 0,
    dtype: Any = np.float32,
) -> Array:
    """The mask ``(..., 1, queries, keys)`` of a function of a query's and a key's number.

    Args:
        query_input: of the shape ``(..., queries)``.
        key_input: of the shape ``(..., keys)``.
        pairwise_fn: whether a query attends to a key, from what was given for them.
        extra_batch_dims: how many axes of size one are put in front.
        dtype: of the mask.

    >>> import numpy as np
    >>> make_attention_mask(np.ones((2, 3)), np.ones((2, 5))).shape
    (2, 1, 3, 5)
    """
    query, key = jnp.asarray(query_input), jnp.asarray(key_input)
    mask = pairwise_fn(jnp.expand_dims(query, -1), jnp.expand_dims(key, -2))
    mask = jnp.expand_dims(mask, -3)
    return jnp.expand_dims(mask, tuple(range(extra_batch_dims))).astype(dtype)


def make_causal_mask(x: Any, extra_batch_dims: int = 0, dtype: Any = np.float32) -> Array:
    """The mask with which each position attends to itself and those before it.

    Args:
        x: of the shape ``(..., positions)``.
        extra_batch_dims: how many axes of size one are put in front.
        dtype: of the mask.

    >>> import numpy as np
    >>> make_causal_mask(np.ones((1, 2)))
    Array([[[[1., 0.],
             [1., 1.]]]], dtype=float32)
    """
    shape = jnp.asarray(x).shape
    positions = jnp.broadcast_to(jnp.arange(shape[-1]), shape)
    return make_attention_mask(positions, positions, lambda q, k: q >= k, extra_batch_dims, dtype)
