"""Eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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
from bindax_lax_basic import div_p, slice_in_dim
from bindax_lax_basic.extend import NumPyArray, batched, static_ints
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg.implementations import EighImplementation, require_served

__all__ = ["eigh", "eigh_p"]


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
        x: Hermitian matrices, of shape ``[..., n, n]``; with ``symmetrize_input`` of integers,
            too.
        lower: which triangle is read where ``symmetrize_input`` is false.
        symmetrize_input: whether to take the Hermitian part of ``x`` first.
        sort_eigenvalues: whether eigenvalues must be in ascending order; they always are.
        subset_by_index: the first and the end of the range of eigenvalues to return.
        implementation: None or ``EighImplementation.QR``.

    Returns:
        ``(v, w)``: orthonormal eigenvectors, in columns, of the dtype of ``x``, and their
        eigenvalues, real.

    The derivative follows M. Giles, "Collected matrix derivative results for forward and reverse
    mode algorithmic differentiation", 2008, section 3.1. Eigenvectors have none where eigenvalues
    are equal: it is infinite or NaN there. Complex eigenvectors are determined up to phases; their
    derivatives are orthogonal to them.

    >>> v, w = eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> w
    Array([1., 2.], dtype=float64)
    """
    served = (EighImplementation.QR,)
    require_served("eigh", "implementation", implementation, served, NotImplementedError)
    v, w = eigh_p.bind(
        m.hermitian_part("eigh", x, symmetrize_input),
        lower=bool(lower),
        sort_eigenvalues=bool(sort_eigenvalues),
    )
    if subset_by_index is None:
        return v, w
    first, end = index_range("eigh", subset_by_index, typeof(w).shape[-1])
    return slice_in_dim(v, first, end, axis=-1), slice_in_dim(w, first, end, axis=-1)


def index_range(name: str, values: Any, size: int) -> tuple[int, int]:
    """The argument ``subset_by_index``, checked."""
    found = static_ints(name, "subset_by_index", values)
    if len(found) != 2 or not 0 <= found[0] <= found[1] <= size:
        raise ValueError(
            f"{name}: subset_by_index must be a pair (first, end) with 0 <= first <= end <= "
            f"{size}, but is {values!r}."
        )
    return found[0], found[1]


def _eigh_type(x: ShapedArray, *, lower: bool, sort_eigenvalues: bool) -> list[ShapedArray]:
    m.check_matrix("eigh", x, square=True)
    return [x.update(weak_type=False), m.real_aval(x, x.shape[:-1])]


def _eigh_impl(x: NumPyArray, *, lower: bool, sort_eigenvalues: bool) -> list[NumPyArray]:
    triangle: Literal["L", "U"] = "L" if lower else "U"

    def run(a: NumPyArray) -> list[NumPyArray]:
        found = np.linalg.eigh(a, UPLO=triangle)
        return [found.eigenvectors, found.eigenvalues]

    return m.for_each_good(run, x)


def _eigh_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    v, w = outs = eigh_p.bind(x, **params)
    both = m.matmul(m.adjoint(v), m.mirrored(t, lower=params["lower"]), v)
    change = m.mul(both, m.cast(inverse_gaps(gaps_of(w)), both))
    return outs, [m.matmul(v, change), m.real_part(m.diagonal(both))]


def gaps_of(w: Any) -> Any:
    """Matrices of ``w[j] - w[i]``."""
    shape = (*typeof(w).shape, typeof(w).shape[-1])
    return m.sub(m.across_rows(w, shape), m.along_rows(w, shape))


def inverse_gaps(gaps: Any) -> Any:
    """Matrices of ``1 / gaps``, with zeros on the diagonal whatever stands there."""
    aval = typeof(gaps)
    vector = aval.update(shape=aval.shape[:-1])
    divisible = m.with_diagonal(gaps, m.filled(vector, 1))
    return m.with_diagonal(div_p.bind(m.filled(aval, 1), divisible), m.filled(vector, 0))


def _eigh_lowering(
    ctx: LoweringContext, x: Any, *, lower: bool, sort_eigenvalues: bool
) -> list[Any]:
    options = {"mode": _lapack.flag("V"), "uplo": _lapack.flag("L" if lower else "U")}
    return _lapack.checked_call(ctx, "syevd|heevd", [x], ctx.avals_out, options)


eigh_p: Primitive = primitive(
    "eigh",
    rules.abstract_eval(_eigh_type),
    rules.jvp(_eigh_jvp),
    _lapack.lapack_rules(_eigh_impl, _eigh_lowering),
    batched(2),
    multiple_results=True,
)
