"""Eigenvalues and eigenvectors of general matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import NumPyArray, batched
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg.eigh import gaps_of, inverse_gaps
from bindax_linalg.implementations import EigImplementation, require_served
from bindax_linalg.lu import solve

__all__ = ["eig", "eig_p"]


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
) -> list[Array]:
    """Eigenvalues and eigenvectors of general matrices.

    Args:
        x: matrices, of shape ``[..., n, n]``.
        compute_left_eigenvectors: whether to compute the left eigenvectors.
        compute_right_eigenvectors: whether to compute the right eigenvectors.
        enable_eigvec_derivs: whether eigenvectors can be differentiated. That is right only where
            all eigenvalues are distinct and each eigenvector has one component that is largest,
            which is for the caller to know; eigenvalues can be differentiated always.
        implementation: None or ``EigImplementation.LAPACK``.

    Returns:
        ``[w, vl, vr]``, without those that are not computed, all complex: eigenvalues; columns
        with ``vl^H x = w vl^H``; and columns with ``x vr = vr w``. Eigenvectors have length 1, and
        their largest component is real.

    The derivatives follow M. Giles, "Collected matrix derivative results for forward and reverse
    mode algorithmic differentiation", 2008, section 3.1, with that normalisation.

    >>> w, vr = eig(np.array([[1.0, 1.0], [0.0, 2.0]]), compute_left_eigenvectors=False)
    >>> w
    Array([1.+0.j, 2.+0.j], dtype=complex128)
    """
    served = (EigImplementation.LAPACK,)
    require_served("eig", "implementation", implementation, served, ValueError)
    return eig_p.bind(
        x,
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
        enable_eigvec_derivs=bool(enable_eigvec_derivs),
    )


def _complex(dtype: Any) -> Any:
    return dtype if dtypes.is_complex(dtype) else dtypes.complex_dtype(dtype)


def _wanted(params: dict[str, bool]) -> tuple[bool, bool]:
    """Flags for left and right eigenvectors."""
    return params["compute_left_eigenvectors"], params["compute_right_eigenvectors"]


def _eig_type(x: ShapedArray, **params: bool) -> list[ShapedArray]:
    m.check_matrix("eig", x, square=True)
    vectors = ShapedArray(x.shape, _complex(x.dtype))
    return [vectors.update(shape=x.shape[:-1]), *[vectors] * sum(_wanted(params))]


def _eig_impl(x: NumPyArray, **params: bool) -> list[NumPyArray]:
    dtype = _complex(x.dtype)
    wants_left, wants_right = _wanted(params)

    def run(a: NumPyArray) -> list[Any]:
        if not np.isfinite(a).all():
            raise np.linalg.LinAlgError
        w, right = np.linalg.eig(a)
        outs = [w]
        if wants_left:
            outs.append(_left_vectors(right.astype(dtype), w if a.dtype.kind == "f" else None))
        if wants_right:
            outs.append(right)
        return [out.astype(dtype) for out in outs]

    return m.for_each_good(run, x)


def _left_vectors(right: NumPyArray, w: NumPyArray | None) -> NumPyArray:
    """The rows of the inverse, conjugated, with length 1 and their largest component real.

    LAPACK chooses signs so that the product of a left and a right eigenvector is positive, where
    both are real: for the real eigenvalues among ``w`` of a real matrix.
    """
    left = np.linalg.inv(right).conj().swapaxes(-1, -2)
    left = left / np.linalg.norm(left, axis=-2, keepdims=True)
    if not left.size:
        return left
    place = np.argmax(np.abs(left), axis=-2)[..., None, :]
    largest = np.take_along_axis(left, place, axis=-2)
    turned = left * (largest.conj() / np.abs(largest))
    return turned if w is None else np.where((w.imag == 0)[..., None, :], left.real, turned)


def _eig_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: bool) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    outs = eig_p.bind(x, **params)
    wants_left, wants_right = _wanted(params)
    if len(outs) > 1 and not params["enable_eigvec_derivs"]:
        raise ValueError(
            "eig: eigenvectors of a general matrix have a derivative only where its eigenvalues "
            "are distinct and each eigenvector has one largest component. If that is so, pass "
            "enable_eigvec_derivs=True; if only eigenvalues are needed, pass "
            "compute_left_eigenvectors=False and compute_right_eigenvectors=False."
        )
    w, right = outs[0], outs[-1]
    if not wants_right:
        # The eigenvalues' derivative does not depend on how eigenvectors are normalised.
        _, right = eig(x, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    t = m.cast(t, w)
    both = solve(right, m.matmul(t, right))
    found = [m.diagonal(both)]
    if wants_left:
        left = outs[1]
        turned = solve(left, m.matmul(m.adjoint(t), left))
        found.append(_vector_tangent(left, m.conjugated(w), turned))
    if wants_right:
        found.append(_vector_tangent(right, w, both))
    return outs, found


def _vector_tangent(v: Any, w: Any, both: Any) -> Any:
    """The tangent of eigenvectors, from ``both = V^-1 dA V``, as their normalisation wants it."""
    free = m.matmul(v, m.mul(both, inverse_gaps(gaps_of(w))))
    # Adding multiples of the eigenvectors keeps their length, and the largest component real.
    products = lax.real(m.mul(m.conjugated(v), free))
    along = lax.reduce_sum_p.bind(products, axes=(typeof(v).ndim - 2,))
    index = lax.argmax(lax.abs_p.bind(v), typeof(v).ndim - 2, "int32")
    places = lax.iota_p.bind(dtype=m.INT32, shape=typeof(v).shape, dimension=typeof(v).ndim - 2)
    here = lax.eq_p.bind(places, m.across_rows(index, typeof(v).shape))
    parts = [m.sum_where(here, f(x), 2) for f, x in ((lax.imag, free), (lax.real, v))]
    turn = lax.div_p.bind(*parts)
    return m.sub(free, m.scale_columns(v, lax.complex_p.bind(along, turn)))


def _eig_lowering(ctx: LoweringContext, x: Any, **params: bool) -> list[Any]:
    (aval,) = ctx.avals_in
    values = ctx.avals_out[0]
    vectors = ShapedArray(aval.shape, values.dtype)
    is_real = not dtypes.is_complex(aval.dtype)
    parts = [m.real_aval(aval, values.shape)] * 2 if is_real else [values]
    results = [*parts, vectors, vectors, ShapedArray(aval.shape[:-2], m.INT32)]
    wanted = _wanted(params)
    options = {
        name: _lapack.flag("V" if want else "N")
        for name, want in zip(("compute_left", "compute_right"), wanted, strict=True)
    }
    found = _lapack.call(ctx, "geev", [x], results, options)
    if is_real:
        found[:2] = ctx.op("stablehlo.complex", found[:2], [values])
    w, left, right, info = found
    kept = [v for v, want in zip((left, right), wanted, strict=True) if want]
    return _lapack.finish(ctx, [w, *kept, info], [*ctx.avals_out, results[-1]])


eig_p: Primitive = primitive(
    "eig",
    rules.abstract_eval(_eig_type),
    rules.jvp(_eig_jvp),
    _lapack.lapack_rules(_eig_impl, _eig_lowering),
    batched(2),
    multiple_results=True,
)
