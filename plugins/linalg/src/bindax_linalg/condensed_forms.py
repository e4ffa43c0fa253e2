"""Reductions of square matrices to Hessenberg and to tridiagonal form."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, LoweringContext, Primitive, ShapedArray, primitive, rules
from bindax_lax_basic.extend import NumPyArray, batched
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg._householder import reflect_columns, reflect_rows, reflector

__all__ = ["hessenberg", "hessenberg_p", "tridiagonal", "tridiagonal_p"]


_NO_DERIVATIVE = (
    "none is known to be needed, and JAX has none either; differentiate what is computed from the "
    "form, such as eigenvalues or solutions, instead"
)


def hessenberg(a: Any) -> list[Array]:
    """Reduce square matrices to upper Hessenberg form, ``a = Q H Q^H``.

    Args:
        a: matrices, of shape ``[..., n, n]``.

    Returns:
        ``[packed, taus]``: H on, above and just below the diagonal; the Householder reflectors
        whose product is Q below, with their factors, of shape ``[..., n - 1]``.

    There is no derivative.

    >>> packed, taus = hessenberg(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> packed
    Array([[1., 2.],
           [3., 4.]], dtype=float64)
    """
    return hessenberg_p.bind(a)


def _hessenberg_type(a: ShapedArray) -> list[ShapedArray]:
    m.check_matrix("hessenberg", a, square=True)
    taus = ShapedArray((*a.shape[:-2], max(0, a.shape[-1] - 1)), a.dtype)
    return [a.update(weak_type=False), taus]


def hessenberg_array(x: NumPyArray) -> list[NumPyArray]:
    """The evaluation rule: a reflector for each column, from both sides."""
    *lead, n, _ = x.shape
    a = x.reshape(int(np.prod(lead)), n, n).copy()
    taus = np.zeros((len(a), max(0, n - 1)), x.dtype)
    for j in range(n - 1):
        v, tau, beta = reflector(a[:, j + 1 :, j])
        reflect_rows(a[:, j + 1 :, j + 1 :], v, tau.conj())
        reflect_columns(a[:, :, j + 1 :], v, tau)
        a[:, j + 1, j], a[:, j + 2 :, j], taus[:, j] = beta, v[:, 1:], tau
    return [a.reshape(x.shape), taus.reshape(*lead, -1 if taus.size else taus.shape[-1])]


def _hessenberg_lowering(ctx: LoweringContext, a: Any) -> list[Any]:
    options = {"low": "1 : i32", "high": f"{ctx.avals_in[0].shape[-1]} : i32"}
    return _lapack.checked_call(ctx, "gehrd", [a], ctx.avals_out, options)


hessenberg_p: Primitive = primitive(
    "hessenberg",
    rules.abstract_eval(_hessenberg_type),
    rules.jvp.absent(_NO_DERIVATIVE),
    _lapack.lapack_rules(hessenberg_array, _hessenberg_lowering, slow=True),
    batched(2),
    multiple_results=True,
)


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Array, Array, Array, Array]:
    """Reduce Hermitian matrices to real tridiagonal form, ``a = Q T Q^H``.

    Args:
        a: Hermitian matrices, of shape ``[..., n, n]``.
        lower: which triangle is read.

    Returns:
        ``(packed, d, e, taus)``: the diagonal and the off-diagonal of T, real; and the
        Householder reflectors whose product is Q in that triangle, with their factors.

    There is no derivative.

    >>> packed, d, e, taus = tridiagonal(np.array([[1.0, 2.0], [2.0, 4.0]]))
    >>> d, e
    (Array([1., 4.], dtype=float64), Array([2.], dtype=float64))
    """
    packed, d, e, taus = tridiagonal_p.bind(a, lower=bool(lower))
    return packed, d, e, taus


def _tridiagonal_type(a: ShapedArray, *, lower: bool) -> list[ShapedArray]:
    m.check_matrix("tridiagonal", a, square=True)
    *lead, n, _ = a.shape
    off = (*lead, max(0, n - 1))
    d, e = m.real_aval(a, (*lead, n)), m.real_aval(a, off)
    return [a.update(weak_type=False), d, e, ShapedArray(off, a.dtype)]


def _tridiagonal_impl(x: NumPyArray, *, lower: bool) -> list[NumPyArray]:
    if not lower:  # reversing rows and columns exchanges the triangles
        a, *rest = _tridiagonal_impl(x[..., ::-1, ::-1], lower=True)
        return [a[..., ::-1, ::-1], *(v[..., ::-1] for v in rest)]
    *lead, n, _ = x.shape
    given = x.reshape(int(np.prod(lead)), n, n)
    strict = np.tril(given, -1)
    places = np.arange(n)
    a = strict + strict.conj().swapaxes(-1, -2)
    a[:, places, places] = given[:, places, places].real
    off = np.zeros((len(a), max(0, n - 1)), x.dtype)
    taus = off.copy()
    packed = np.triu(given, 1)
    for j in range(n - 1):
        v, tau, beta = reflector(a[:, j + 1 :, j])
        reflect_rows(a[:, j + 1 :, j + 1 :], v, tau.conj())
        reflect_columns(a[:, j + 1 :, j + 1 :], v, tau)
        off[:, j], taus[:, j] = beta, tau
        packed[:, j + 1, j], packed[:, j + 2 :, j] = beta, v[:, 1:]
    d = a[:, places, places].real
    packed[:, places, places] = d
    sized = (*lead, max(0, n - 1))
    return [
        packed.reshape(x.shape),
        d.reshape(*lead, n),
        off.real.reshape(sized),
        taus.reshape(sized),
    ]


def _tridiagonal_lowering(ctx: LoweringContext, a: Any, *, lower: bool) -> list[Any]:
    options = {"uplo": _lapack.flag("L" if lower else "U")}
    return _lapack.checked_call(ctx, "sytrd|hetrd", [a], ctx.avals_out, options)


tridiagonal_p: Primitive = primitive(
    "tridiagonal",
    rules.abstract_eval(_tridiagonal_type),
    rules.jvp.absent(_NO_DERIVATIVE),
    _lapack.lapack_rules(_tridiagonal_impl, _tridiagonal_lowering, slow=True),
    batched(2),
    multiple_results=True,
)
