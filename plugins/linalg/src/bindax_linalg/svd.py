"""The singular value decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import LoweringContext, Primitive, ShapedArray, primitive, rules, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import NumPyArray, batched
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg.eigh import gaps_of, index_range, inverse_gaps
from bindax_linalg.implementations import SvdAlgorithm, require_served

__all__ = ["svd", "svd_p"]


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """The singular value decomposition ``x = U diag(s) V^H``.

    Args:
        x: matrices, of shape ``[..., m, n]``.
        full_matrices: whether U and V are square, rather than having ``min(m, n)`` columns.
        compute_uv: whether to compute U and V.
        subset_by_index: the first and the end of the range of singular values to return; not
            together with ``full_matrices`` where that makes a difference.
        algorithm: None, ``SvdAlgorithm.DEFAULT``, ``DIVIDE_AND_CONQUER`` or ``QR``, which mean the
            same here.

    Returns:
        ``(u, s, vh)`` with the singular values in descending order and V conjugate transposed; or
        ``s`` alone.

    The derivative follows J. Townsend, "Differentiating the singular value decomposition", 2016.
    Singular vectors have none where singular values are equal. Complex ones are determined up to
    phases: those of V turn none of its columns. The columns that ``full_matrices`` adds are
    determined up to a rotation; their derivatives have no component among themselves.

    >>> svd(np.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float64)
    """
    served = (SvdAlgorithm.DEFAULT, SvdAlgorithm.DIVIDE_AND_CONQUER, SvdAlgorithm.QR)
    require_served("svd", "algorithm", algorithm, served, NotImplementedError)
    outs = svd_p.bind(x, full_matrices=bool(full_matrices), compute_uv=bool(compute_uv))
    s, *vectors = outs
    if subset_by_index is not None:
        rows, columns = typeof(x).shape[-2:]
        if compute_uv and full_matrices and rows != columns:
            raise ValueError(
                "svd: subset_by_index chooses among the singular values; use it with "
                "full_matrices=False."
            )
        first, end = index_range("svd", subset_by_index, typeof(s).shape[-1])
        s = lax.slice_in_dim(s, first, end, axis=-1)
        vectors = [
            lax.slice_in_dim(v, first, end, axis=axis)
            for v, axis in zip(vectors, (-1, -2), strict=False)
        ]
    return (vectors[0], s, vectors[1]) if compute_uv else s


def _svd_type(x: ShapedArray, *, full_matrices: bool, compute_uv: bool) -> list[ShapedArray]:
    m.check_matrix("svd", x)
    *lead, rows, columns = x.shape
    k = min(rows, columns)
    s = m.real_aval(x, (*lead, k))
    if not compute_uv:
        return [s]
    u = ShapedArray((*lead, rows, rows if full_matrices else k), x.dtype)
    return [s, u, ShapedArray((*lead, columns if full_matrices else k, columns), x.dtype)]


def _svd_impl(x: NumPyArray, *, full_matrices: bool, compute_uv: bool) -> list[NumPyArray]:
    def run(a: NumPyArray) -> list[Any]:
        if not compute_uv:
            return [np.linalg.svd(a, compute_uv=False)]
        u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
        return [s, u, vh]

    return m.for_each_good(run, x)


def _svd_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, full_matrices: bool, compute_uv: bool
) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    outs = svd_p.bind(x, full_matrices=full_matrices, compute_uv=compute_uv)
    rows, columns = typeof(x).shape[-2:]
    k = min(rows, columns)
    if compute_uv:
        s, u, vh = outs[0], m.resized(outs[1], rows, k), m.resized(outs[2], k, columns)
    else:
        s, u, vh = svd_p.bind(x, full_matrices=False, compute_uv=True)
    v = m.adjoint(vh)
    both = m.matmul(m.adjoint(u), t, v)
    ds = m.real_part(m.diagonal(both))
    if not compute_uv:
        return outs, [ds]
    du, dv = _vector_tangents(t, s, u, v, both)
    # What turns a column out of its span turns the added columns into it.
    du, dv = _extended(outs[1], u, du), _extended(m.adjoint(outs[2]), v, dv)
    return outs, [ds, du, m.adjoint(dv)]


def _vector_tangents(t: Any, s: Any, u: Any, v: Any, both: Any) -> tuple[Any, Any]:
    """Tangents of U and V, from ``both = U^H dA V = U^H dU S + dS + S (V^H dV)^H``."""
    differences = gaps_of(s)
    shape = typeof(differences).shape
    sums = m.add(m.across_rows(s, shape), m.along_rows(s, shape))
    # 1 / (s_j^2 - s_i^2); the product is more precise than the difference of squares.
    gaps = m.cast(inverse_gaps(m.mul(differences, sums)), both)
    turned = m.adjoint(both)
    in_u = m.mul(gaps, m.add(m.scale_columns(both, s), m.scale_rows(turned, s)))
    in_v = m.mul(gaps, m.add(m.scale_rows(both, s), m.scale_columns(turned, s)))
    inverse = _inverse(s)
    if dtypes.is_complex(typeof(both).dtype):
        phases = m.scaled(m.sub(both, turned), 0.5)  # imaginary on the diagonal
        phases = m.with_diagonal(m.filled(typeof(phases), 0), m.diagonal(phases))
        in_u = m.add(in_u, m.scale_columns(phases, inverse))
    du, dv = m.matmul(u, in_u), m.matmul(v, in_v)
    rows, columns = typeof(t).shape[-2:]
    if rows > columns:
        outside = m.sub(m.matmul(t, v), m.matmul(u, both))
        du = m.add(du, m.scale_columns(outside, inverse))
    if columns > rows:
        outside = m.sub(m.matmul(m.adjoint(t), u), m.matmul(v, turned))
        dv = m.add(dv, m.scale_columns(outside, inverse))
    return du, dv


def _inverse(s: Any) -> Any:
    """``1 / s``, and 0 where s is 0."""
    zero, one = m.filled(typeof(s), 0), m.filled(typeof(s), 1)
    none = lax.eq_p.bind(s, zero)
    return lax.select_n_p.bind(none, lax.div_p.bind(one, lax.select_n_p.bind(none, s, one)), zero)


def _extended(full: Any, part: Any, tangent: Any) -> Any:
    size, have = typeof(full).shape[-1], typeof(part).shape[-1]
    if size == have:
        return tangent
    added = lax.slice_in_dim(full, have, size, axis=-1)
    change = lax.neg_p.bind(m.matmul(part, m.adjoint(tangent), added))
    return lax.concatenate_p.bind(tangent, change, dimension=typeof(full).ndim - 1)


def _svd_lowering(
    ctx: LoweringContext, x: Any, *, full_matrices: bool, compute_uv: bool
) -> list[Any]:
    (aval,) = ctx.avals_in
    every = _svd_type(aval, full_matrices=full_matrices or not compute_uv, compute_uv=True)
    mode = ("A" if full_matrices else "S") if compute_uv else "N"
    options, kept = {"mode": _lapack.flag(mode)}, slice(1, 4 if compute_uv else 2)
    return _lapack.checked_call(ctx, "gesdd", [x], [aval, *every], options, kept)


svd_p: Primitive = primitive(
    "svd",
    rules.abstract_eval(_svd_type),
    rules.jvp(_svd_jvp),
    _lapack.lapack_rules(_svd_impl, _svd_lowering),
    batched(2),
    multiple_results=True,
)
