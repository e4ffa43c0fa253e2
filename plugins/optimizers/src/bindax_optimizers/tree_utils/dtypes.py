"""Dtypes of trees of arrays."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import (
    canonicalize_dtype,
    dtype_name,
    tree_flatten_with_path,
    tree_leaves,
    tree_map,
    typeof,
)
from bindax_core.tree_util import keystr
from bindax_optimizers.transformation import map_present


def tree_cast(tree: Any, dtype: Any) -> Any:
    """The arrays of a tree with another dtype; None leaves them as they are.

    >>> import numpy as np
    >>> tree_cast({"w": np.ones(2)}, "float32")["w"].dtype
    dtype('float32')
    """
    if dtype is None:
        return tree
    dtype = canonicalize_dtype(np.dtype(dtype))
    return tree_map(lambda x: jnp.asarray(x).astype(dtype), tree)


def tree_cast_like(tree: Any, other_tree: Any) -> Any:
    """The arrays of a tree with the dtypes of another one.

    >>> import numpy as np
    >>> tree_cast_like({"w": np.ones(2)}, {"w": np.float32(0)})["w"].dtype
    dtype('float32')
    """

    def cast(x: Any, other: Any) -> Any:
        dtype = getattr(other, "dtype", None)
        is_cast = dtype is not None and getattr(x, "dtype", None) != dtype
        return jnp.asarray(x).astype(dtype) if is_cast else x

    return map_present(cast, tree, other_tree)


def tree_dtype(tree: Any, mixed_dtype_handler: str | None = None) -> Any:
    """The dtype of the arrays of a tree.

    Args:
        tree: a tree of arrays.
        mixed_dtype_handler: what to return for several dtypes: ``"promote"`` the one that all
            are promoted to, ``"highest"`` and ``"lowest"`` the last and first of them in the order
            of promotion.

    Raises:
        ValueError: the dtypes differ and no handler is given, or two of them are in no order.

    >>> import numpy as np
    >>> tree_dtype({"w": np.ones(2, np.float32), "b": np.ones(2, np.float16)}, "lowest")
    dtype('float16')
    """
    handlers = {"promote": jnp.promote_types, "highest": _higher, "lowest": _lower}
    if mixed_dtype_handler is not None and mixed_dtype_handler not in handlers:
        raise ValueError(
            f"tree_dtype: mixed_dtype_handler must be None or one of {sorted(handlers)}, but is "
            f"{mixed_dtype_handler!r}."
        )
    dtypes = [typeof(x).dtype for x in tree_leaves(tree)]
    if not dtypes:
        return jnp.asarray([]).dtype
    if mixed_dtype_handler is not None:
        return functools.reduce(handlers[mixed_dtype_handler], dtypes)
    for path, x in tree_flatten_with_path(tree)[0]:
        if typeof(x).dtype != dtypes[0]:
            raise ValueError(
                f"tree_dtype: the first array is {dtype_name(dtypes[0])}, but that at "
                f"{keystr(path)} {dtype_name(typeof(x).dtype)}; pass a mixed_dtype_handler."
            )
    return dtypes[0]


def _higher(a: Any, b: Any) -> Any:
    higher = jnp.promote_types(a, b)
    if higher not in (a, b):
        raise ValueError(
            f"tree_dtype: neither of {dtype_name(a)} and {dtype_name(b)} is promoted to the "
            f"other; use mixed_dtype_handler='promote'."
        )
    return higher


def _lower(a: Any, b: Any) -> Any:
    return b if _higher(a, b) == a else a
