"""``BCSR``: sparse matrices by rows, which are converted to ``BCOO`` for what is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_core.tree_util import GetAttrKey, register_pytree_with_keys
from bindax_experimental.sparse.base import JAXSparse
from bindax_experimental.sparse.bcoo import BCOO
from bindax_experimental.sparse.conversion import bcoo_fromdense
from bindax_experimental.sparse.layout import bcoo_sort_indices


class BCSR(JAXSparse):
    """A sparse matrix: the stored elements row by row, their columns, and where each row starts.

    It is a tree of three arrays, so that all transformations take it. Entries of one position add
    up; entries past the last row are padding.

    Args:
        args: ``(data, indices, indptr)``, vectors of ``nse`` elements, of ``nse`` columns, and of
            one place more than rows; row i has the entries from ``indptr[i]`` to
            ``indptr[i + 1]``.
        shape: the numbers of rows and columns.
        indices_sorted: whether columns are known to increase in each row.
        unique_indices: whether positions are known to be distinct.

    Raises:
        ValueError: when the shapes do not fit each other.

    >>> m = BCSR.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> m
    BCSR(float32[2, 2], nse=2)
    >>> (m @ jnp.array([1.0, 10.0])).tolist()
    [20.0, 3.0]
    """

    n_batch: int = 0
    n_dense: int = 0
    n_sparse: int = 2
    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, ...]
    indices_sorted: bool
    unique_indices: bool

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = (jnp.asarray(x) for x in args)
        self.shape = tuple([int(size) for size in shape])
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        shapes = self.data.shape, self.indices.shape, self.indptr.shape
        fits = (
            len(self.shape) == 2
            and shapes[0] == shapes[1]
            and len(shapes[0]) == 1
            and shapes[2] == (self.shape[0] + 1,)
        )
        if not fits:
            raise ValueError(
                f"BCSR of the shape {self.shape} takes vectors of nse elements, of nse columns and "
                f"of one place more than rows, but got the shapes {shapes}; matrices in batches "
                f"and with dense axes are BCOO."
            )

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def nse(self) -> int:
        """The number of entries that are stored."""
        return int(self.data.shape[0])

    def __repr__(self) -> str:
        try:
            rows, columns = self.shape
            name = np.dtype(self.dtype).name
            return f"BCSR({name}[{rows}, {columns}], nse={self.nse})"
        except (AttributeError, TypeError):  # the leaves are no arrays
            return f"BCSR({self.data!r}, {self.indices!r}, {self.indptr!r})"

    # ----------------------------------------------------------------------------- conversion

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> BCSR:
        """Take the elements of a matrix that are not zero; arguments as of ``bcoo_fromdense``."""
        return cls.from_bcoo(bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype))

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """A sparse matrix by rows from one by positions.

        Raises:
            ValueError: when it is no matrix with two sparse axes.
        """
        if arr.n_sparse != 2 or arr.ndim != 2:
            raise ValueError(
                f"BCSR.from_bcoo takes a matrix with two sparse axes, but got {arr!r}."
            )
        entries = arr if arr.indices_sorted else bcoo_sort_indices(arr)
        rows, columns = entries.indices[:, 0], entries.indices[:, 1]
        starts = jnp.searchsorted(rows, jnp.arange(arr.shape[0] + 1, dtype=rows.dtype))
        return cls(
            (entries.data, columns, starts.astype(rows.dtype)),
            shape=arr.shape,
            indices_sorted=True,
            unique_indices=entries.unique_indices,
        )

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None) -> BCSR:
        """A sparse matrix from one of SciPy."""
        rows = mat.tocsr()
        dtype = np.dtype(index_dtype or np.int32)
        parts = rows.data, rows.indices.astype(dtype), rows.indptr.astype(dtype)
        return cls(parts, shape=rows.shape)

    def to_bcoo(self) -> BCOO:
        """The matrix by positions."""
        places = jnp.arange(self.nse, dtype=self.indptr.dtype)
        rows = jnp.searchsorted(self.indptr, places, side="right") - 1
        indices = jnp.stack([rows.astype(self.indices.dtype), self.indices], axis=1)
        return BCOO(
            (self.data, indices),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    def todense(self) -> Any:
        """The array with all of its elements."""
        return self.to_bcoo().todense()

    # ------------------------------------------------------------------------------ operations

    def transpose(self, axes: Sequence[int] | None = None) -> BCSR:
        """The matrix with its axes in another order."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(axes))

    def sum(self, axis: int | Sequence[int] | None = None) -> Any:
        """Sums over axes; over one, a sparse array by positions."""
        return self.to_bcoo().sum(axis)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """The matrix with one entry for each position; arguments as of ``BCOO.sum_duplicates``."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def __neg__(self) -> BCSR:
        parts = -self.data, self.indices, self.indptr
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return BCSR(parts, shape=self.shape, **flags)

    def __matmul__(self, other: Any) -> Any:
        return self.to_bcoo() @ (other.to_bcoo() if isinstance(other, BCSR) else other)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.to_bcoo()


def _flatten(matrix: BCSR) -> tuple[Any, Any]:
    names = ("data", "indices", "indptr")
    aux = matrix.shape, matrix.indices_sorted, matrix.unique_indices
    return [(GetAttrKey(name), getattr(matrix, name)) for name in names], aux


def _unflatten(aux: Any, parts: Any) -> BCSR:
    made = object.__new__(BCSR)  # the parts may be anything that a tree holds
    made.data, made.indices, made.indptr = parts
    made.shape, made.indices_sorted, made.unique_indices = aux
    return made


register_pytree_with_keys(BCSR, _flatten, _unflatten)


def bcsr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> BCSR:
    """Take the elements of a matrix that are not zero; see ``BCSR.fromdense``.

    >>> bcsr_fromdense(np.array([[0, 1], [2, 0]])).indices.tolist()
    [1, 0]
    """
    return BCSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def bcsr_todense(mat: BCSR) -> Any:
    """The matrix with all of its elements.

    >>> bcsr_todense(bcsr_fromdense(np.array([[0, 1], [2, 0]]))).tolist()
    [[0, 1], [2, 0]]
    """
    if not isinstance(mat, BCSR):
        raise TypeError(f"bcsr_todense takes a BCSR array, but got {type(mat).__name__}.")
    return mat.todense()
