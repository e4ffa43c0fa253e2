"""Linear systems with tridiagonal matrices."""

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
from bindax_lax_basic import neg_p, pad_p
from bindax_lax_basic.extend import (
    NumPyArray,
    adopt_dtype,
    batched,
    constant,
    describe,
    zero_tangent,
)
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_transforms.zeros import UndefPrimal, Zero

__all__ = ["tridiagonal_solve", "tridiagonal_solve_p"]


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Array:
    """Solve linear systems with tridiagonal matrices, by elimination with pivoting.

    Args:
        dl: what is below the diagonals, of shape ``[..., m]``: element i stands in row i, so that
            the first one is not read.
        d: the diagonals, of shape ``[..., m]``.
        du: what is above the diagonals, of shape ``[..., m]``; the last element is not read.
        b: the right-hand sides, of shape ``[..., m, n]``.
        perturb_singular: whether pivots that are 0 are replaced by the rounding error of the
            largest element of the triangular factor, so that solutions are large but finite. It is
            evaluated on the host.

    Returns:
        The solutions, of the shape of ``b``; NaN for a singular matrix that is not perturbed.

    >>> d, off, b = np.array([2.0, 2.0]), np.array([0.0, 1.0]), np.array([[2.0], [3.0]])
    >>> tridiagonal_solve(off, d, np.zeros(2), b)
    Array([[1.],
           [1.]], dtype=float64)
    """
    operands = adopt_dtype(dl, d, du, b)
    return tridiagonal_solve_p.bind(*operands, perturb_singular=bool(perturb_singular))


def _solve_type(
    dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray, *, perturb_singular: bool
) -> ShapedArray:
    m.check_dtype("tridiagonal_solve", dl, d, du, b)
    if d.ndim < 1 or not (dl.shape == d.shape == du.shape == b.shape[:-1]):
        raise ValueError(
            f"tridiagonal_solve takes three diagonals of shape [..., m] and right-hand sides of "
            f"shape [..., m, n], but got {describe((dl, d, du, b))}."
        )
    return b.update(weak_type=False)


def _solve_impl(
    dl: NumPyArray, d: NumPyArray, du: NumPyArray, b: NumPyArray, *, perturb_singular: bool
) -> Any:
    """Rows are exchanged where that makes the pivot larger; one more diagonal fills up."""
    n = d.shape[-1]
    d, du, x = d.copy(), du.copy(), b.copy()
    far = np.zeros_like(d)  # the second diagonal above
    for i in range(n - 1):
        low, pivot = dl[..., i + 1].copy(), d[..., i].copy()
        swap = np.abs(pivot.real) + np.abs(pivot.imag) < np.abs(low.real) + np.abs(low.imag)
        head, other = np.where(swap, low, pivot), np.where(swap, pivot, low)
        factor = other / np.where(head == 0, 1, head)  # both are 0 where one is
        above, below = du[..., i].copy(), d[..., i + 1].copy()
        next_above = du[..., i + 1].copy() if i + 2 < n else np.zeros_like(head)
        d[..., i], du[..., i] = head, np.where(swap, below, above)
        far[..., i] = np.where(swap, next_above, 0)
        d[..., i + 1] = np.where(swap, above - factor * below, below - factor * above)
        if i + 2 < n:
            du[..., i + 1] = np.where(swap, -factor * next_above, next_above)
        upper, lower = x[..., i, :].copy(), x[..., i + 1, :].copy()
        first = np.where(swap[..., None], lower, upper)
        x[..., i, :] = first
        x[..., i + 1, :] = np.where(swap[..., None], upper, lower) - factor[..., None] * first
    failed = (d == 0).any(-1)
    if perturb_singular:
        d = _without_zeros(d, du[..., :-1], far)
    for i in range(n - 1, -1, -1):
        if i + 1 < n:
            x[..., i, :] -= du[..., i, None] * x[..., i + 1, :]
        if i + 2 < n:
            x[..., i, :] -= far[..., i, None] * x[..., i + 2, :]
        x[..., i, :] /= d[..., i, None]
    if not perturb_singular:
        x[failed] = m.nan_of(x.dtype)
    return x


def _without_zeros(d: NumPyArray, *others: NumPyArray) -> NumPyArray:
    """The pivots, the zeros among them of the size of rounding errors of the factor."""
    info = np.finfo(d.dtype)
    largest = np.abs(np.concatenate([d, *others], -1)).max(-1, initial=0, keepdims=True)
    return np.where(d == 0, np.maximum(info.eps * largest, info.tiny), d).astype(d.dtype)


def _shifted(x: Any, by: int, axis: int) -> Any:
    """An array moved along an axis, with zeros coming in."""
    config = [(0, 0, 0)] * typeof(x).ndim
    config[axis] = (by, -by, 0)
    return pad_p.bind(x, constant(0, x), padding_config=tuple(config))


def _solve_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, perturb_singular: bool
) -> tuple[Any, Any]:
    *diagonals, b = primals
    out = tridiagonal_solve_p.bind(*diagonals, b, perturb_singular=perturb_singular)
    total = tangents[3]
    axis = typeof(out).ndim - 2
    # A dx = db - dA x, with dA x summed over the diagonals.
    for t, by in zip(tangents[:3], (1, 0, -1), strict=True):
        if type(t) is not Zero:
            moved = _shifted(out, by, axis) if by else out
            term = m.scale_rows(moved, t)
            total = neg_p.bind(term) if type(total) is Zero else m.sub(total, term)
    if type(total) is Zero:
        return out, zero_tangent(out)
    return out, tridiagonal_solve_p.bind(*diagonals, total, perturb_singular=perturb_singular)


def _solve_transpose(
    ct: Any, dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool
) -> list[Any]:
    if any(type(x) is UndefPrimal for x in (dl, d, du)):
        raise TypeError("tridiagonal_solve is linear in the right-hand side, not in the matrix.")
    axis = typeof(d).ndim - 1
    diagonals = _shifted(du, 1, axis), d, _shifted(dl, -1, axis)
    out = tridiagonal_solve_p.bind(*diagonals, ct, perturb_singular=perturb_singular)
    return [None, None, None, out]


def _solve_lowering(ctx: LoweringContext, *values: Any, perturb_singular: bool) -> Any:
    if perturb_singular:
        return _lapack.on_host(ctx, _solve_impl, values, {"perturb_singular": True}, single=True)
    return _lapack.checked_call(ctx, "gtsv", values, ctx.avals_in, {}, slice(3, 4))[0]


tridiagonal_solve_p: Primitive = primitive(
    "tridiagonal_solve",
    rules.abstract_eval(_solve_type),
    rules.jvp(_solve_jvp, symbolic_zeros=True),
    _lapack.lapack_rules(_solve_impl, _solve_lowering, transpose=_solve_transpose, slow=True),
    batched(1, 1, 1, 2),
)
