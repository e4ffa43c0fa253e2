"""Linear systems with triangular matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes, expand_dims, neg_p, squeeze
from bindax_lax_basic.extend import NumPyArray, adopt_dtype, batched, describe, zero_tangent
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_transforms.zeros import UndefPrimal, Zero

__all__ = ["triangular_solve", "triangular_solve_p"]


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """Solve linear systems with triangular matrices.

    Args:
        a: triangular matrices, of shape ``[..., m, m]``; the other triangle is not read.
        b: the right-hand sides, of shape ``[..., m, n]`` where ``left_side``, else
            ``[..., n, m]``; or one vector for each matrix, of shape ``[..., m]``.
        left_side: whether to solve ``op(a) x = b`` rather than ``x op(a) = b``.
        lower: which triangle of ``a`` is used.
        transpose_a: whether ``op`` transposes.
        conjugate_a: whether ``op`` conjugates.
        unit_diagonal: whether the diagonal is taken to be 1, whatever ``a`` has there.

    Returns:
        The solutions, of the shape of ``b``; infinite or NaN where ``a`` is singular.

    The derivative follows M. Giles, "Collected matrix derivative results for forward and reverse
    mode algorithmic differentiation", 2008, section 2.3.1.

    >>> import numpy as np
    >>> a = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> triangular_solve(a, np.array([[2.0], [3.0]]), left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float64)
    """
    a, b = adopt_dtype(a, b)
    how = {
        "left_side": bool(left_side),
        "lower": bool(lower),
        "transpose_a": bool(transpose_a),
        "conjugate_a": bool(conjugate_a),
        "unit_diagonal": bool(unit_diagonal),
    }
    if m.are_narrow(a, b) and typeof(a).dtype == typeof(b).dtype:
        return m.widened(triangular_solve, a, b, **how)
    one_vector = typeof(b).ndim == typeof(a).ndim - 1
    if one_vector:
        n = typeof(b).ndim
        b = expand_dims(b, (n if left_side else n - 1,))
    out = triangular_solve_p.bind(a, b, **how)
    if one_vector:
        return squeeze(out, (typeof(out).ndim - (1 if left_side else 2),))
    return out


def _solve_type(a: ShapedArray, b: ShapedArray, *, left_side: bool, **params: Any) -> ShapedArray:
    m.check_matrix("triangular_solve", a, square=True)
    m.check_dtype("triangular_solve", a, b)
    if b.ndim != a.ndim or b.shape[:-2] != a.shape[:-2]:
        raise ValueError(
            f"triangular_solve: matrices and right-hand sides need equal leading axes, but got "
            f"{describe((a, b))}."
        )
    size = b.shape[-2 if left_side else -1]
    if size != a.shape[-1]:
        raise ValueError(
            f"triangular_solve: the right-hand side {b.str_short()} has {size} "
            f"{'rows' if left_side else 'columns'}, but the matrix {a.str_short()} has "
            f"{a.shape[-1]}."
        )
    return b.update(weak_type=False)


_BLOCK = 32


def solve_array(
    a: NumPyArray,
    b: NumPyArray,
    *,
    left_side: bool,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """Substitution in blocks: products of matrices between blocks, columns within one."""
    if not left_side:  # x op(a) = b is op(a)^T x^T = b^T
        b, transpose_a = b.swapaxes(-1, -2), not transpose_a
    if transpose_a:
        a, lower = a.swapaxes(-1, -2), not lower
    if conjugate_a:
        a = a.conj()
    if not lower:  # reversing rows and columns makes an upper triangle a lower one
        a, b = a[..., ::-1, ::-1], b[..., ::-1, :]
    x = b.copy()
    n = a.shape[-1]
    for start in range(0, n, _BLOCK):
        stop = min(n, start + _BLOCK)
        for i in range(start, stop):
            row = x[..., i : i + 1, :]
            row -= a[..., i : i + 1, start:i] @ x[..., start:i, :]
            if not unit_diagonal:
                row /= a[..., i, i][..., None, None]
        x[..., stop:, :] -= a[..., stop:, start:stop] @ x[..., start:stop, :]
    if not lower:
        x = x[..., ::-1, :]
    return x if left_side else x.swapaxes(-1, -2)


def _solve_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (a, b), (ta, tb) = primals, tangents
    out = triangular_solve_p.bind(a, b, **params)
    right = tb
    if type(ta) is not Zero:
        # op(a) dx = db - op(da) x, with the triangle of da alone.
        k = 1 if params["unit_diagonal"] else 0
        da = m.lower_part(ta, -k) if params["lower"] else m.upper_part(ta, k)
        da = m.transposed(da) if params["transpose_a"] else da
        da = m.conjugated(da) if params["conjugate_a"] else da
        change = m.matmul(da, out) if params["left_side"] else m.matmul(out, da)
        right = neg_p.bind(change) if type(tb) is Zero else m.sub(tb, change)
    if type(right) is Zero:
        return out, zero_tangent(out)
    return out, triangular_solve_p.bind(a, right, **params)


def _solve_transpose(ct: Any, a: Any, b: Any, *, transpose_a: bool, **params: Any) -> list[Any]:
    if type(a) is UndefPrimal:
        raise TypeError("triangular_solve is linear in the right-hand side, not in the matrix.")
    return [None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)]


def _operation(
    ctx: LoweringContext, a: Any, transpose_a: bool, conjugate_a: bool
) -> tuple[Any, str]:
    """The matrix, conjugated where it is not transposed too, and what is left to do to it."""
    aval = ctx.avals_in[0]
    conjugate_a = conjugate_a and dtypes.is_complex(aval.dtype)
    if conjugate_a and not transpose_a:
        (a,) = ctx.op("chlo.conj", [a], [aval])
    return a, ("ADJOINT" if conjugate_a else "TRANSPOSE") if transpose_a else "NO_TRANSPOSE"


_LETTERS = {"NO_TRANSPOSE": "N", "TRANSPOSE": "T", "ADJOINT": "C"}


def _solve_lowering(
    ctx: LoweringContext, a: Any, b: Any, *, transpose_a: bool, conjugate_a: bool, **flags: bool
) -> Any:
    a, name = _operation(ctx, a, transpose_a, conjugate_a)
    options = {
        "diag": _lapack.flag("U" if flags["unit_diagonal"] else "N"),
        "side": _lapack.flag("L" if flags["left_side"] else "R"),
        "trans_x": _lapack.flag(_LETTERS[name]),
        "uplo": _lapack.flag("L" if flags["lower"] else "U"),
    }
    return _lapack.call(ctx, "trsm", [a, b], ctx.avals_out, options)[0]


def _generic_lowering(
    ctx: LoweringContext, a: Any, b: Any, *, transpose_a: bool, conjugate_a: bool, **flags: bool
) -> Any:
    a, name = _operation(ctx, a, transpose_a, conjugate_a)
    attributes = {key: "true" if value else "false" for key, value in flags.items()}
    attributes["transpose_a"] = f"#stablehlo<transpose {name}>"
    return ctx.op("stablehlo.triangular_solve", [a, b], attributes=attributes)[0]


triangular_solve_p: Primitive = primitive(
    "triangular_solve",
    rules.abstract_eval(_solve_type),
    rules.jvp(_solve_jvp, symbolic_zeros=True),
    _lapack.lapack_rules(
        solve_array, _solve_lowering, generic=_generic_lowering, transpose=_solve_transpose
    ),
    batched(2, 2),
)
