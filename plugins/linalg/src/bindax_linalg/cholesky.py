"""The Cholesky decomposition ``A = L L^H`` of positive definite matrices."""

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
from bindax_lax_basic.extend import NumPyArray, batched, inlined
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg.triangular_solve import triangular_solve

__all__ = ["cholesky", "cholesky_p"]


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Array:
    """The Cholesky decomposition of positive definite matrices.

    Args:
        x: Hermitian matrices, of shape ``[..., n, n]``; with ``symmetrize_input`` of integers,
            too.
        symmetrize_input: whether to take the Hermitian part of ``x`` first; otherwise only its
            lower triangle is read.

    Returns:
        The lower triangular ``L`` with ``x = L L^H``; NaN for a matrix that is not positive
        definite.

    The derivative follows I. Murray, "Differentiation of the Cholesky decomposition", 2016.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float64)
    """
    return cholesky_p.bind(m.hermitian_part("cholesky", x, symmetrize_input))


def _cholesky_type(x: ShapedArray) -> ShapedArray:
    m.check_matrix("cholesky", x, square=True)
    return x.update(weak_type=False)


def _cholesky_impl(x: NumPyArray) -> Any:
    (out,) = m.for_each_good(lambda a: [np.linalg.cholesky(a)], x)
    failed = np.isnan(out).any(axis=(-2, -1), keepdims=True)
    return np.where(failed, np.tril(np.full_like(out, np.nan)), out)


def _cholesky_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = cholesky_p.bind(x)
    # L^-1 dL + (L^-1 dL)^H = L^-1 dA L^-H, and the first term is lower triangular.
    t = m.mirrored(t, lower=True)
    right = triangular_solve(out, t, lower=True, transpose_a=True, conjugate_a=True)
    both = triangular_solve(out, right, left_side=True, lower=True)
    half = m.lower_part(both)
    main = m.with_diagonal(m.filled(typeof(both), 0), m.diagonal(both))
    return out, m.matmul(out, m.sub(half, m.scaled(main, 0.5)))


def _cholesky_lowering(ctx: LoweringContext, x: Any) -> Any:
    (aval,) = ctx.avals_in
    results = [aval, ShapedArray(aval.shape[:-2], m.INT32)]
    found = _lapack.call(ctx, "potrf", [x], results, {"uplo": _lapack.flag("L")})
    finish = lambda out, info: [m.lower_part(m.nan_unless(m.succeeded(info), out))]  # noqa: E731
    return inlined(ctx, finish, found, results)[0]


def _generic_lowering(ctx: LoweringContext, x: Any) -> Any:
    (out,) = ctx.op("stablehlo.cholesky", [x], attributes={"lower": "true"})
    return inlined(ctx, lambda v: [m.lower_part(v)], [out], ctx.avals_out)[0]


cholesky_p: Primitive = primitive(
    "cholesky",
    rules.abstract_eval(_cholesky_type),
    rules.jvp(_cholesky_jvp),
    _lapack.lapack_rules(_cholesky_impl, _cholesky_lowering, generic=_generic_lowering),
    batched(2),
)
