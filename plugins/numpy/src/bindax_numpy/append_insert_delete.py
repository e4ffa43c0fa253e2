"""Arrays put together of parts, cut apart, and with slices added and removed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, Tracer, is_value, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axes_argument, shape_argument
from bindax_numpy._operands import (
    array_operand,
    known,
    put_into,
)
from bindax_numpy.concatenate import concatenate, split
from bindax_numpy.indexing import take
from bindax_numpy.reshaping import along, broadcast_to, moveaxis, ravel, reshape


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """An array with another one behind it.

    Args:
        arr: an array.
        values: what is added.
        axis: the axis; None joins the elements of both, in order.

    >>> jnp.append(jnp.array([1, 2]), jnp.array([3]))
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate([arr, values], axis)


def block(arrays: Any) -> Array:
    """An array of blocks: nested lists are joined along the last axis, the next one, and so on.

    >>> jnp.block([[jnp.eye(1), jnp.zeros((1, 1))], [jnp.ones((1, 2))]])
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    depth = _depth(arrays)
    return _joined(arrays, 1, depth, max(depth, _most_axes(arrays)))


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("block takes lists of arrays, but got a tuple; make a list of it.")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block: a list is empty.")
    depths = {_depth(x) for x in arrays}
    if len(depths) > 1:
        raise ValueError(
            f"block: lists must be nested equally deep, but are {sorted(depths)} deep."
        )
    return depths.pop() + 1


def _most_axes(arrays: Any) -> int:
    if isinstance(arrays, list):
        return max(_most_axes(x) for x in arrays)
    return typeof(array_operand("block", arrays)).ndim


def _joined(arrays: Any, level: int, depth: int, ndim: int) -> Any:
    if level > depth:
        return lax.broadcast_to_rank(array_operand("block", arrays), ndim)
    return concatenate([_joined(x, level + 1, depth, ndim) for x in arrays], level - depth - 1)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of an array along an axis, which they do not have.

    >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    return lax.unstack(array_operand("unstack", x), axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """``split`` along the second axis, of vectors along the only one.

    >>> jnp.hsplit(jnp.array([1, 2]), 2)
    [Array([1], dtype=int32), Array([2], dtype=int32)]
    """
    x = array_operand("hsplit", ary)
    return split(x, indices_or_sections, 0 if typeof(x).ndim == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """``split`` along the first axis.

    >>> jnp.vsplit(jnp.array([[1], [2]]), 2)
    [Array([[1]], dtype=int32), Array([[2]], dtype=int32)]
    """
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """``split`` along the third axis.

    >>> jnp.dsplit(jnp.array([[[1, 2]]]), 2)
    [Array([[[1]]], dtype=int32), Array([[[2]]], dtype=int32)]
    """
    return split(ary, indices_or_sections, 2)


def resize(a: Any, new_shape: Any) -> Array:
    """The elements, in order and from the start again, in another shape.

    >>> jnp.resize(jnp.array([1, 2]), (2, 3))
    Array([[1, 2, 1],
           [2, 1, 2]], dtype=int32)
    """
    x = ravel(array_operand("resize", a))
    shape = shape_argument("resize", new_shape)
    total = math.prod(shape)
    size = typeof(x).size
    if not size or not total:
        return lax.full(shape, 0, typeof(x).dtype)
    return reshape(concatenate([x] * (-(-total // size)))[:total], shape)


_REMEDIES = {
    "delete": "give assume_unique_indices=True for integers that are distinct",
    "insert": "give integers, which may be traced, in the place of booleans",
}


def _positions(name: str, obj: Any, size: int) -> np.ndarray[Any, Any]:
    """Places along an axis, known while tracing: integers, booleans or a slice."""
    if isinstance(obj, slice):
        return np.arange(size)[obj]
    places = known(name, "obj", obj, _REMEDIES[name])
    if places.dtype.kind == "b":
        if name == "delete" and places.shape != (size,):
            raise ValueError(
                f"delete: booleans in obj must be one for each of the {size} slices, but have the "
                f"shape {places.shape}."
            )
        places = np.flatnonzero(places)
    is_empty_list = not places.size and not hasattr(obj, "dtype")
    if places.dtype.kind not in "iu" and not is_empty_list:
        raise TypeError(f"{name} takes integers, booleans or a slice, but obj is {obj!r:.60}.")
    places = places.astype(np.int64)
    limit = size + (name == "insert")
    if ((places < -size) | (places >= limit)).any():
        raise IndexError(f"{name}: obj {obj!r:.60} is out of bounds for an axis of size {size}.")
    return np.where(places < 0, places + size, places)


def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Array:
    """An array without some of its slices.

    Args:
        arr: an array.
        obj: which: integers, booleans or a slice, known while tracing. With
            ``assume_unique_indices`` integers may be traced.
        axis: the axis; None deletes of all elements, in order.
        assume_unique_indices: a promise that integers are distinct and within bounds.

    Raises:
        IndexError: for indices out of bounds.

    >>> jnp.delete(jnp.array([1, 2, 3]), 1)
    Array([1, 3], dtype=int32)
    """
    x, place = along("delete", array_operand("delete", arr), axis)
    size = typeof(x).shape[place]
    if assume_unique_indices and is_value(obj) and typeof(obj).dtype != dtypes.bool_:
        gone = ravel(array_operand("delete", obj))
        kept = lax.full((size,), 1, np.int32).at[gone].set(0, mode="drop")
        left = size - typeof(gone).size
        order = lax.sort_key_val(1 - kept, lax.iota(np.int32, size), 0)[1]
        return take(x, order[:left], place, mode="clip")
    index = np.delete(np.arange(size), _positions("delete", obj, size))
    return take(x, index.astype(np.int32), place) if size else x


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """An array with further slices.

    Args:
        arr: an array.
        obj: before which slices: integers, booleans or a slice. Integers may be traced; those out
            of bounds then give no error.
        values: the new slices; they broadcast, and are converted to the dtype of the array.
        axis: the axis; None inserts among all elements, in order.

    Raises:
        IndexError: for indices out of bounds.

    >>> jnp.insert(jnp.array([1, 2, 3]), 1, 9)
    Array([1, 9, 2, 3], dtype=int32)
    """
    x, place = along("insert", array_operand("insert", arr), axis)
    shape = list(typeof(x).shape)
    size = shape[place]
    traced = isinstance(obj, Tracer) and dtypes.is_integer(typeof(obj).dtype)
    at = obj if traced else _positions("insert", obj, size)
    new = put_into("insert", values, typeof(x).dtype)
    new = lax.broadcast_to_rank(new, len(shape))
    if at.size == 1:
        # One place, to which all values go; the first axis counts them if obj is a scalar.
        new = moveaxis(new, 0, place) if at.ndim == 0 else new
        repeats = (typeof(new).shape[place],)
        at = broadcast_to(reshape(at, (1,)), repeats) if traced else np.full(repeats, at.item())
    shape[place] = at.shape[0]
    new = broadcast_to(new, shape)
    both = concatenate([x, new], place)
    if traced:
        return take(both, _places_after(at, size), place, mode="clip")
    index = np.insert(np.arange(size), at, size + np.arange(len(at)))
    return take(both, index.astype(np.int32), place)


def _places_after(at: Any, size: int) -> Any:
    """Where each slice of the result of ``insert`` comes from: the old slices, then the new."""
    (count,) = typeof(at).shape
    at = lax.convert_element_type(at, np.int32)
    at = lax.select(at < 0, at + size, at)
    order = lax.sort_key_val(at, lax.iota(np.int32, count), 0)[1]
    target = (
        lax.full((count,), 0, np.int32)
        .at[order]
        .set(take(at, order) + lax.iota(np.int32, count), unique_indices=True)
    )
    is_new = lax.full((size + count,), 0, np.int32).at[target].set(1, mode="drop")
    old = lax.cumsum(1 - is_new, 0) - 1
    return old.at[target].set(size + lax.iota(np.int32, count), mode="drop")


def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Array:
    """An array without the zeros at its ends, which must be known while tracing.

    Args:
        filt: an array.
        trim: "f" for the front, "b" for the back, "fb" for both.
        axis: the axes that are made shorter; by default all.

    Raises:
        ValueError: for any other ``trim``.

    >>> jnp.trim_zeros(jnp.array([0, 1, 0, 2, 0]))
    Array([1, 0, 2], dtype=int32)
    """
    x = array_operand("trim_zeros", filt)
    ends = trim.lower() if isinstance(trim, str) else ""
    if ends not in ("f", "b", "fb", "bf"):
        raise ValueError(f"trim_zeros: trim must be 'f', 'b' or 'fb', but it is {trim!r}.")
    axes = axes_argument("trim_zeros", axis, typeof(x).ndim, "axis")
    host = known("trim_zeros", "filt", x, "cut it outside of the transformation") != 0
    index: list[Any] = [slice(None)] * typeof(x).ndim
    for i in axes:
        others = tuple(j for j in range(host.ndim) if j != i)
        places = np.flatnonzero(host.any(others))
        if not len(places):
            index[i] = slice(0, 0)
            continue
        start = int(places[0]) if "f" in ends else 0
        index[i] = slice(start, int(places[-1]) + 1 if "b" in ends else None)
    return x[tuple(index)]
