"""Sparse arrays from others and back."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import Array, api_boundary
from bindax_experimental.sparse.bcoo import BCOO, columns, per_batch, require_bcoo
from bindax_lax_basic.extend import static_int


@api_boundary
def bcoo_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCOO:
    """A sparse array with the elements of an array that are not zero.

    Args:
        mat: an array.
        nse: how many entries are stored for each batch; needed while ``mat`` is traced. Elements
            beyond are dropped.
        n_batch: how many leading axes are batch axes.
        n_dense: how many last axes are dense.
        index_dtype: the integer dtype of positions.

    Raises:
        ConcretizationTypeError: when ``mat`` is traced and ``nse`` is not given.
        ValueError: when there are fewer axes than batch and dense ones.

    >>> bcoo_fromdense(jnp.eye(3), n_dense=1)
    BCOO(float32[3, 3], nse=3, n_dense=1)
    """
    mat = jnp.asarray(mat)
    n_batch = static_int("bcoo_fromdense", "n_batch", n_batch)
    n_dense = static_int("bcoo_fromdense", "n_dense", n_dense)
    n_sparse = mat.ndim - n_batch - n_dense
    if min(n_sparse, n_batch, n_dense) < 0:
        raise ValueError(
            f"bcoo_fromdense of an array with {mat.ndim} axes cannot have {n_batch} batch axes and "
            f"{n_dense} dense axes."
        )
    sparse = mat.shape[n_batch : n_batch + n_sparse]
    mask = jnp.any(mat != 0, axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    if nse is None:
        if type(mask) is not Array:
            raise ConcretizationTypeError(
                "bcoo_fromdense of a traced array: how many elements are not zero is not known "
                "while tracing; give nse, an upper bound."
            )
        counts = np.asarray(mask).sum(axis=tuple(range(n_batch, mask.ndim)))
        nse = int(counts.max(initial=0))

    def entries(x: Any, found: Any) -> tuple[Any, Any]:
        if n_sparse:
            places = jnp.stack(jnp.nonzero(found, size=nse, fill_value=sparse), axis=-1)
        else:
            places = jnp.zeros((nse, 0), np.int32)
        return _picked(x, places), places.astype(index_dtype)

    data, indices = per_batch(entries, n_batch)(mat, mask)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def _picked(x: Any, places: Any) -> Any:
    """The elements at positions; without sparse axes, all in the first entry."""
    if not places.shape[-1]:
        return jnp.zeros((places.shape[0], *x.shape), x.dtype).at[:1].set(x)
    return x.at[columns(places)].get(mode="fill", fill_value=0)


@api_boundary
def bcoo_todense(mat: BCOO) -> Any:
    """The array with all of its elements.

    >>> bcoo_todense(BCOO(([2.0, 3.0], [[0], [0]]), shape=(2,))).tolist()
    [5.0, 0.0]
    """
    require_bcoo("bcoo_todense", mat)
    sparse, dense = mat.sparse_shape, mat.dense_shape

    def spread(data: Any, indices: Any) -> Any:
        if not sparse:
            return jnp.sum(data, axis=0, dtype=data.dtype)
        zeros = jnp.zeros((*sparse, *dense), data.dtype)
        return zeros.at[columns(indices)].add(data, mode="drop")

    return per_batch(spread, mat.n_batch)(mat.data, mat.indices)


def todense(arr: Any) -> Any:
    """The array with all of its elements, of a sparse array or any other.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> todense(m)
    Array([[0., 1.],
           [2., 0.]], dtype=float64)
    """
    return arr.todense() if isinstance(arr, BCOO) else jnp.asarray(arr)


@api_boundary
def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """A sparse array with the elements of an array at the positions of another sparse array.

    Args:
        sparr: the sparse array, whose positions are taken.
        arr: an array of the same shape.
        assume_unique: whether positions are taken to be distinct; by default as the sparse array
            says. If not, the first entry of a position gets the element, and others zero.

    Raises:
        ValueError: when the shapes differ.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_extract(m, np.array([[5.0, 6.0], [7.0, 8.0]])).todense()
    Array([[0., 6.],
           [7., 0.]], dtype=float64)
    """
    require_bcoo("bcoo_extract", sparr)
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(
            f"bcoo_extract takes two arrays of one shape, but got {sparr.shape} and {arr.shape}."
        )
    data = per_batch(lambda places, x: _picked(x, places), sparr.n_batch)(sparr.indices, arr)
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    if not unique and sparr.n_sparse:
        first = per_batch(_is_first, sparr.n_batch)(sparr.indices)
        data = jnp.where(first.reshape(*first.shape, *(1,) * sparr.n_dense), data, 0)
    return sparr.replaced(data)


def _is_first(indices: Any) -> Any:
    """Mark the entries that are the first of their positions."""
    same = jnp.all(indices[:, None] == indices[None], axis=-1)
    return jnp.argmax(same, axis=1) == jnp.arange(indices.shape[0])
