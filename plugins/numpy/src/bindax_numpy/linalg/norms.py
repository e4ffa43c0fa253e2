"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axes_argument, axis_argument, convert, static_ints
from bindax_numpy._operands import strong_operand
from bindax_numpy.arithmetic import absolute_squares
from bindax_numpy.linalg.decompositions import svdvals
from bindax_numpy.reductions import max, min, sum
from bindax_numpy.reshaping import expand_dims, moveaxis, reshape, squeeze, transpose


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
        given = static_ints("norm", "axis", axis)
        axes = tuple(axis_argument("norm", i, aval.ndim) for i in given)
        if len(axes) not in (1, 2) or len(set(axes)) < len(axes):
            raise ValueError(f"norm: axis must name one axis or two, but it is {axis}.")
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return lax.sqrt(sum(absolute_squares(operand), axes, keepdims=keepdims))
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
    shape = typeof(operand).shape
    axes = axes_argument("vector_norm", axis, len(shape), "axis")
    kept = [i for i in range(len(shape)) if i not in axes]
    rows = transpose(operand, (*kept, *axes))
    out = norm(
        reshape(rows, (*(shape[i] for i in kept), math.prod(shape[i] for i in axes))), ord, -1
    )
    return expand_dims(out, axes) if keepdims and axes else out
