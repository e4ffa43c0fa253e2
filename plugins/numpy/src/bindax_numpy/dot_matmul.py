"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
from bindax_core.errors import ShapeError
from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import (
    broadcast_to,
    canonical_dtype,
    convert,
    refuse_out,
    static_int,
)
from bindax_numpy._operands import (
    listed_axes,
    together,
)
from bindax_numpy.arithmetic import conj, multiply
from bindax_numpy.reshaping import ravel
from bindax_transforms import evaluated
from bindax_transforms.extend import decided

Axes = tuple[int, ...]


def operands(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays in the one dtype that they promote to."""
    a, b = together(name, a, b)
    return a, b


def contract(
    a: Any,
    b: Any,
    axes: tuple[Axes, Axes],
    batch: tuple[Axes, Axes] = ((), ()),
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """``lax.dot_general`` of operands of one dtype."""
    left, right = typeof(a), typeof(b)
    if len(axes[0]) == left.ndim == right.ndim != 1:
        # Everything is summed over: a product of two vectors.
        order = [axes[1][axes[0].index(axis)] for axis in range(left.ndim)]
        a = lax.reshape(a, (left.size,))
        b = lax.reshape(lax.transpose(b, order), (left.size,))
        axes = (0,), (0,)
    return lax.dot_general(a, b, (axes, batch), precision, preferred_element_type)


def _summed(name: str, a: Any, b: Any, precision: Any, preferred_element_type: Any) -> Any:
    """The sums of products of ``dot`` or ``inner``; of a scalar, the product."""
    a, b = operands(name, a, b)
    left, right = typeof(a).ndim, typeof(b).ndim
    if not left or not right:
        out = multiply(a, b)
        if preferred_element_type is None:
            return out
        return convert(out, canonical_dtype(preferred_element_type), False)
    axis = right - 1 if name == "inner" else max(0, right - 2)
    _require_equal(name, a, b, left - 1, axis)
    return contract(a, b, ((left - 1,), (axis,)), ((), ()), precision, preferred_element_type)


@evaluated
def dot(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The sum of products over the last axis of one array and the second last of the other.

    Args:
        a: an array.
        b: an array; of a vector, its only axis is used. With a scalar the result is the product.
        precision: how precisely a backend multiplies: None, "default", "high" or "highest".
        preferred_element_type: the dtype to compute in and return.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> jnp.dot(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]))
    Array(11., dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            dot,
            out_sharding,
            (a, b),
            {"precision": precision, "preferred_element_type": preferred_element_type},
        )
    return _summed("dot", a, b, precision, preferred_element_type)


def _require_equal(name: str, a: Any, b: Any, i: int, j: int) -> None:
    left, right = typeof(a), typeof(b)
    if left.shape[i] != right.shape[j]:
        raise TypeError(
            f"{name}: axis {i} of {left.str_short()} and axis {j} of {right.str_short()} are "
            f"summed over together and must have equal sizes, but they are {left.shape[i]} and "
            f"{right.shape[j]}."
        )


@evaluated
def matmul(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The matrix product, over stacks of matrices where there are more axes.

    Args:
        a: a vector, a matrix, or a stack of matrices.
        b: likewise; the axes before the last two broadcast.
        precision: as for ``dot``.
        preferred_element_type: as for ``dot``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: for scalars, and when sizes do not agree.

    >>> jnp.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    if out_sharding is not None:
        return decided(
            matmul,
            out_sharding,
            (a, b),
            {"precision": precision, "preferred_element_type": preferred_element_type},
        )
    a, b = operands("matmul", a, b)
    left, right = typeof(a), typeof(b)
    if not left.shape or not right.shape:
        raise ShapeError(
            f"matmul takes vectors, matrices and stacks of them, but got {left.str_short()} and "
            f"{right.str_short()}; for scalars use multiply."
        )
    _require_equal("matmul", a, b, left.ndim - 1, max(0, right.ndim - 2))
    if left.ndim == 1 or right.ndim <= 2:
        axes = (left.ndim - 1,), (max(0, right.ndim - 2),)
        return contract(a, b, axes, ((), ()), precision, preferred_element_type)
    stack = lax.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    n = len(stack)
    a = broadcast_to(a, (*stack, *left.shape[-2:]))
    b = broadcast_to(b, (*stack, *right.shape[-2:]))
    batch = tuple(range(n))
    axes = (n + 1,), (n,)
    return contract(a, b, axes, (batch, batch), precision, preferred_element_type)


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum of products of all elements, the conjugates of the first array with the second.

    >>> jnp.vdot(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]))
    Array(11., dtype=float32)
    """
    return dot(
        conj(ravel(a)), ravel(b), precision=precision, preferred_element_type=preferred_element_type
    )


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum of products over the last axes of two arrays.

    >>> jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return _summed("inner", a, b, precision, preferred_element_type)


def outer(a: Any, b: Any, out: None = None) -> Array:
    """The products of all elements of one array with all of another, as a matrix.

    >>> jnp.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    refuse_out("outer", out)
    return multiply(lax.expand_dims(ravel(a), (1,)), lax.expand_dims(ravel(b), (0,)))


def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The sum of products over several axes of two arrays.

    Args:
        a: an array.
        b: an array.
        axes: how many of the last axes of ``a`` and the first of ``b``, or a pair: those of ``a``
            and those of ``b``.
        precision: as for ``dot``.
        preferred_element_type: as for ``dot``.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> jnp.tensordot(jnp.ones((2, 3)), jnp.ones((3, 2)), axes=([0, 1], [1, 0]))
    Array(6., dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            tensordot,
            out_sharding,
            (a, b, axes),
            {"precision": precision, "preferred_element_type": preferred_element_type},
        )
    a, b = operands("tensordot", a, b)
    left, right = typeof(a).ndim, typeof(b).ndim
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ShapeError(
                f"tensordot: axes must be a number, or a pair of axes of a and of b, but they are "
                f"{axes}."
            )
        first = listed_axes("tensordot", axes[0], left, "axes")
        second = listed_axes("tensordot", axes[1], right, "axes")
    else:
        count = static_int("tensordot", "axes", axes)
        if not 0 <= count <= min(left, right):
            raise ShapeError(
                f"tensordot: {count} axes cannot be summed over; the arrays have {left} and "
                f"{right}."
            )
        first, second = tuple(range(left - count, left)), tuple(range(count))
    if len(first) != len(second):
        raise ShapeError(f"tensordot: {first} and {second} are not as many axes of a and of b.")
    for i, j in zip(first, second, strict=True):
        _require_equal("tensordot", a, b, i, j)
    return contract(a, b, (first, second), ((), ()), precision, preferred_element_type)
