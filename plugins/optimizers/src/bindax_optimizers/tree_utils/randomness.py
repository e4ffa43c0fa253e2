"""Random trees of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import (
    Array,
    Tracer,
    is_extended,
    tree_map,
    tree_structure,
    tree_unflatten,
    typeof,
)
from bindax_random import key_data, normal, split


def tree_split_key_like(rng_key: Any, target_tree: Any) -> Any:
    """A tree of keys, one for each array of another tree.

    >>> from bindax.random import key
    >>> sorted(tree_split_key_like(key(0), {"w": 1.0, "b": 2.0}))
    ['b', 'w']
    """
    structure = tree_structure(target_tree)
    return tree_unflatten(structure, list(split(rng_key, structure.num_leaves)))


def tree_random_like(
    rng_key: Any, target_tree: Any, sampler: Callable[..., Any] = normal, dtype: Any = None
) -> Any:
    """A tree of random arrays, with the shapes of another one.

    Args:
        rng_key: a key of ``bindax.random``.
        target_tree: a tree of arrays.
        sampler: from a key, a shape and a dtype to an array.
        dtype: the dtype of the arrays; by default those of the tree.

    >>> import numpy as np
    >>> from bindax.random import key
    >>> tree_random_like(key(0), {"w": np.ones((2, 3), np.float32)})["w"].shape
    (2, 3)
    """
    keys = tree_split_key_like(rng_key, target_tree)
    return tree_map(
        lambda x, key: sampler(key, typeof(x).shape, dtype or typeof(x).dtype), target_tree, keys
    )


def is_key(x: Any) -> bool:
    """Tell whether a value is an array of keys of ``bindax.random``."""
    return isinstance(x, Array | Tracer) and is_extended(x.dtype)


def tree_unwrap_random_key_data(input_tree: Any) -> Any:
    """The bits of the keys in a tree; what is no key stays.

    >>> from bindax.random import key
    >>> tree_unwrap_random_key_data({"key": key(0)})["key"].dtype
    dtype('uint32')
    """
    return tree_map(lambda x: key_data(x) if is_key(x) else x, input_tree)
