"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
import bindax_linalg as decompose
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy.linalg._matrices import (
    adjoint,
    matrices,
    one_batch,
    product,
    require_one_of,
)


def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The triangular factor of Hermitian positive definite matrices.

    Args:
        a: matrices of shape ``[..., n, n]``, of which one triangle is read.
        lower: read the lower triangle, and return L of ``a = L Lᴴ``; not the upper one, and U of
            ``a = Uᴴ U``.
        overwrite_a: not used.
        check_finite: not used.

    >>> linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 1.],
           [0., 1.]], dtype=float32)
    """
    (a,) = matrices("cholesky", a, square=True)
    if lower:
        return decompose.cholesky(a, symmetrize_input=False)
    factor = decompose.cholesky(jnp.swapaxes(a, -1, -2), symmetrize_input=False)
    return jnp.swapaxes(factor, -1, -2)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """The factor that ``cho_solve`` takes, as ``cholesky`` returns it, and ``lower``.

    >>> linalg.cho_factor(jnp.array([[4.0]]))
    (Array([[2.]], dtype=float32), False)
    """
    return cholesky(a, lower), lower


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Singular values and vectors: ``a = u diag(s) vh``.

    Args:
        a: matrices of shape ``[..., m, n]``.
        full_matrices: complete ``u`` and ``vh`` to unitary matrices.
        compute_uv: return ``(u, s, vh)``; otherwise ``s`` alone.
        overwrite_a: not used.
        check_finite: not used.
        lapack_driver: not used.

    >>> linalg.svd(jnp.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    (a,) = matrices("svd", a)
    return jnp.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)


def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: tuple[int, int] | None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices, alone or with respect to others.

    Args:
        a: Hermitian matrices of shape ``[..., n, n]``.
        b: None, or Hermitian positive definite ones.
        lower: not used: the mean of both triangles is taken.
        eigvals_only: return the eigenvalues alone.
        overwrite_a: not used.
        overwrite_b: not used.
        turbo: not used.
        eigvals: the indices of the first and last eigenvalue to return; all by default.
        type: with ``b``, solve ``a v = w b v`` (1), ``a b v = w v`` (2) or ``b a v = w v`` (3).
        check_finite: not used.

    Returns:
        Eigenvalues in ascending order, and eigenvectors in columns.

    >>> linalg.eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    require_one_of("eigh", "type", type, (1, 2, 3))
    if b is None:
        (a,) = matrices("eigh", a, square=True)
        v, w = decompose.eigh(a, lower=lower)
    else:
        a, b = matrices("eigh", a, b, square=True)
        a, b = one_batch(a, b, 2)
        factor = decompose.cholesky(b)
        if type == 1:
            half = decompose.triangular_solve(factor, a, left_side=True, lower=True)
            inner = decompose.triangular_solve(
                factor, half, lower=True, transpose_a=True, conjugate_a=True
            )
        else:
            inner = product(adjoint(factor), a, factor)
        v, w = decompose.eigh(inner)
        if type == 3:
            v = product(factor, v)
        else:
            v = decompose.triangular_solve(
                factor, v, left_side=True, lower=True, transpose_a=True, conjugate_a=True
            )
    if eigvals is not None:
        first, last = eigvals
        w, v = w[..., first : last + 1], v[..., first : last + 1]
    return w if eigvals_only else (w, v)


def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian tridiagonal matrix.

    The matrix is decomposed as a dense one.

    Args:
        d: the diagonal, a vector of size n.
        e: what is below the diagonal, a vector of size n - 1.
        eigvals_only: return the eigenvalues alone.
        select: ``"a"`` for all, or ``"i"`` for those in ``select_range``.
        select_range: the indices of the first and last eigenvalue, with ``select="i"``.
        tol: not used.
        key: not used.

    Raises:
        TypeError: when the dtypes differ or are not of 32 or 64 bits.
        ValueError: for another ``select``; ``"v"`` would give a number of results that depends on
            values.

    >>> linalg.eigh_tridiagonal(jnp.array([1.0, 1.0]), jnp.array([1.0]), eigvals_only=True)
    Array([0., 2.], dtype=float32)
    """
    d, e = jnp.asarray(d), jnp.asarray(e)
    names = ("float32", "float64", "complex64", "complex128")
    if d.dtype != e.dtype or d.dtype.name not in names:
        raise TypeError(
            f"eigh_tridiagonal: d and e must have the same dtype, one of {', '.join(names)}, but "
            f"they have {d.dtype} and {e.dtype}."
        )
    require_one_of("eigh_tridiagonal", "select", select, ("a", "i"))
    if select == "i" and (select_range is None or select_range[0] > select_range[1]):
        raise ValueError(
            f"eigh_tridiagonal: select_range must be the indices of the first and last eigenvalue, "
            f"but it is {select_range!r:.60}."
        )
    d = jnp.real(d)
    dense = jnp.diag(d).astype(e.dtype)
    if d.shape[0] > 1:
        dense = dense + jnp.diag(e, -1) + jnp.diag(jnp.conj(e), 1)
    chosen = select_range if select == "i" else None
    return eigh(dense, eigvals_only=eigvals_only, eigvals=chosen)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """The factors that ``lu_solve`` takes: both in one matrix, and the row exchanges.

    >>> linalg.lu_factor(jnp.array([[2.0]]))
    (Array([[2.]], dtype=float32), Array([0], dtype=int32))
    """
    (a,) = matrices("lu_factor", a)
    factors, pivots, _ = decompose.lu(a)
    return factors, pivots


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """The decomposition ``a = p l u`` with a permutation and two triangular matrices.

    Args:
        a: matrices of shape ``[..., m, n]``.
        permute_l: return ``p l`` and ``u``.
        overwrite_a: not used.
        check_finite: not used.

    Returns:
        ``(p, l, u)``, or ``(p l, u)``.

    >>> linalg.lu(jnp.array([[0.0, 1.0], [2.0, 3.0]]))[2]
    Array([[2., 3.],
           [0., 1.]], dtype=float32)
    """
    (a,) = matrices("lu", a)
    factors, _, order = decompose.lu(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    rows = lax.broadcasted_iota(order.dtype, (*order.shape, m), order.ndim - 1)
    p = (order[..., None, :] == rows).astype(jnp.real(a).dtype)
    below = jnp.tril(factors[..., :k], -1)
    l = below + jnp.broadcast_to(jnp.eye(m, k, dtype=a.dtype), below.shape)
    u = jnp.triu(factors[..., :k, :])
    return (product(p.astype(a.dtype), l), u) if permute_l else (p, l, u)


_QR_MODES = ("full", "r", "economic")


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """The decomposition ``a = q r`` with orthonormal columns and a triangular matrix.

    Args:
        a: matrices of shape ``[..., m, n]``.
        overwrite_a: not used.
        lwork: not used.
        mode: ``"full"``, ``"economic"`` for a ``q`` of min(m, n) columns, or ``"r"`` for ``(r,)``.
        pivoting: exchange columns so that the diagonal of ``r`` falls: ``a[:, p] = q r``.
        check_finite: not used.

    Returns:
        ``(q, r)``, and ``p`` with ``pivoting``.

    >>> abs(linalg.qr(jnp.array([[3.0], [4.0]]), mode="r")[0])
    Array([[5.],
           [0.]], dtype=float32)
    """
    require_one_of("qr", "mode", mode, _QR_MODES)
    (a,) = matrices("qr", a)
    out = decompose.qr(a, pivoting=pivoting, full_matrices=mode != "economic")
    return tuple(out[1:] if mode == "r" else out)


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """``c q`` or ``q c`` for the decomposition ``a = q r``, and ``r``.

    Args:
        a: matrices of shape ``[..., m, n]``; k is the smaller of m and n.
        c: shape ``[..., i, m]`` for ``"right"``, ``[..., k, i]`` for ``"left"``, or a vector.
        mode: ``"right"`` for ``c q``, of shape ``[..., i, k]``, or ``"left"`` for ``q c``.
        pivoting: as for ``qr``.
        conjugate: take the complex conjugate of ``q``.
        overwrite_a: not used.
        overwrite_c: not used.

    Returns:
        The product, ``r``, and ``p`` with ``pivoting``.

    Raises:
        ValueError: when the shapes do not fit together.

    >>> abs(linalg.qr_multiply(jnp.array([[3.0], [4.0]]), jnp.array([1.0, 0.0]))[0]).round(3)
    Array([0.6], dtype=float32)
    """
    require_one_of("qr_multiply", "mode", mode, ("right", "left"))
    a, c = matrices("qr_multiply", a, c)
    vector = c.ndim == 1
    if vector:
        c = c[:, None] if mode == "left" else c[None, :]
    wanted = min(a.shape[-2:]) if mode == "left" else a.shape[-2]
    if c.shape[-2 if mode == "left" else -1] != wanted:
        raise ValueError(
            f"qr_multiply: c of shape {c.shape} does not fit to matrices of shape {a.shape} in "
            f"mode {mode!r}: its {'rows' if mode == 'left' else 'columns'} must be {wanted}."
        )
    q, *rest = qr(a, mode="economic", pivoting=pivoting)
    q = jnp.conj(q) if conjugate else q
    out = product(q, c) if mode == "left" else product(c, q)
    return (jnp.ravel(out) if vector else out, *rest)


def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """The decomposition ``a = u p``, or ``a = p u``, with p positive semidefinite.

    Args:
        a: matrices of shape ``[..., m, n]``.
        side: ``"right"`` for ``a = u p``, ``"left"`` for ``a = p u``.
        method: ``"qdwh"`` (an iteration, for ``m >= n`` on the right, ``m < n`` on the left) or
            ``"svd"`` (for all).
        eps: the relative precision of the iteration; that of the dtype by default.
        max_iterations: how many steps are allowed; 10 by default.

    Returns:
        ``(u, p)``.

    Raises:
        ValueError: for another side or method, or a shape that the iteration does not do.

    >>> linalg.polar(jnp.array([[0.0, -2.0], [3.0, 0.0]]), method="svd")[1]
    Array([[3., 0.],
           [0., 2.]], dtype=float32)
    """
    require_one_of("polar", "side", side, ("right", "left"))
    require_one_of("polar", "method", method, ("qdwh", "svd"))
    (a,) = matrices("polar", a)
    if method == "svd":
        u, s, vh = jnp.linalg.svd(a, full_matrices=False)
        s = s.astype(a.dtype)[..., None, :]
        p = product(adjoint(vh) * s, vh) if side == "right" else product(u * s, adjoint(u))
        return product(u, vh), p
    tall = a.shape[-2] >= a.shape[-1]
    if tall != (side == "right"):
        raise ValueError(
            f"polar: method 'qdwh' decomposes matrices with m >= n on the right and others on the "
            f"left, but the shape is {a.shape} and side is {side!r}; use method='svd'."
        )

    def one(a: Any) -> Any:
        return decompose.qdwh(a, eps=eps, max_iterations=max_iterations)[:2]

    signature = "(m,n)->(m,n),(n,n)"
    if tall:
        return jnp.vectorize(one, signature=signature)(a)
    u, p = jnp.vectorize(one, signature=signature)(adjoint(a))
    return adjoint(u), adjoint(p)
