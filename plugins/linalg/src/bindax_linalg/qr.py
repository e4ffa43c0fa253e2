"""The QR decomposition, and products of Householder reflectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import complex_p, dtypes, imag_p
from bindax_lax_basic.extend import (
    NumPyArray,
    batched,
    composite_jvp,
    describe,
    filled,
    inlined,
    zero_tangent,
)
from bindax_linalg import _householder, _lapack
from bindax_linalg import _matrices as m
from bindax_linalg.triangular_solve import triangular_solve

__all__ = ["householder_product", "householder_product_p", "qr", "qr_p"]


def qr(x: Any, *, pivoting: bool = False, full_matrices: bool = True) -> tuple[Array, ...]:
    """The QR decomposition ``x = Q R``.

    Args:
        x: matrices, of shape ``[..., m, n]``.
        pivoting: whether columns are exchanged, so that the diagonal of R does not increase in
            size.
        full_matrices: whether Q is square, of shape ``[..., m, m]``, rather than
            ``[..., m, min(m, n)]``.

    Returns:
        ``(q, r)``: Q with orthonormal columns, and the upper triangular R. With ``pivoting``
        ``(q, r, p)``, where p are int32 and ``x[..., p] = Q R``.

    The derivative follows S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra
    functions with application in optimum experimental design", 2010, and for wide matrices D.
    Roberts and L. Roberts, "QR and LQ decomposition matrix backpropagation algorithms", 2020. The
    columns that ``full_matrices`` adds to Q are determined up to a rotation; their derivative has
    no component among themselves.

    >>> q, r = qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> bool(np.allclose(q @ r, [[3.0, 1.0], [4.0, 2.0]]))
    True
    """
    return tuple(qr_p.bind(x, pivoting=bool(pivoting), full_matrices=bool(full_matrices)))


def _qr_type(x: ShapedArray, *, pivoting: bool, full_matrices: bool) -> list[ShapedArray]:
    m.check_matrix("qr", x)
    *lead, rows, columns = x.shape
    inner = rows if full_matrices else min(rows, columns)
    q = ShapedArray((*lead, rows, inner), x.dtype)
    r = ShapedArray((*lead, inner, columns), x.dtype)
    return [q, r, *[ShapedArray((*lead, columns), m.INT32)] * pivoting]


def _qr_impl(x: NumPyArray, *, pivoting: bool, full_matrices: bool) -> list[NumPyArray]:
    if pivoting:
        return _pivoted(x, full_matrices)
    return list(np.linalg.qr(x, mode="complete" if full_matrices else "reduced"))


def _pivoted(x: NumPyArray, full_matrices: bool) -> list[NumPyArray]:
    """Householder reflections; each takes the longest of the columns that are left."""
    *lead, rows, columns = x.shape
    a = x.reshape(int(np.prod(lead)), rows, columns).copy()
    each, steps = np.arange(len(a)), min(rows, columns)
    order = np.tile(np.arange(columns, dtype=np.int32), (len(a), 1))
    taus = np.zeros((len(a), steps), x.dtype)
    for j in range(steps):
        chosen = j + np.argmax(np.linalg.norm(a[:, j:, j:], axis=1), axis=1)
        a[each, :, chosen], a[:, :, j] = a[:, :, j].copy(), a[each, :, chosen]
        order[each, chosen], order[:, j] = order[:, j].copy(), order[each, chosen]
        v, tau, beta = _householder.reflector(a[:, j:, j])
        _householder.reflect_rows(a[:, j:, j + 1 :], v, tau.conj())
        a[:, j, j], a[:, j + 1 :, j], taus[:, j] = beta, v[:, 1:], tau
    inner = rows if full_matrices else steps
    packed = np.zeros((len(a), rows, inner), x.dtype)
    packed[:, :, :steps] = a[:, :, :steps]
    q = _householder.product_array(packed, taus).reshape(*lead, rows, inner)
    r = np.triu(a[:, :inner]).reshape(*lead, inner, columns)
    return [q, r, order.reshape(*lead, columns)]


def _qr_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, pivoting: bool, full_matrices: bool
) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    q, r, *order = outs = qr_p.bind(x, pivoting=pivoting, full_matrices=full_matrices)
    if pivoting:
        t = m.transposed(m.take_rows(m.transposed(t), *order))
    rows, columns = typeof(x).shape[-2:]
    k, inner = min(rows, columns), typeof(q).shape[-1]
    # Q^H dA R^-1 = Q^H dQ + dR R^-1, the first skew-Hermitian and the second upper triangular.
    moved = triangular_solve(m.resized(r, k, k), m.resized(t, rows, k))
    both = m.matmul(m.adjoint(q), moved)
    square = m.resized(both, k, k)
    turn = _skew(square)
    if inner == k:
        dq = m.add(m.matmul(q, m.sub(turn, square)), moved)
    else:
        below = m.sub(both, m.resized(square, inner, k))  # what turns the columns out of their span
        turn_all = m.resized(m.add(m.resized(turn, inner, k), below), inner, inner)
        dq = m.matmul(q, m.sub(turn_all, m.adjoint(m.resized(below, inner, inner))))
    dr = m.sub(m.matmul(m.adjoint(q), t), m.matmul(m.resized(turn, inner, inner), r))
    dr = m.resized(m.upper_part(m.resized(dr, k, columns)), inner, columns)
    return outs, [dq, dr, *[zero_tangent(p) for p in order]]


def _skew(x: Any) -> Any:
    """The skew-Hermitian matrix whose difference from ``x`` is upper triangular, real inside."""
    strict = m.lower_part(x, -1)
    out = m.sub(strict, m.adjoint(strict))
    if not dtypes.is_complex(typeof(x).dtype):
        return out
    turned = imag_p.bind(m.diagonal(x))
    return m.with_diagonal(out, complex_p.bind(filled(typeof(turned), 0), turned))


def _qr_lowering(ctx: LoweringContext, x: Any, *, pivoting: bool, full_matrices: bool) -> list[Any]:
    (aval,) = ctx.avals_in
    *lead, rows, columns = aval.shape
    k, inner = min(rows, columns), ctx.avals_out[0].shape[-1]
    taus = ShapedArray((*lead, k), aval.dtype)
    if pivoting:
        order = ctx.avals_out[2]
        free = ctx.constant(np.zeros(order.shape, order.dtype))
        packed, places, tau = _lapack.call(
            ctx, "geqp3", [x, free], [aval, order, taus], {}, [aval, order]
        )
        minus_one = lambda p: [m.sub(p, filled(typeof(p), 1))]  # noqa: E731 -- it counts from 1
        rest = inlined(ctx, minus_one, [places], [order])
    else:
        packed, tau = _lapack.call(ctx, "geqrf", [x], [aval, taus], {})
        rest = []

    def finish(packed: Any, tau: Any) -> list[Any]:
        r = m.resized(m.upper_part(packed), inner, columns)
        return [householder_product(m.resized(packed, rows, inner), tau), r]

    return [*inlined(ctx, finish, [packed, tau], [aval, taus]), *rest]


qr_p: Primitive = primitive(
    "qr",
    rules.abstract_eval(_qr_type),
    rules.jvp(_qr_jvp),
    _lapack.lapack_rules(_qr_impl, _qr_lowering),
    batched(2),
    multiple_results=True,
)


def householder_product(a: Any, taus: Any) -> Array:
    """The leading columns of a product of Householder reflectors.

    Args:
        a: matrices of shape ``[..., m, n]`` with ``m >= n``; below the diagonal of column i is the
            vector v of reflector i, whose first elements are 0 and then 1.
        taus: the factors, of shape ``[..., k]`` with ``k <= n``.

    Returns:
        The first n columns of the product of ``I - tau v v^H`` over the k reflectors; the rest of
        ``a`` is not read.

    The derivative is that of the form ``I - V T V^H`` of the product (R. Schreiber and C. Van
    Loan, "A storage-efficient WY representation for products of Householder transformations",
    1989).

    >>> householder_product(np.array([[0.0], [1.0]]), np.array([1.0]))
    Array([[ 0.],
           [-1.]], dtype=float64)
    """
    return householder_product_p.bind(a, taus)


def _product_type(a: ShapedArray, taus: ShapedArray) -> ShapedArray:
    name = "householder_product"
    m.check_matrix(name, a)
    m.check_dtype(name, a, taus)
    *lead, rows, columns = a.shape
    legal = taus.ndim == a.ndim - 1 and list(taus.shape[:-1]) == lead
    if not legal or rows < columns or taus.shape[-1] > columns:
        raise ValueError(
            f"{name} takes matrices of shape [..., m, n] with m >= n and factors of shape "
            f"[..., k] with k <= n, but got {describe((a, taus))}."
        )
    return a.update(weak_type=False)


def compact_form(a: Any, taus: Any) -> tuple[Any, Any]:
    """V, which holds the reflectors, and W in the square product ``Q = I - V W`` of all of them.

    W solves ``M W = D V^H`` with ``D = diag(taus)`` and ``M = I + D triu(V^H V, 1)``.
    """
    strict = m.lower_part(m.resized(a, typeof(a).shape[-2], typeof(taus).shape[-1]), -1)
    v = m.add(strict, m.identity_like(strict))
    vh = m.adjoint(v)
    matrix = m.scale_rows(m.upper_part(m.matmul(vh, v), 1), taus)
    w = triangular_solve(matrix, m.scale_rows(vh, taus), left_side=True, unit_diagonal=True)
    return v, w


def _product(a: Any, taus: Any) -> Any:
    product = m.matmul(*compact_form(a, taus))
    return m.sub(m.identity_like(a), m.resized(product, *typeof(a).shape[-2:]))


def _product_lowering(ctx: LoweringContext, a: Any, taus: Any) -> Any:
    return _lapack.call(ctx, "orgqr|ungqr", [a, taus], ctx.avals_out, {})[0]


householder_product_p: Primitive = primitive(
    "householder_product",
    rules.abstract_eval(_product_type),
    composite_jvp(_product),
    _lapack.lapack_rules(_householder.product_array, _product_lowering, slow=True),
    batched(2, 1),
)
