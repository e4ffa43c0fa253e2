"""Linear systems with sparse matrices."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_experimental.sparse.bcsr import BCSR


def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """The solution of a linear system whose matrix is given by rows.

    The matrix is made dense and factorized: this takes the memory of all of its elements. Where
    that is too much, ``bindax.scipy.sparse.linalg`` has methods that multiply by it alone.

    Args:
        data: the stored elements, row by row.
        indices: their columns.
        indptr: where each row starts, and where the last one ends.
        b: the right-hand side, a vector.
        tol: accepted for compatibility.
        reorder: accepted for compatibility.

    >>> from bindax_experimental.sparse.linalg import spsolve
    >>> m = BCSR.fromdense(jnp.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> spsolve(m.data, m.indices, m.indptr, jnp.array([2.0, 9.0]))
    Array([1., 2.], dtype=float32)
    """
    size = jnp.asarray(indptr).shape[0] - 1
    matrix = BCSR((data, indices, indptr), shape=(size, size))
    return jnp.linalg.solve(matrix.todense(), b)
