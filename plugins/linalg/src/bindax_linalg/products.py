"""Products with matrices that decompositions give, and a decomposition of a changed matrix."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Array, ShapedArray, typeof
from bindax_lax_basic import concatenate, dtypes, expand_dims, sign
from bindax_lax_basic.extend import describe
from bindax_linalg import _matrices as m
from bindax_linalg.qr import compact_form, qr

__all__ = ["cholesky_update", "ormqr", "symmetric_product"]


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """``alpha A A^T + beta C`` for symmetric ``C``.

    Args:
        a_matrix: A, of shape ``[..., m, n]``.
        c_matrix: C, of shape ``[..., m, m]``.
        alpha: a number.
        beta: a number.
        symmetrize_output: whether the upper triangle of the result is that of the lower one also
            where ``C`` is not symmetric.

    >>> import numpy as np
    >>> symmetric_product(np.array([[1.0], [2.0]]), np.eye(2), beta=10.0)
    Array([[11.,  2.],
           [ 2., 14.]], dtype=float64)
    """
    a, c = typeof(a_matrix), typeof(c_matrix)
    if m.are_narrow(a_matrix, c_matrix) and a.dtype == c.dtype:
        factors = {"alpha": alpha, "beta": beta, "symmetrize_output": symmetrize_output}
        return m.widened(symmetric_product, a_matrix, c_matrix, **factors)
    m.check_matrix("symmetric_product", a)
    m.check_dtype("symmetric_product", a, c)
    _check_real("symmetric_product", a)
    if c.shape != (*a.shape[:-1], a.shape[-2]):
        raise ValueError(
            f"symmetric_product takes A of shape [..., m, n] and C of shape [..., m, m], but got "
            f"{describe((a, c))}."
        )
    product = m.scaled(m.matmul(a_matrix, m.transposed(a_matrix)), alpha)
    out = m.add(product, m.scaled(c_matrix, beta))
    if not symmetrize_output:
        return out
    return m.add(m.lower_part(out), m.transposed(m.lower_part(out, -1)))


def _check_real(name: str, aval: ShapedArray) -> None:
    if dtypes.is_complex(aval.dtype):
        raise TypeError(f"{name} takes matrices of real numbers, but got {aval.str_short()}.")


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Array:
    """The product of matrices with the orthogonal matrix ``Q`` that reflectors make.

    ``Q`` itself, which has as many columns as rows, is never made: it is ``I - V W``, where V
    holds the reflectors (R. Schreiber and C. Van Loan, "A storage-efficient WY representation for
    products of Householder transformations", 1989).

    Args:
        a: the reflectors, as for ``householder_product``, of shape ``[..., m, n]``.
        taus: their factors, of shape ``[..., k]`` with ``k <= min(m, n)``.
        c: what is multiplied, with ``m`` rows, or with ``m`` columns when not ``left``.
        left: whether ``Q`` stands on the left.
        transpose: whether its adjoint ``Q^H`` is taken instead.

    >>> import numpy as np
    >>> ormqr(np.array([[0.0], [1.0]]), np.array([1.0]), np.array([[3.0], [4.0]]))
    Array([[-4.],
           [-3.]], dtype=float64)
    """
    _check_product(typeof(a), typeof(taus), typeof(c), left)
    v, w = compact_form(a, taus)
    first, second = (m.adjoint(w), m.adjoint(v)) if transpose else (v, w)
    change = m.matmul(first, m.matmul(second, c)) if left else m.matmul(m.matmul(c, first), second)
    return m.sub(c, change)


def _check_product(a: Any, taus: Any, c: Any, left: bool) -> None:
    m.check_matrix("ormqr", a)
    m.check_matrix("ormqr", c)
    m.check_dtype("ormqr", a, taus, c)
    lead = a.shape[:-2]
    fits = taus.shape[:-1] == lead == c.shape[:-2] and c.shape[-2 if left else -1] == a.shape[-2]
    if not fits or taus.ndim != a.ndim - 1 or taus.shape[-1] > min(a.shape[-2:]):
        side = "rows" if left else "columns"
        raise ValueError(
            f"ormqr takes reflectors of shape [..., m, n], factors of shape [..., k] with "
            f"k <= min(m, n), and matrices with m {side}, but got {describe((a, taus, c))}."
        )


def cholesky_update(r_matrix: Any, w_vector: Any) -> Array:
    """The Cholesky factor of ``R^T R + w w^T`` from the factor ``R``.

    It is the triangular factor of ``R`` with the row ``w`` below it, which is more exact than to
    decompose the sum.

    Args:
        r_matrix: an upper triangular matrix of real numbers, of shape ``[n, n]``.
        w_vector: a vector of shape ``[n]``.

    Returns:
        An upper triangular matrix with a positive diagonal.

    >>> import numpy as np
    >>> cholesky_update(np.array([[3.0]]), np.array([4.0]))
    Array([[5.]], dtype=float64)
    """
    r, w = typeof(r_matrix), typeof(w_vector)
    if m.are_narrow(r_matrix, w_vector) and r.dtype == w.dtype:
        return m.widened(cholesky_update, r_matrix, w_vector)
    m.check_matrix("cholesky_update", r, square=True)
    m.check_dtype("cholesky_update", r, w)
    _check_real("cholesky_update", r)
    if r.ndim != 2 or w.shape != r.shape[:1]:
        raise ValueError(
            f"cholesky_update takes one matrix of shape [n, n] and a vector of shape [n], but got "
            f"{describe((r, w))}."
        )
    rows = concatenate([m.upper_part(r_matrix), expand_dims(w_vector, (0,))], 0)
    factor = qr(rows, full_matrices=False)[1]
    return m.scale_rows(factor, sign(m.diagonal(factor)))
