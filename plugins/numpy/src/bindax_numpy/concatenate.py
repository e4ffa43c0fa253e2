"""Joining arrays, splitting and repeating them, and moving elements along axes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import Array, Dimension, Tracer, is_value, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    DivisorError,
    axis_argument,
    canonical_dtype,
    convert,
    promote_dtypes,
    refuse_out,
    static_int,
    static_ints,
)
from bindax_lax_basic.extend import broadcast_to as lax_broadcast_to
from bindax_numpy._operands import array_operand, put_into, together
from bindax_numpy.reshaping import atleast_1d, atleast_2d, atleast_3d, ravel, reshape
from bindax_transforms.extend import decided

_MOST_PARTS = 2**24


def _arrays(name: str, arrays: Any, dtype: Any = None) -> list[Any]:
    """The arrays to join: a sequence of them, or the slices of one along its first axis.

    Their dtype is the one that is asked for, or what they promote to.
    """
    if not isinstance(arrays, list | tuple) and is_value(arrays):
        aval = typeof(arrays)
        if not aval.shape:
            raise TypeError(
                f"{name} takes a sequence of arrays, but got {aval.str_short()}; to join several, "
                f"put them into a list."
            )
        arrays = array_operand(name, arrays)
    elif isinstance(arrays, (Mapping, str)) or not np.iterable(arrays):
        raise TypeError(f"{name} takes a sequence of arrays, but got {arrays!r:.60}.")
    operands = list(arrays)
    if not operands:
        raise ValueError(f"{name} needs at least one array.")
    if dtype is None:
        return list(together(name, *operands))
    return [put_into(name, x, canonical_dtype(dtype)) for x in operands]


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    """Arrays joined along an axis that they have.

    Args:
        arrays: a sequence of arrays, of one shape but for the axis.
        axis: the axis; None joins the elements of all, in order.
        dtype: the dtype of the result; by default what the arrays promote to.

    >>> jnp.concatenate([jnp.arange(2), jnp.array([0.5])])
    Array([0. , 1. , 0.5], dtype=float32)
    """
    operands = _arrays("concatenate", arrays, dtype)
    if axis is None:
        operands, axis = [ravel(x) for x in operands], 0
    if not typeof(operands[0]).shape:
        raise ValueError(
            "concatenate: scalars have no axis to be joined along; use stack, or axis=None."
        )
    if dtype is None:
        operands = list(promote_dtypes(*operands))
    place = axis_argument("concatenate", axis, typeof(operands[0]).ndim)
    return operands[0] if len(operands) == 1 else lax.concatenate(operands, place)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """``concatenate``, as the array API standard calls it.

    >>> jnp.concat([jnp.array([1, 2]), jnp.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Arrays of one shape joined along a new axis.

    Args:
        arrays: a sequence of arrays of one shape.
        axis: where the new axis is in the result.
        out: None.
        dtype: the dtype of the result; by default what the arrays promote to.

    Raises:
        ValueError: when the shapes differ.

    >>> jnp.stack([jnp.arange(2), jnp.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    refuse_out("stack", out)
    operands = _arrays("stack", arrays, dtype)
    first = typeof(operands[0])
    for i, x in enumerate(operands):
        if typeof(x).shape != first.shape:
            raise ValueError(
                f"stack: the arrays must have one shape, but array 0 is {first.str_short()} and "
                f"array {i} is {typeof(x).str_short()}."
            )
    place = axis_argument("stack", axis, first.ndim + 1)
    return concatenate([lax.expand_dims(x, (place,)) for x in operands], place, dtype)


def vstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays joined along their first axis, vectors as rows.

    >>> jnp.vstack([jnp.arange(2), jnp.arange(2)])
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    return concatenate([atleast_2d(x) for x in _arrays("vstack", tup, dtype)], 0, dtype)


def hstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays joined along their second axis, vectors along their only one.

    >>> jnp.hstack([jnp.arange(2), jnp.arange(2)])
    Array([0, 1, 0, 1], dtype=int32)
    """
    operands = [atleast_1d(x) for x in _arrays("hstack", tup, dtype)]
    return concatenate(operands, 0 if typeof(operands[0]).ndim == 1 else 1, dtype)


def dstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays joined along their third axis.

    >>> jnp.dstack([jnp.arange(2), jnp.arange(2)]).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(x) for x in _arrays("dstack", tup, dtype)], 2, dtype)


def column_stack(tup: Any) -> Array:
    """Vectors and matrices joined along the second axis, vectors as columns.

    >>> jnp.column_stack([jnp.arange(2), jnp.arange(2)])
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    operands = _arrays("column_stack", tup)
    return concatenate([x if typeof(x).ndim >= 2 else reshape(x, (-1, 1)) for x in operands], 1)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """An array cut along an axis.

    Args:
        ary: an array.
        indices_or_sections: into how many equal parts, or at which indices.
        axis: the axis.

    Raises:
        ValueError: when the size cannot be divided into so many parts.

    >>> jnp.split(jnp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    >>> jnp.split(jnp.arange(4), [1])
    [Array([0], dtype=int32), Array([1, 2, 3], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """An array cut along an axis, like ``split``; the first parts may be longer by one.

    >>> jnp.array_split(jnp.arange(3), 2)
    [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis)


def _split(name: str, ary: Any, where: Any, axis: int) -> list[Any]:
    x = array_operand(name, ary)
    aval = typeof(x)
    place = axis_argument(name, axis, aval.ndim)
    size = aval.shape[place]
    if np.iterable(where):
        bounds = [0, *static_ints(name, "indices_or_sections", where), size]
        bounds = [max(0, min(size, b + size if b < 0 else b)) for b in bounds]
    else:
        parts = static_int(name, "indices_or_sections", where)
        if parts < 1 or (name == "split" and size % parts):
            raise (ValueError if parts else DivisorError)(
                f"{name}: axis {axis} of {aval.str_short()} has size {size} and cannot be cut "
                f"into {parts} equal parts; array_split cuts into unequal ones."
            )
        if parts > _MOST_PARTS:
            raise ValueError(f"{name}: {parts} parts are more than the {_MOST_PARTS} there can be.")
        length, longer = size // parts, size % parts
        bounds = [i * length + min(i, longer) for i in range(parts + 1)]
    return [
        lax.slice_in_dim(x, start, max(start, stop), axis=place) for start, stop in pairwise(bounds)
    ]


def tile(A: Any, reps: Any) -> Array:
    """An array repeated as a whole along its axes.

    Args:
        A: an array.
        reps: how often, along the last axes where they are fewer.

    >>> jnp.tile(jnp.array([1, 2]), 2)
    Array([1, 2, 1, 2], dtype=int32)
    """
    x = array_operand("tile", A)
    counts = static_ints("tile", "reps", reps)
    ones = (1,) * (typeof(x).ndim - len(counts))
    return lax.tile(lax.broadcast_to_rank(x, len(counts)), (*ones, *counts))


def repeat(
    a: Any,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """The elements of an array, each repeated.

    Args:
        a: an array.
        repeats: how often: an integer, or one for each slice. With ``total_repeat_length`` they
            may be traced.
        axis: the axis; None repeats all elements, in order.
        total_repeat_length: the size of the axis in the result: what is over is cut off, and the
            last slice fills what is missing.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> jnp.repeat(jnp.array([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    >>> jnp.repeat(jnp.array([1, 2]), jnp.array([1, 3]))
    Array([1, 2, 2, 2], dtype=int32)
    """
    if out_sharding is not None:
        return decided(
            repeat, out_sharding, (a, repeats, axis), {"total_repeat_length": total_repeat_length}
        )
    x = array_operand("repeat", a)
    x, axis = (ravel(x), axis or 0) if axis is None or not typeof(x).shape else (x, axis)
    place = axis_argument("repeat", axis, typeof(x).ndim)
    size = typeof(x).shape[place]
    if isinstance(repeats, Tracer):
        return _repeat_traced(x, repeats, place, total_repeat_length)
    counts = static_ints("repeat", "repeats", repeats)
    if min(counts, default=0) < 0:
        raise ValueError(f"repeat: repeats must not be negative, but they are {counts}.")
    if isinstance(size, Dimension) and len(counts) == 1 and total_repeat_length is None:
        return _repeat_each(x, counts[0], place)
    if len(counts) not in (1, size):
        raise ValueError(
            f"repeat: repeats must be one integer, or one for each of the {size} slices along "
            f"axis {axis}, but they are {len(counts)}."
        )
    index = np.repeat(np.arange(size), counts if len(counts) == size else counts[0])
    if total_repeat_length is not None:
        total_repeat_length = static_int("repeat", "total_repeat_length", total_repeat_length)
        if total_repeat_length < 0:
            raise ValueError(
                f"repeat: total_repeat_length must not be negative, but it is "
                f"{total_repeat_length}."
            )
        missing = max(0, total_repeat_length - len(index)) if size else 0
        index = np.pad(index, (0, missing), constant_values=size - 1)[:total_repeat_length]
    if not len(index):
        return lax.slice_in_dim(x, 0, 0, axis=place)
    return lax.take(x, index.astype(np.int32), place)


def _repeat_each(x: Any, count: int, axis: int) -> Any:
    """``repeat`` of every slice as often, along an axis of a symbolic size."""
    shape = typeof(x).shape
    spread = lax_broadcast_to(
        lax.expand_dims(x, (axis + 1,)), (*shape[: axis + 1], count, *shape[axis + 1 :])
    )
    return lax.reshape(spread, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def _repeat_traced(x: Any, repeats: Any, axis: int, total: int | None) -> Any:
    """``repeat`` a traced number of times: each place looks for the slice that it belongs to."""
    counts = array_operand("repeat", repeats)
    aval, size = typeof(counts), typeof(x).shape[axis]
    if total is None:
        raise ConcretizationTypeError(
            f"repeat: the size of the result depends on repeats, which are a traced "
            f"{aval.str_short()}; say how large it is with total_repeat_length."
        )
    if not dtypes.is_integer(aval.dtype) or aval.shape not in ((), (1,), (size,)):
        raise TypeError(
            f"repeat: repeats must be one integer, or one for each of the {size} slices along axis "
            f"{axis}, but they are {aval.str_short()}."
        )
    ends = lax.cumsum(lax_broadcast_to(counts, (size,)), 0)
    places = lax.iota(typeof(ends).dtype, total)
    passed = lax.le(lax.expand_dims(ends, (0,)), lax.expand_dims(places, (1,)))
    index = lax.reduce_sum(convert(passed, dtypes.default_dtype("int"), False), (1,))
    return lax.take(x, lax.min(index, lax.full_like(index, size - 1)), axis)
