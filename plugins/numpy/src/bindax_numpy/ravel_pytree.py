"""Nested containers of arrays as one vector."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Array, tree_flatten, tree_unflatten, typeof
from bindax_lax_basic import convert_element_type
from bindax_numpy.arithmetic import real
from bindax_numpy.concatenate import concatenate, split
from bindax_numpy.conversion import iscomplexobj
from bindax_numpy.creation import asarray, zeros
from bindax_numpy.dtypes import result_type
from bindax_numpy.reshaping import ravel, reshape


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Any], Any]]:
    """Nested containers of arrays as one vector, and the function that makes them again.

    Args:
        pytree: containers of arrays and scalars.

    Returns:
        A vector of the dtype to which the leaves promote, and a function of vectors of its size.
        Where leaves have several dtypes, it takes vectors of that dtype and gives them their own.

    Raises:
        ValueError: by the function, for a vector of another shape.
        TypeError: by the function, for a vector of another dtype where there are several.

    >>> from bindax_numpy.ravel_pytree import ravel_pytree
    >>> flat, unravel = ravel_pytree({"a": jnp.ones(2), "b": 3.0})
    >>> flat
    Array([1., 1., 3.], dtype=float32)
    >>> unravel(flat * 2)
    {'a': Array([2., 2.], dtype=float32), 'b': Array(6., dtype=float32)}
    """
    leaves, tree = tree_flatten(pytree)
    arrays = [asarray(x) for x in leaves]
    shapes = [typeof(x).shape for x in arrays]
    dtypes = [typeof(x).dtype for x in arrays]
    wide = result_type(*dtypes) if arrays else np.dtype(np.float32)
    parts = [convert_element_type(ravel(x), wide) for x in arrays]
    flat = concatenate(parts) if parts else zeros(0)
    sizes = [math.prod(shape) for shape in shapes]
    ends = list(itertools.accumulate(sizes))

    def unravel(vector: Any) -> Any:
        aval = typeof(vector)
        if aval.shape != (sum(sizes),):
            raise ValueError(
                f"unravel: the vector must have shape {(sum(sizes),)}, as ravel_pytree made it, "
                f"but it has {aval.shape}."
            )
        if aval.dtype != wide and len(set(dtypes)) > 1:
            raise TypeError(
                f"unravel: the vector must have dtype {wide}, as ravel_pytree made it, but it has "
                f"{aval.dtype}."
            )
        if not ends:
            return tree_unflatten(tree, [])
        chunks = split(vector, ends[:-1])
        if len(set(dtypes)) > 1:
            chunks = [_restored(x, dtype) for x, dtype in zip(chunks, dtypes, strict=True)]
        parts = [reshape(x, shape) for x, shape in zip(chunks, shapes, strict=True)]
        return tree_unflatten(tree, parts)

    return flat, unravel


def _restored(x: Any, dtype: Any) -> Any:
    if iscomplexobj(x) and np.dtype(dtype).kind != "c":
        x = real(x)
    return convert_element_type(x, dtype)
