"""Linear systems: solutions, inverses, least squares."""

from __future__ import annotations

import builtins
import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import broadcast_to, convert, real_dtype, static_int
from bindax_linalg.extend import solve as solve_by_lu
from bindax_numpy._operands import listed_axes, strong_operand
from bindax_numpy.arithmetic import absolute_squares
from bindax_numpy.comparison import where
from bindax_numpy.dot_matmul import dot
from bindax_numpy.linalg._matrices import (
    adjoint,
    inexact_operands,
    matrix_operand,
    product,
    require_matrix,
    rounding,
)
from bindax_numpy.linalg.decompositions import svd
from bindax_numpy.ranges import eye
from bindax_numpy.reductions import count_nonzero, max, sum
from bindax_numpy.reshaping import expand_dims, moveaxis, reshape
from bindax_transforms import custom_jvp


def solve(a: Any, b: Any) -> Array:
    """Solve the linear systems ``a x = b`` by LU decomposition.

    Args:
        a: square matrices, of shape ``[..., n, n]``.
        b: one vector, of shape ``[n]``, or matrices of columns, of shape ``[..., n, k]``; the
            leading axes broadcast.

    Returns:
        The solutions, of the shape of ``b`` with the leading axes of both; infinite or nan where a
        matrix is singular.

    Raises:
        ValueError: when the shapes do not fit.

    >>> jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0]))
    Array([1. , 0.5], dtype=float32)
    """
    x, y = inexact_operands("solve", a, b)
    matrices, right = typeof(x), typeof(y)
    require_matrix("solve", matrices, square=True)
    vector = right.ndim == 1
    if not right.shape or right.shape[0 if vector else -2] != matrices.shape[-1]:
        raise ValueError(
            f"solve: b must be a vector of {matrices.shape[-1]} elements or matrices of as many "
            f"rows, for a of type {matrices.str_short()}, but it is {right.str_short()}."
        )
    columns = expand_dims(y, -1) if vector else y
    lead = lax.broadcast_shapes(matrices.shape[:-2], typeof(columns).shape[:-2])
    x = broadcast_to(x, (*lead, *matrices.shape[-2:]))
    columns = broadcast_to(columns, (*lead, *typeof(columns).shape[-2:]))
    out = solve_by_lu(x, columns) if typeof(columns).size else columns
    return out[..., 0] if vector else out


def inv(a: Any) -> Array:
    """The inverses of square matrices; infinite or nan where there are none.

    >>> jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x = matrix_operand("inv", a, square=True)
    return solve(x, eye(typeof(x).shape[-1], dtype=typeof(x).dtype))


def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """The pseudoinverses of matrices, by singular values.

    Args:
        a: matrices, of shape ``[..., m, n]``.
        rtol: singular values below this times the largest count as zero; by default ten times the
            rounding error of the larger dimension.
        hermitian: a promise that the matrices are.
        rcond: another name for ``rtol``.

    Returns:
        Matrices of shape ``[..., n, m]``.

    The derivative, which exists where the rank does not change, follows G. Golub and V. Pereyra,
    "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate", 1973.

    >>> jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    if rtol is not None and rcond is not None:
        raise ValueError("pinv takes rtol or rcond, two names of one argument, but got both.")
    x = matrix_operand("pinv", a, square=hermitian)
    limit = rtol if rcond is None else rcond
    if limit is None:
        limit = 10.0 * builtins.max(typeof(x).shape[-2:]) * rounding(x)
    limit = convert(strong_operand("pinv", limit), real_dtype(typeof(x).dtype), False)
    return _pinv(x, limit, hermitian)


def _pinv_by_singular_values(x: Any, limit: Any, hermitian: bool) -> Any:
    u, s, vh = svd(x, full_matrices=False, hermitian=hermitian)
    bound = expand_dims(limit, -1) if typeof(limit).shape else limit
    kept = s > bound * max(s, -1, keepdims=True, initial=0.0)
    inverse = where(kept, 1 / where(kept, s, 1.0), 0.0)
    scaled = adjoint(vh) * convert(expand_dims(inverse, -2), typeof(u).dtype, False)
    return product(scaled, adjoint(u))


_pinv = custom_jvp(_pinv_by_singular_values, nondiff_argnums=(2,))


@_pinv.defjvp
def _pinv_jvp(hermitian: bool, primals: Any, tangents: Any) -> Any:
    (x, limit), (t, _) = primals, tangents
    p = _pinv(x, limit, hermitian)
    if hermitian:  # the other part of the matrices is not read
        x, t = (x + adjoint(x)) * 0.5, (t + adjoint(t)) * 0.5
    ph, th = adjoint(p), adjoint(t)
    outside, unreached = _missing(product(x, p)), _missing(product(p, x))
    moved = -product(product(p, t), p)
    moved = moved + product(product(product(p, ph), th), outside)
    return p, moved + product(product(unreached, th), product(ph, p))


def _missing(x: Any) -> Any:
    """The identity less square matrices."""
    aval = typeof(x)
    return broadcast_to(eye(aval.shape[-1], dtype=aval.dtype), aval.shape) - x


def lstsq(
    a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The least squares solutions of a linear system, by singular values.

    Args:
        a: a matrix, of shape ``[m, n]``.
        b: a vector, of shape ``[m]``, or columns, of shape ``[m, k]``.
        rcond: singular values below this times the largest count as zero; by default the rounding
            error of the larger dimension.
        numpy_resid: whether the squared errors are an empty array where NumPy's are, which takes
            a rank that is known while tracing.

    Returns:
        The solutions of least length, the squared errors of each column, the rank of ``a``, and its
        singular values.

    Raises:
        ValueError: when the shapes do not fit.

    >>> jnp.linalg.lstsq(jnp.array([[3.0], [4.0]]), jnp.array([6.0, 8.0]))[0].round(3)
    Array([2.], dtype=float32)
    """
    x, y = inexact_operands("lstsq", a, b)
    left, right = typeof(x), typeof(y)
    if left.ndim != 2 or right.ndim not in (1, 2) or right.shape[0] != left.shape[0]:
        raise ValueError(
            f"lstsq takes a matrix and a vector or matrix of as many rows, but got "
            f"{left.str_short()} and {right.str_short()}."
        )
    error = rounding(x)
    rcond = builtins.max(left.shape) * error if rcond is None else where(rcond < 0, error, rcond)
    u, s, vh = svd(x, full_matrices=False)
    kept = s > rcond * max(s, keepdims=True, initial=0.0)
    inverse = convert(where(kept, 1 / where(kept, s, 1.0), 0.0), left.dtype, False)
    columns = y if right.ndim == 2 else expand_dims(y, -1)
    parts = dot(adjoint(u), columns, precision="highest") * expand_dims(inverse, -1)
    out = dot(adjoint(vh), parts, precision="highest")
    rank = count_nonzero(kept)
    errors = columns - dot(x, out, precision="highest")
    residuals = sum(absolute_squares(errors), 0)
    if numpy_resid and (int(rank) < left.shape[1] or left.shape[0] <= left.shape[1]):
        residuals = residuals[:0]
    return (out if right.ndim == 2 else out[:, 0]), residuals, rank, s


def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse of an array for ``tensordot`` over its first axes.

    Args:
        a: an array whose first ``ind`` axes have as many elements as the others.
        ind: how many of the axes are on the one side.

    >>> jnp.linalg.tensorinv(jnp.eye(4).reshape(4, 2, 2), 1).shape
    (2, 2, 4)
    """
    (x,) = inexact_operands("tensorinv", a)
    shape = typeof(x).shape
    count = static_int("tensorinv", "ind", ind)
    if count <= 0:
        raise ValueError(f"tensorinv: ind must be positive, but it is {count}.")
    first, last = shape[:count], shape[count:]
    if math.prod(first) != math.prod(last):
        raise ValueError(
            f"tensorinv: the axes {first} and {last} of {typeof(x).str_short()} must have equally "
            f"many elements."
        )
    flat = reshape(x, (math.prod(first), math.prod(last)))
    return reshape(inv(flat), (*last, *first))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Array:
    """Solve ``tensordot(a, x, x.ndim) == b``.

    Args:
        a: an array whose first axes are those of ``b``, with as many elements as the others.
        b: the right-hand side.
        axes: axes of ``a`` that are moved to the end first.

    >>> jnp.linalg.tensorsolve(jnp.eye(4).reshape(2, 2, 4), jnp.ones((2, 2)))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    x, y = inexact_operands("tensorsolve", a, b)
    ndim = typeof(x).ndim
    if axes is not None:
        moved = listed_axes("tensorsolve", axes, ndim, "axes")
        x = moveaxis(x, moved, range(ndim - len(moved), ndim))
    shape = typeof(x).shape[typeof(y).ndim :]
    if math.prod(shape) != typeof(y).size:
        raise ValueError(
            f"tensorsolve: the axes {shape} of a, {typeof(x).str_short()}, must have as many "
            f"elements as b, {typeof(y).str_short()}."
        )
    flat = reshape(x, (typeof(y).size, math.prod(shape)))
    return reshape(solve(flat, reshape(y, (typeof(y).size,))), shape)
