"""The storage of sparse arrays: batch axes and dense axes, order, entries of one position."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array, api_boundary
from bindax_experimental.sparse.bcoo import BCOO, columns, per_batch, require_bcoo


class SparseEfficiencyError(ValueError):
    """A layout would store more entries than there are.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> try:
    ...     bcoo_update_layout(BCOO.fromdense(np.eye(2)), n_batch=1)
    ... except SparseEfficiencyError:
    ...     print("zeros would be stored")
    zeros would be stored
    """


@api_boundary
def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """The same array with other numbers of batch and dense axes.

    Args:
        mat: a sparse array.
        n_batch: how many leading axes become batch axes; by default as many as there are.
        n_dense: how many last axes become dense; by default as many as there are.
        on_inefficient: ``"error"`` if sparse axes must not become batch or dense ones where that
            stores zeros; None if they may.

    Raises:
        SparseEfficiencyError: when zeros would be stored.
        ValueError: when there are not so many axes.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_update_layout(m, n_batch=1, on_inefficient=None).n_batch
    1
    """
    require_bcoo("bcoo_update_layout", mat)
    batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if batch < 0 or dense < 0 or batch + dense > mat.ndim:
        raise ValueError(
            f"bcoo_update_layout: {mat} cannot have {batch} batch axes and {dense} dense axes."
        )
    if on_inefficient == "error" and (batch > mat.n_batch or dense > mat.n_dense):
        raise SparseEfficiencyError(
            f"bcoo_update_layout: to make sparse axes of {mat} batch axes or dense axes stores "
            f"zeros; with on_inefficient=None it is done."
        )
    while mat.n_dense > dense:
        mat = _dense_to_sparse(mat)
    while mat.n_batch > batch:
        mat = _batch_to_sparse(mat)
    while mat.n_batch < batch:
        mat = _sparse_to_batch(mat)
    while mat.n_dense < dense:
        mat = _sparse_to_dense(mat)
    return mat


def _batch_to_sparse(mat: BCOO) -> BCOO:
    """Make the last batch axis the first sparse one."""
    axis = mat.n_batch - 1
    size, nse = mat.shape[axis], mat.nse
    number = jnp.arange(size, dtype=mat.indices.dtype)[:, None, None]
    number = jnp.broadcast_to(number, (*mat.shape[: axis + 1], nse, 1))
    indices = jnp.concatenate([number, mat.indices], axis=-1)
    # Padding is out of bounds along the axes that there were; without any, there is none.
    data = mat.data.reshape(*mat.shape[:axis], size * nse, *mat.dense_shape)
    indices = indices.reshape(*mat.shape[:axis], size * nse, mat.n_sparse + 1)
    return mat.replaced(data, indices, **mat._order)


def _sparse_to_batch(mat: BCOO) -> BCOO:
    """Make the first sparse axis the last batch one; entries of other batches become padding."""
    size, rest = mat.sparse_shape[0], mat.sparse_shape[1:]

    def spread(data: Any, indices: Any) -> tuple[Any, Any]:
        here = indices[:, 0] == jnp.arange(size, dtype=indices.dtype)[:, None]
        outside = jnp.array(rest, indices.dtype).reshape(len(rest))
        own = jnp.where(here[..., None], indices[:, 1:], outside)
        mask = here.reshape(*here.shape, *(1,) * (data.ndim - 1))
        return jnp.where(mask, data, 0), own

    data, indices = per_batch(spread, mat.n_batch)(mat.data, mat.indices)
    return BCOO((data, indices), shape=mat.shape)


def _dense_to_sparse(mat: BCOO) -> BCOO:
    """Make the first dense axis the last sparse one."""
    size = mat.dense_shape[0]
    batch, nse = mat.shape[: mat.n_batch], mat.nse
    indices = jnp.broadcast_to(mat.indices[..., None, :], (*batch, nse, size, mat.n_sparse))
    number = jnp.arange(size, dtype=mat.indices.dtype)[:, None]
    number = jnp.broadcast_to(number, (*batch, nse, size, 1))
    indices = jnp.concatenate([indices, number], axis=-1)
    data = mat.data.reshape(*batch, nse * size, *mat.dense_shape[1:])
    indices = indices.reshape(*batch, nse * size, mat.n_sparse + 1)
    return mat.replaced(data, indices, **mat._order)


def _sparse_to_dense(mat: BCOO) -> BCOO:
    """Make the last sparse axis the first dense one."""
    size = mat.sparse_shape[-1]

    def spread(data: Any, indices: Any) -> tuple[Any, Any]:
        zeros = jnp.zeros((data.shape[0], size, *data.shape[1:]), data.dtype)
        return zeros.at[jnp.arange(data.shape[0]), indices[:, -1]].add(data, mode="drop"), indices[
            :, :-1
        ]

    data, indices = per_batch(spread, mat.n_batch)(mat.data, mat.indices)
    return BCOO((data, indices), shape=mat.shape)


def sparse_alone(mat: BCOO) -> BCOO:
    """The same array with sparse axes alone."""
    return bcoo_update_layout(mat, n_batch=0, n_dense=0)


@api_boundary
def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """The same array with its entries in lexicographic order of positions.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> twice = BCOO((np.array([1.0, 2.0]), np.array([[1], [1]])), shape=(3,))
    >>> bcoo_sort_indices(twice).todense()
    Array([0., 3., 0.], dtype=float64)
    """
    require_bcoo("bcoo_sort_indices", mat)
    if mat.indices_sorted or not mat.n_sparse:
        return mat
    data, indices = per_batch(_sorted, mat.n_batch)(mat.data, mat.indices)
    return mat.replaced(data, indices, indices_sorted=True, unique_indices=mat.unique_indices)


def _sorted(data: Any, indices: Any) -> tuple[Any, Any]:
    order = jnp.lexsort(columns(indices)[::-1])
    return data[order], indices[order]


@api_boundary
def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """The same array with one entry for each position, in lexicographic order.

    Args:
        mat: a sparse array.
        nse: how many entries are stored then; by default as many as are needed, and while the
            array is traced as many as are stored.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> twice = BCOO((np.array([1.0, 2.0]), np.array([[1], [1]])), shape=(3,))
    >>> bcoo_sum_duplicates(twice).todense()
    Array([0., 3., 0.], dtype=float64)
    """
    require_bcoo("bcoo_sum_duplicates", mat)
    if mat.unique_indices and nse is None:
        return bcoo_sort_indices(mat)
    sparse = mat.sparse_shape

    def joined(data: Any, indices: Any) -> tuple[Any, Any, Any]:
        limits = jnp.array(sparse, indices.dtype)
        outside = is_padding(indices, sparse)
        data, indices = _sorted(data, jnp.where(outside[:, None], limits, indices))
        starts = jnp.any(indices != jnp.roll(indices, 1, axis=0), axis=-1).at[:1].set(True)
        inside = ~is_padding(indices, sparse)
        place = jnp.where(inside, jnp.cumsum(starts) - 1, data.shape[0])
        sums = jnp.zeros_like(data).at[place].add(data, mode="drop")
        padding = jnp.broadcast_to(limits, indices.shape)
        return sums, padding.at[place].set(indices, mode="drop"), jnp.sum(inside & starts)

    if not mat.n_sparse:
        data = jnp.sum(mat.data, axis=mat.n_batch, keepdims=True, dtype=mat.data.dtype)
        return mat.replaced(data, mat.indices[..., :1, :], unique_indices=True)
    data, indices, counts = per_batch(joined, mat.n_batch)(mat.data, mat.indices)
    if nse is None and type(counts) is Array:
        nse = int(np.asarray(counts).max(initial=0))
    data, indices = _resized(data, indices, mat, nse)
    return mat.replaced(data, indices, indices_sorted=True, unique_indices=True)


def _resized(data: Any, indices: Any, mat: BCOO, nse: int | None) -> tuple[Any, Any]:
    """Entries cut or padded to a number of them."""
    missing = 0 if nse is None else nse - mat.nse
    if missing <= 0:
        rows = (*(slice(None),) * mat.n_batch, slice(nse))
        return data[rows], indices[rows]
    extra = BCOO._empty(
        mat.shape,
        dtype=data.dtype,
        index_dtype=indices.dtype,
        n_dense=mat.n_dense,
        n_batch=mat.n_batch,
        nse=missing,
    )
    pairs = ((data, extra.data), (indices, extra.indices))
    data, indices = (jnp.concatenate(pair, axis=mat.n_batch) for pair in pairs)
    return data, indices


@api_boundary
def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """The same array with one entry for each position whose element is not zero.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> bcoo_eliminate_zeros(BCOO.fromdense(np.array([0.0, 1.0]), nse=2)).nse
    1
    """
    mat = bcoo_sum_duplicates(mat, nse=None)
    axes = tuple(range(mat.data.ndim - mat.n_dense, mat.data.ndim))
    zero = jnp.all(mat.data == 0, axis=axes)
    limits = jnp.array(mat.sparse_shape, mat.indices.dtype).reshape(mat.n_sparse)
    indices = jnp.where(zero[..., None], limits, mat.indices)
    return bcoo_sum_duplicates(mat.replaced(mat.data, indices), nse=nse)


def distinct(mat: BCOO) -> BCOO:
    """The same array with one entry for each position, as many as there are."""
    return mat if mat.unique_indices else bcoo_sum_duplicates(mat, nse=mat.nse)


def is_padding(indices: Any, shape: Sequence[int]) -> Any:
    """Mark the positions that are out of bounds of a shape."""
    limits = jnp.array(shape, indices.dtype).reshape(len(shape))
    return jnp.any(indices >= limits, axis=-1)
