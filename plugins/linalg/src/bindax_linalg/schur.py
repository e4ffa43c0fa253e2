"""The Schur decomposition of square matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Array, LoweringContext, Primitive, ShapedArray, primitive, rules
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import NumPyArray, batched
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg._householder import product_array
from bindax_linalg._qr_algorithm import schur_of_hessenberg
from bindax_linalg.condensed_forms import hessenberg_array

__all__ = ["schur", "schur_p"]


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Array]:
    """The Schur decomposition ``x = Q T Q^H``.

    Args:
        x: matrices, of shape ``[..., n, n]``.
        compute_schur_vectors: whether to compute Q.
        sort_eig_vals: has no effect, as in JAX: eigenvalues are in the order of the algorithm.
        select_callable: has no effect either.

    Returns:
        ``[t, q]``, or ``[t]``: T upper triangular, where ``x`` is real with blocks of size 2 on
        the diagonal for pairs of complex eigenvalues; and Q unitary. They are not unique.

    There is no derivative.

    >>> t, q = schur(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> t
    Array([[1., 2.],
           [0., 3.]], dtype=float64)
    """
    return schur_p.bind(x, compute_schur_vectors=bool(compute_schur_vectors))


def _schur_type(x: ShapedArray, *, compute_schur_vectors: bool) -> list[ShapedArray]:
    m.check_matrix("schur", x, square=True)
    return [x.update(weak_type=False)] * (1 + compute_schur_vectors)


def _schur_impl(x: NumPyArray, *, compute_schur_vectors: bool) -> list[NumPyArray]:
    """Reduction to Hessenberg form for all matrices at once, then a loop over the matrices."""
    *lead, n, _ = x.shape
    a = x.reshape(int(np.prod(lead)), n, n)
    a = a.astype(np.complex128 if dtypes.is_complex(x.dtype) else np.float64)
    packed, taus = hessenberg_array(a)
    h, q = np.triu(packed, -1), np.zeros_like(packed)
    if n:
        q[:, 0, 0] = 1
        q[:, 1:, 1:] = product_array(packed[:, 1:, :-1], taus)
    for t, z in zip(h, q, strict=True):
        try:
            schur_of_hessenberg(t, z)
        except np.linalg.LinAlgError:
            t[...] = z[...] = m.nan_of(t.dtype)
    outs = [h, q] if compute_schur_vectors else [h]
    return [out.reshape(x.shape).astype(x.dtype) for out in outs]


def _schur_lowering(ctx: LoweringContext, x: Any, *, compute_schur_vectors: bool) -> list[Any]:
    (aval,) = ctx.avals_in
    values = aval.update(shape=aval.shape[:-1])
    eigenvalues = [values] if dtypes.is_complex(aval.dtype) else [values, values]
    selected = ShapedArray(aval.shape[:-2], m.INT32)
    results = [aval, aval, *eigenvalues, selected]
    mode = "V" if compute_schur_vectors else "N"
    options = {"mode": _lapack.flag(mode), "sort": _lapack.flag("N")}
    kept = slice(len(ctx.avals_out))
    return _lapack.checked_call(ctx, "gees", [x], results, options, kept)


schur_p: Primitive = primitive(
    "schur",
    rules.abstract_eval(_schur_type),
    rules.jvp.absent(
        "Schur vectors are not unique, and JAX has none either; differentiate what is computed "
        "from the form, such as eigenvalues, instead"
    ),
    _lapack.lapack_rules(_schur_impl, _schur_lowering, slow=True),
    batched(2),
    multiple_results=True,
)
