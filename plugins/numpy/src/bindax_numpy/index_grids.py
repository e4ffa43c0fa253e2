"""Grids of indices, and indices of elements that are counted in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import canonical_dtype, default_dtype
from bindax_lax_basic.extend import axis_argument, convert, promote_dtypes, shape_argument
from bindax_numpy._operands import array_operand, known
from bindax_numpy.arithmetic import clip
from bindax_numpy.indexing import index_operand
from bindax_numpy.joining import stack
from bindax_transforms import vmap


def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """The indices of all elements of an array, for each of its axes.

    Args:
        dimensions: the shape of the array.
        dtype: the dtype of the result; by default the default integer.
        sparse: whether a tuple of arrays is returned that have size 1 along the other axes.

    >>> jnp.indices((2, 2))[1]
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    shape = shape_argument("indices", dimensions)
    wanted = default_dtype("int") if dtype is None else canonical_dtype(dtype)
    if not sparse:
        grids = [lax.broadcasted_iota(wanted, shape, axis) for axis in range(len(shape))]
        return stack(grids) if grids else lax.full((0,), 0, wanted)
    ndim = len(shape)
    columns = [(1,) * axis + (n,) + (1,) * (ndim - 1 - axis) for axis, n in enumerate(shape)]
    return tuple(lax.broadcasted_iota(wanted, column, i) for i, column in enumerate(columns))


def ix_(*args: Any) -> tuple[Array, ...]:
    """Vectors of indices as an index for all their combinations.

    >>> jnp.arange(6).reshape(2, 3)[jnp.ix_(jnp.array([1]), jnp.array([0, 2]))]
    Array([[3, 5]], dtype=int32)
    """
    out = []
    for axis, given in enumerate(args):
        x = array_operand("ix_", given)
        aval = typeof(x)
        if aval.ndim != 1 or not (dtypes.is_integer(aval.dtype) or not aval.size):
            raise ValueError(f"ix_ takes vectors of integers, but got {aval.str_short()}.")
        shape = (1,) * axis + (aval.size,) + (1,) * (len(args) - 1 - axis)
        out.append(lax.reshape(x, shape))
    return tuple(out)


def unravel_index(indices: Any, shape: Any) -> tuple[Array, ...]:
    """The indices along each axis of elements that are counted in order.

    Args:
        indices: integers; negative ones count from the end, and what is out of bounds is taken to
            the nearest end.
        shape: the shape of the array.

    >>> jnp.unravel_index(jnp.array([5]), (2, 3))
    (Array([1], dtype=int32), Array([2], dtype=int32))
    """
    x = index_operand("unravel_index", indices)
    sizes = shape_argument("unravel_index", shape)
    total = math.prod(sizes)
    x = clip(x + convert(x < 0, typeof(x).dtype, False) * total, 0, total - 1)
    out = []
    for size in reversed(sizes):
        out.append(x % size)
        x = x // size
    return tuple(reversed(out))


def ravel_multi_index(
    multi_index: Any,
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: Any = None,
) -> Array:
    """The places of elements counted in order, from their indices along each axis.

    Args:
        multi_index: integers, an array for each axis.
        dims: the shape of the array.
        mode: what happens out of bounds: "clip", "wrap", or "raise", which needs indices that are
            known while tracing.
        order: "C" counts the last axis first, "F" the first one.
        dtype: the dtype of the result; by default that of the indices.

    Raises:
        ValueError: for indices out of bounds with "raise", and other modes and orders.

    >>> jnp.ravel_multi_index((jnp.array([1]), jnp.array([2])), (2, 3))
    Array([5], dtype=int32)
    """
    sizes = shape_argument("ravel_multi_index", dims)
    given = promote_dtypes(*(index_operand("ravel_multi_index", i) for i in multi_index))
    if len(given) != len(sizes):
        raise ValueError(
            f"ravel_multi_index: there are indices for {len(given)} axes, but dims are {sizes}."
        )
    if mode not in ("raise", "clip", "wrap") or order not in ("C", "F"):
        raise ValueError(
            f"ravel_multi_index: mode must be 'raise', 'clip' or 'wrap' and order 'C' or 'F', but "
            f"they are {mode!r} and {order!r}."
        )
    pairs = list(zip(given, sizes, strict=True))
    if mode == "raise" and any(
        np.any((host < 0) | (host >= n))
        for host, n in (
            (known("ravel_multi_index", "multi_index", i, "give mode='clip' or mode='wrap'"), n)
            for i, n in pairs
        )
    ):
        raise ValueError(f"ravel_multi_index: an index is out of bounds for dims {sizes}.")
    if mode == "clip":
        pairs = [(clip(i, 0, n - 1), n) for i, n in pairs]
    elif mode == "wrap":
        pairs = [(i % n, n) for i, n in pairs]
    out: Any = 0
    for i, n in pairs if order == "C" else reversed(pairs):
        out = out * n + i
    made = array_operand("ravel_multi_index", out)
    wanted = typeof(made).dtype if dtype is None else canonical_dtype(dtype)
    return convert(made, wanted, False)


# ----------------------------------------------------------------------- functions along axes


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """A function of vectors applied to all of them along an axis.

    Args:
        func1d: a function of a vector, whose result takes the place of the axis.
        axis: the axis.
        arr: an array.
        *args: further arguments of the function.
        **kwargs: likewise.

    >>> jnp.apply_along_axis(jnp.cumsum, 1, jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [3, 7]], dtype=int32)
    """
    x = array_operand("apply_along_axis", arr)
    ndim = typeof(x).ndim
    place = axis_argument("apply_along_axis", axis, ndim)

    def call(v: Any) -> Any:
        return func1d(v, *args, **kwargs)

    # From the inside: first over the axes behind, which become the last ones of the result.
    for _ in range(ndim - 1 - place):
        call = vmap(call, in_axes=-1, out_axes=-1)
    for _ in range(place):
        call = vmap(call)
    return call(x)


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Sequence[int]) -> Array:
    """A reduction applied over several axes, one by one, which stay with size 1.

    Args:
        func: a function of an array and an axis, which it removes or keeps with size 1.
        a: an array.
        axes: the axes.

    >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3)), (0, 1))
    Array([[6.]], dtype=float32)
    """
    x = array_operand("apply_over_axes", a)
    for axis in axes:
        out = func(x, axis)
        x = out if typeof(out).ndim == typeof(x).ndim else lax.expand_dims(out, (axis,))
    return x
