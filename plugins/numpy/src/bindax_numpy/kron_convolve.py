"""Further products: of vectors, Kronecker's, convolution."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axis_argument, canonical_dtype, convert, static_int
from bindax_numpy._operands import inexact_operand
from bindax_numpy.arithmetic import conj, multiply
from bindax_numpy.concatenate import concatenate, stack
from bindax_numpy.dot_matmul import matmul, operands
from bindax_numpy.reshaping import (
    broadcast_arrays,
    broadcast_to,
    expand_dims,
    flip,
    moveaxis,
    reshape,
)


def kron(a: Any, b: Any) -> Array:
    """The Kronecker product: each element of one array times all of the other.

    >>> jnp.kron(jnp.array([1, 10]), jnp.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    x, y = operands("kron", a, b)
    ndim = max(typeof(x).ndim, typeof(y).ndim)
    left, right = ((1,) * (ndim - typeof(v).ndim) + typeof(v).shape for v in (x, y))
    spread = reshape(x, [n for size in left for n in (size, 1)])
    repeated = reshape(y, [n for size in right for n in (1, size)])
    sizes = [m * n for m, n in zip(left, right, strict=True)]
    return reshape(multiply(spread, repeated), sizes)


def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The sums of products along an axis, the conjugates of the first array with the second.

    Args:
        x1: an array.
        x2: an array; the other axes broadcast.
        axis: the axis, which must have one size.
        precision: as for ``dot``.
        preferred_element_type: as for ``dot``; for one of integers integers stay what they are.

    Raises:
        ValueError: when the sizes differ.

    >>> jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    axis = static_int("vecdot", "axis", axis)
    x, y = (moveaxis(v, axis, -1) for v in operands("vecdot", x1, x2))
    if typeof(x).shape[-1] != typeof(y).shape[-1]:
        raise ValueError(
            f"vecdot: axis {axis} must have one size in both arrays, but they are "
            f"{typeof(x).shape[-1]} and {typeof(y).shape[-1]}."
        )
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return matmul(conj(expand_dims(x, -2)), expand_dims(y, -1), **options)[..., 0, 0]


def _require_matrices(name: str, argument: str, x: Any) -> None:
    if typeof(x).ndim < 2:
        raise ValueError(
            f"{name}: {argument} must be a matrix or a stack of them, but is "
            f"{typeof(x).str_short()}."
        )


def matvec(x1: Any, x2: Any, /) -> Array:
    """Matrices times vectors; the leading axes broadcast.

    >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = operands("matvec", x1, x2)
    _require_matrices("matvec", "x1", x)
    return matmul(x, expand_dims(y, -1))[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Array:
    """The conjugates of vectors times matrices; the leading axes broadcast.

    >>> jnp.vecmat(jnp.array([1, 1]), jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    x, y = operands("vecmat", x1, x2)
    _require_matrices("vecmat", "x2", y)
    return matmul(conj(expand_dims(x, -2)), y)[..., 0, :]


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """The cross products of vectors.

    Args:
        a: vectors of three elements, or of two, to which 0 is added.
        b: likewise; the other axes broadcast.
        axisa: the axis of the vectors in ``a``.
        axisb: that in ``b``.
        axisc: that in the result. Of two vectors of two elements there is none: the result is the
            third element.
        axis: all three axes at once.

    Raises:
        ValueError: when vectors have another size.

    >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = operands("cross", a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    sizes = typeof(x).shape[-1], typeof(y).shape[-1]
    if not set(sizes) <= {2, 3}:
        raise ValueError(f"cross takes vectors of 2 or 3 elements, but they have {sizes}.")
    if sizes == (2, 2):
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    x, y = (_three_elements(v) for v in (x, y))
    (x1, x2, x3), (y1, y2, y3) = ([v[..., i] for i in range(3)] for v in (x, y))
    parts = [x2 * y3 - x3 * y2, x3 * y1 - x1 * y3, x1 * y2 - x2 * y1]
    return stack(broadcast_arrays(*parts), axis_argument("cross", axisc, typeof(parts[0]).ndim + 1))


def _three_elements(x: Any) -> Any:
    aval = typeof(x)
    if aval.shape[-1] == 3:
        return x
    zero = broadcast_to(np.zeros((), aval.dtype), (*aval.shape[:-1], 1))
    return concatenate([x, zero], -1)


def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The convolution of two vectors; a float also of integers.

    Args:
        a: a vector.
        v: a vector; the shorter one is the window.
        mode: "full" for all overlaps, "valid" for those of the whole window, "same" for as many as
            the longer vector has, in the middle.
        precision: as for ``dot``.
        preferred_element_type: as for ``dot``.

    Raises:
        ValueError: for what is no vector or empty, and for any other mode.

    >>> jnp.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 1.0]))
    Array([1., 3., 5., 3.], dtype=float32)
    """
    return _convolved("convolve", a, v, mode, precision, preferred_element_type)


def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The correlation of two vectors: sums of products with a window that is moved along.

    The window ``v`` is conjugated; other arguments are as for ``convolve``.

    >>> jnp.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0]))
    Array([2., 3.], dtype=float32)
    """
    return _convolved("correlate", a, v, mode, precision, preferred_element_type)


def _convolved(name: str, a: Any, v: Any, mode: str, precision: Any, preferred: Any) -> Any:
    x, y = operands(name, a, v)
    for v in (typeof(x), typeof(y)):
        if v.ndim != 1 or not v.size:
            raise ValueError(f"{name} takes vectors that are not empty, but got {v.str_short()}.")
    wanted = None if preferred is None else canonical_dtype(preferred)
    if wanted is not None and dtypes.is_integer(wanted) and dtypes.is_integer(typeof(x).dtype):
        x, y = convert(x, wanted, False), convert(y, wanted, False)
    else:
        x, y = inexact_operand(name, x), inexact_operand(name, y)
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', but it is {mode!r}.")
    if name == "correlate":
        y = flip(conj(y))
    # Convolution is symmetric, so the shorter vector can be the window.
    long, window = (x, y) if typeof(x).size >= typeof(y).size else (y, x)
    width = typeof(window).size
    before = {"full": width - 1, "valid": 0, "same": width // 2}[mode]
    after = {"full": width - 1, "valid": 0, "same": width - 1 - width // 2}[mode]
    if name == "correlate" and mode == "same" and long is y:
        # What is moved along is then the longer vector, and its middle lies on the other side.
        before, after = after, before
    out = lax.conv_general_dilated(
        long[None, None],
        flip(window)[None, None],
        (1,),
        [(before, after)],
        precision=precision,
        preferred_element_type=wanted,
    )
    return out[0, 0] if wanted is None else convert(out[0, 0], wanted, False)
