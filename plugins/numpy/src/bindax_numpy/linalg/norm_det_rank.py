"""Numbers that say something about a matrix: norms, determinants, rank and condition."""

from __future__ import annotations

import builtins
import math
from typing import Any, NamedTuple

import numpy as np

import bindax_control_flow as control_flow
import bindax_lax_basic as lax
import bindax_linalg as lax_linalg
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axes_argument, convert
from bindax_numpy._operands import constant, listed_axes, strong_operand
from bindax_numpy.arithmetic import absolute, absolute_squares, conj, sign
from bindax_numpy.comparison import isnan, where
from bindax_numpy.concatenate import concatenate
from bindax_numpy.exp_log_trigonometry import root
from bindax_numpy.indexing import diagonal
from bindax_numpy.linalg._matrices import matrix_operand, rounding
from bindax_numpy.linalg.decompositions import svdvals
from bindax_numpy.linalg.solve import inv
from bindax_numpy.reductions import all, any, count_nonzero, max, min, prod, sum
from bindax_numpy.reshaping import as_last_axis, expand_dims, moveaxis, squeeze, swapaxes
from bindax_transforms import custom_jvp


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The norm of a vector or matrix.

    Args:
        x: an array.
        ord: of vectors a number p (the p-norm; 0 counts elements that are not zero, infinity is
            the largest absolute value), of matrices "fro", 1, -1, inf, -inf, and by singular
            values 2, -2 or "nuc", the largest, the least and their sum; by default the square root
            of the sum of squares.
        axis: the axis of the vectors, or two axes of the matrices. By default ``x`` is one vector
            or matrix, or any array when ``ord`` is not given.
        keepdims: whether the axes stay, with size 1.

    The derivative of a root of squares at zeros is zero.

    Raises:
        ValueError: for norms that there are not.

    >>> jnp.linalg.norm(jnp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    operand = strong_operand("norm", x)
    aval = typeof(operand)
    operand = convert(operand, dtypes.inexact_dtype(aval.dtype), False)
    if axis is None:
        axes = tuple(range(aval.ndim))
        if ord is not None and aval.ndim not in (1, 2):
            raise ValueError(
                f"norm of order {ord!r} is that of a vector or matrix, but the array is "
                f"{aval.str_short()}; name one or two axes."
            )
    else:
        axes = listed_axes("norm", axis, aval.ndim)
        if len(axes) not in (1, 2) or len(set(axes)) < len(axes):
            raise ValueError(f"norm: axis must name one axis or two, but it is {axis}.")
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return root(sum(absolute_squares(operand), axes, keepdims=keepdims))
    if len(axes) == 1:
        return _vector_norm(operand, ord, axes[0], keepdims)
    return _matrix_norm(operand, ord, (axes[0], axes[1]), keepdims)


def _vector_norm(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    size = lax.abs(x)
    if isinstance(ord, str):
        raise ValueError(f"norm: {ord!r} is no norm of vectors; give a number, or two axes.")
    if ord == math.inf:
        return max(size, axis, keepdims=keepdims, initial=0)
    if ord == -math.inf:
        return min(size, axis, keepdims=keepdims)
    if ord == 0:
        nonzero = convert(lax.ne(size, 0.0), typeof(size).dtype, False)
        return sum(nonzero, axis, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis, keepdims=keepdims)
    return sum(size**ord, axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    row, column = axes
    if ord in (2, -2, "nuc"):
        s = svdvals(moveaxis(x, axes, (-2, -1)))
        if ord == "nuc":
            out = sum(s, -1)
        else:
            out = max(s, -1, initial=0) if ord == 2 else min(s, -1)
        return expand_dims(out, sorted(axes)) if keepdims else out
    choices: dict[Any, Any] = {1: (row, column, max), -1: (row, column, min)}
    choices |= {math.inf: (column, row, max), -math.inf: (column, row, min)}
    if ord not in choices:
        raise ValueError(
            f"norm: {ord!r} is no norm of matrices; use 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."
        )
    summed, chosen, choose = choices[ord]
    # Norms of nothing are 0; the least of no column is an error.
    initial = 0 if choose is max else None
    sums = sum(lax.abs(x), summed, keepdims=True)
    out = choose(sums, chosen, keepdims=True, initial=initial)
    return out if keepdims else squeeze(out, axes)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norms of matrices, the last two axes of an array; ``ord`` as for ``norm``.

    >>> jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]]), ord=2)
    Array(4., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The norms of vectors.

    Args:
        x: an array.
        axis: the axis of the vectors, several whose elements make one, or None for all.
        keepdims: whether the axes stay, with size 1.
        ord: the order, as for ``norm``.

    >>> jnp.linalg.vector_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array(5., dtype=float32)
    """
    operand = strong_operand("vector_norm", x)
    axes = axes_argument("vector_norm", axis, typeof(operand).ndim, "axis")
    out = norm(as_last_axis(operand, axes), ord, -1)
    return expand_dims(out, axes) if keepdims and axes else out


class SlogdetResult(NamedTuple):
    """The result of ``slogdet``.

    >>> isinstance(jnp.linalg.slogdet(jnp.eye(2)), jnp.linalg.SlogdetResult)
    True
    """

    sign: Array
    logabsdet: Array


def _parity(pivots: Any, dtype: Any) -> Any:
    """1 for an even number of exchanges of rows, -1 for an odd one."""
    rows = lax.broadcasted_iota(np.int32, typeof(pivots).shape, typeof(pivots).ndim - 1)
    exchanges = sum(convert(lax.ne(pivots, rows), np.dtype(np.int32), False), -1)
    return convert(1 - 2 * (exchanges % 2), dtype, False)


def det(a: Any) -> Array:
    """The determinants of square matrices.

    Args:
        a: matrices, of shape ``[..., n, n]``.

    The derivative exists also where a matrix is singular: of up to three rows, determinants are
    sums of products; of more, they are computed by LU decomposition, and the derivative consists of
    cofactors.

    >>> jnp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    x = matrix_operand("det", a, square=True)
    if typeof(x).shape[-1] == 2:
        return x[..., 0, 0] * x[..., 1, 1] - x[..., 0, 1] * x[..., 1, 0]
    if typeof(x).shape[-1] == 3:
        return _det_of_three_rows(x)
    return _det(x)


def _det_by_elimination(x: Any) -> Any:
    packed, pivots, _ = lax_linalg.lu(x)
    return prod(diagonal(packed, 0, -2, -1), -1) * _parity(pivots, typeof(x).dtype)


_det = custom_jvp(_det_by_elimination)


@_det.defjvp
def _det_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _det(x), sum(_cofactors(x) * t, (-2, -1))


def _cofactors(x: Any) -> Any:
    """The derivatives of determinants by the elements of the matrices."""
    pivots = absolute(diagonal(lax_linalg.lu(lax.stop_gradient(x))[0], 0, -2, -1))
    largest = max(pivots, -1, keepdims=True, initial=0.0)
    regular = all(pivots > largest * (rounding(pivots) * pivots.shape[-1]))
    return control_flow.cond(regular, _regular_cofactors, _singular_cofactors, x)


def _regular_cofactors(x: Any) -> Any:
    return _det(x)[..., None, None] * swapaxes(inv(x), -1, -2)


def _singular_cofactors(x: Any) -> Any:
    """Cofactors by singular values: each is replaced by the product of the others."""
    u, s, vh = lax_linalg.svd(x, full_matrices=False)
    one = lax.full_like(s[..., :1], 1)
    before = lax.cumprod(concatenate([one, s[..., :-1]], -1), axis=s.ndim - 1)
    after = lax.cumprod(concatenate([s[..., 1:], one], -1), axis=s.ndim - 1, reverse=True)
    others = convert(before * after, typeof(x).dtype, False)
    turned = _det_by_elimination(u) * _det_by_elimination(vh)
    return turned[..., None, None] * conj((u * others[..., None, :]) @ vh)


def _det_of_three_rows(x: Any) -> Any:
    total: Any = 0
    for j in range(3):
        k, m = (j + 1) % 3, (j + 2) % 3
        minor = x[..., 1, k] * x[..., 2, m] - x[..., 1, m] * x[..., 2, k]
        total = total + x[..., 0, j] * minor
    return total


def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """The signs and the logarithms of the sizes of determinants, which do not overflow.

    Args:
        a: matrices, of shape ``[..., n, n]``.
        method: by which decomposition: "lu", the default, or "qr".

    Returns:
        ``(sign, logabsdet)``, a named tuple: ``det(a) == sign * exp(logabsdet)``. The sign has
        length 1, or is 0 where a matrix is singular.

    Raises:
        ValueError: for any other method.

    >>> jnp.linalg.slogdet(jnp.array([[1.0, 0.0], [0.0, -1.0]]))
    SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    if method not in (None, "lu", "qr"):
        raise ValueError(f"slogdet: method must be None, 'lu' or 'qr', but it is {method!r}.")
    x = matrix_operand("slogdet", a, square=True)
    if method == "qr":
        q, r = lax_linalg.qr(x)
        entries = diagonal(r, 0, -2, -1)
        turned = slogdet(q).sign * prod(sign(entries), -1)
        return SlogdetResult(turned, sum(lax.log(absolute(entries)), -1))
    packed, pivots, _ = lax_linalg.lu(x)
    entries = diagonal(packed, 0, -2, -1)
    turned = prod(sign(entries), -1) * _parity(pivots, typeof(x).dtype)
    return SlogdetResult(turned, sum(lax.log(absolute(entries)), -1))


def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Array:
    """The number of singular values that are not negligible.

    Args:
        M: matrices, of shape ``[..., m, n]``; of a vector or scalar, whether it is not zero.
        rtol: what is negligible, relative to the largest; by default the rounding error of the
            larger dimension.
        hermitian: a promise that the matrices are.
        tol: what is negligible, not relative to anything.

    >>> jnp.linalg.matrix_rank(jnp.array([[1.0, 2.0], [2.0, 4.0]]))
    Array(1, dtype=int32)
    """
    if rtol is not None and tol is not None:
        raise ValueError("matrix_rank takes rtol or tol, but got both.")
    if typeof(strong_operand("matrix_rank", M)).ndim < 2:
        return convert(any(M != 0), dtypes.default_dtype("int"), False)
    x = matrix_operand("matrix_rank", M, square=hermitian)
    s = svdvals(x)
    if tol is None:
        own = constant(builtins.max(typeof(x).shape[-2:]) * rounding(x), s)
        relative = own if rtol is None else strong_operand("matrix_rank", rtol)
        limit = max(s, -1, keepdims=True, initial=0.0) * _last_axis(relative)
    else:
        limit = _last_axis(strong_operand("matrix_rank", tol))
    return count_nonzero(s > limit, -1)


def _last_axis(x: Any) -> Any:
    return expand_dims(x, -1) if typeof(x).shape else x


def cond(x: Any, p: Any = None) -> Array:
    """The condition numbers of matrices: how much errors may grow in linear systems.

    Args:
        x: matrices, of shape ``[..., m, n]``, square unless ``p`` is None, 2 or -2.
        p: the norm, as for ``norm``; by default 2.

    >>> jnp.linalg.cond(jnp.array([[2.0, 0.0], [0.0, 1.0]]))
    Array(2., dtype=float32)
    """
    m = matrix_operand("cond", x, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        s = svdvals(m)
        ratio = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        ratio = norm(m, p, (-2, -1)) * norm(inv(m), p, (-2, -1))
    # Of a singular matrix 0 / 0 may remain, which is no reason for nan; nan among the elements is.
    known = any(isnan(m), (-2, -1))
    return where(lax.bitwise_and(isnan(ratio), lax.bitwise_not(known)), math.inf, ratio)
