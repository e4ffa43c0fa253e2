"""The shape of arrays: reshaping, axes, broadcasting; and elements moved along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

import bindax_lax_basic as lax
from bindax_core.errors import ShapeError
from bindax_core.extend import Array, Tracer, typeof
from bindax_lax_basic.extend import (
    axes_argument,
    axis_argument,
    convert,
    shape_argument,
    static_int,
    static_ints,
)
from bindax_lax_basic.extend import broadcast_to as lax_broadcast_to
from bindax_numpy._operands import array_operand, listed_axes
from bindax_transforms.extend import decided


def reshape(
    a: Any, shape: Any, order: str = "C", *, copy: bool | None = None, out_sharding: Any = None
) -> Array:
    """The elements of an array, in order, in another shape.

    Args:
        a: an array.
        shape: its new sizes; one may be -1, which means what is left.
        order: "C" counts the last axis fastest, "F" the first.
        copy: True for bytes of its own; otherwise accepted for compatibility.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ShapeError: when the number of elements differs.

    >>> jnp.reshape(jnp.arange(4), (2, -1))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    if out_sharding is not None:
        return decided(reshape, out_sharding, (a, shape, order), {"copy": copy})
    x = array_operand("reshape", a)
    x = lax.copy(x) if copy else x
    aval = typeof(x)
    sizes = list(static_ints("reshape", "shape", shape))
    if sizes.count(-1) == 1:
        known = math.prod(size for size in sizes if size != -1)
        if known <= 0 or aval.size % known:
            raise ShapeError(
                f"reshape: {aval.str_short()} with {aval.size} elements cannot take the shape "
                f"{tuple(sizes)}; what -1 stands for is not an integer."
            )
        sizes[sizes.index(-1)] = aval.size // known
    elif -1 in sizes:
        raise ValueError(f"reshape: only one size can be -1, but the shape is {tuple(sizes)}.")
    if order == "C":
        return lax.reshape(x, sizes)
    if order != "F":
        raise ValueError(f"reshape: order must be 'C' or 'F', but it is {order!r}.")
    return transpose(lax.reshape(transpose(x), sizes[::-1]))


def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Array:
    """The elements of an array along one axis; ``order`` as for ``reshape``.

    >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    if out_sharding is not None:
        return decided(ravel, out_sharding, (a, order))
    x = array_operand("ravel", a)
    return reshape(x, (typeof(x).size,), order)


def along(name: str, x: Any, axis: Any) -> tuple[Any, int]:
    """An array and the number of an axis; where that is None, all elements, in order."""
    if axis is None:
        return ravel(x), 0
    return x, axis_argument(name, axis, typeof(x).ndim)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Array:
    """The axes of an array permuted.

    Args:
        a: an array.
        axes: for each axis of the result, that of ``a``; by default they are reversed.

    >>> jnp.transpose(jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    x = array_operand("transpose", a)
    ndim = typeof(x).ndim
    if axes is None:
        return lax.transpose(x, tuple(reversed(range(ndim))))
    return lax.transpose(x, listed_axes("transpose", axes, ndim, "axes"))


def permute_dims(a: Any, /, axes: Sequence[int]) -> Array:
    """The axes of an array permuted, like ``transpose``.

    >>> jnp.permute_dims(jnp.zeros((1, 2, 3)), (2, 0, 1)).shape
    (3, 1, 2)
    """
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Array:
    """The last two axes exchanged.

    >>> jnp.matrix_transpose(jnp.zeros((4, 2, 3))).shape
    (4, 3, 2)
    """
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Two axes exchanged.

    >>> jnp.swapaxes(jnp.zeros((1, 2, 3)), 0, 2).shape
    (3, 2, 1)
    """
    x = array_operand("swapaxes", a)
    ndim = typeof(x).ndim
    order = list(range(ndim))
    i, j = (axis_argument("swapaxes", axis, ndim) for axis in (axis1, axis2))
    order[i], order[j] = j, i
    return lax.transpose(x, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Axes moved to other places; the others keep their order.

    Args:
        a: an array.
        source: an axis, or several.
        destination: where they are in the result, as many.

    >>> jnp.moveaxis(jnp.zeros((1, 2, 3)), 0, -1).shape
    (2, 3, 1)
    """
    x = array_operand("moveaxis", a)
    ndim = typeof(x).ndim
    origins = listed_axes("moveaxis", source, ndim, "source")
    places = listed_axes("moveaxis", destination, ndim, "destination")
    if not len(origins) == len(places) == len(set(origins)) == len(set(places)):
        raise ValueError(
            f"moveaxis: source and destination must name as many axes, each once, but they are "
            f"{source} and {destination}."
        )
    order = [axis for axis in range(ndim) if axis not in origins]
    for place, origin in sorted(zip(places, origins, strict=True)):
        order.insert(place, origin)
    return lax.transpose(x, order)


def as_last_axis(x: Any, axes: Sequence[int]) -> Any:
    """An array with some axes moved behind the others and made one."""
    shape = typeof(x).shape
    kept = [i for i in range(len(shape)) if i not in axes]
    sizes = [shape[i] for i in kept]
    return reshape(transpose(x, (*kept, *axes)), (*sizes, math.prod(shape[i] for i in axes)))


def squeeze(a: Any, axis: Any = None) -> Array:
    """Axes of size one removed.

    Args:
        a: an array.
        axis: an axis, several, or None for all of size one.

    Raises:
        ValueError: when an axis has another size.

    >>> jnp.squeeze(jnp.zeros((2, 1, 3, 1))).shape
    (2, 3)
    """
    return lax.squeeze(array_operand("squeeze", a), axis)


def expand_dims(a: Any, axis: Any) -> Array:
    """New axes of size one.

    Args:
        a: an array.
        axis: where it is, or they are, in the result.

    >>> jnp.expand_dims(jnp.arange(3), 1).shape
    (3, 1)
    """
    x = array_operand("expand_dims", a)
    return lax.expand_dims(x, static_ints("expand_dims", "axis", axis))


def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Array:
    """An array repeated along new axes and those of size one.

    Args:
        array: an array.
        shape: the shape of the result.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when the array does not broadcast to it.

    >>> jnp.broadcast_to(jnp.arange(2), (3, 2))
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    if out_sharding is not None:
        return decided(broadcast_to, out_sharding, (array, shape))
    x = array_operand("broadcast_to", array)
    sizes = shape_argument("broadcast_to", shape)
    own = typeof(x).shape
    fits = len(own) <= len(sizes) and all(
        size in (1, wanted) for size, wanted in zip(own[::-1], sizes[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"broadcast_to: {typeof(x).str_short()} does not broadcast to the shape {sizes}; from "
            f"the last axis on, sizes must be 1 or equal."
        )
    return lax_broadcast_to(x, sizes)


def broadcast_arrays(*args: Any) -> list[Array]:
    """Arrays repeated to the shape that they broadcast to together.

    >>> [x.shape for x in jnp.broadcast_arrays(jnp.zeros((3, 1)), jnp.zeros(2))]
    [(3, 2), (3, 2)]
    """
    arrays = [array_operand("broadcast_arrays", x) for x in args]
    shape = lax.broadcast_shapes(*(typeof(x).shape for x in arrays))
    return [lax_broadcast_to(x, shape) for x in arrays]


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to together.

    >>> jnp.broadcast_shapes((3, 1), 2)
    (3, 2)
    """
    return lax.broadcast_shapes(*(shape_argument("broadcast_shapes", s) for s in shapes))


def _at_least(name: str, arrays: Sequence[Any], new_axes: Sequence[tuple[int, ...]]) -> Any:
    """Arrays with new axes, as many as those with none, one and so on get."""
    made = [array_operand(name, a) for a in arrays]
    for i, x in enumerate(made):
        if typeof(x).ndim < len(new_axes):
            made[i] = lax.expand_dims(x, new_axes[typeof(x).ndim])
    return made[0] if len(made) == 1 else made


@overload
def atleast_1d(ary: Any, /) -> Array: ...
@overload
def atleast_1d(*arys: Any) -> list[Array]: ...
def atleast_1d(*arys: Any) -> Any:
    """Arrays with one axis or more; scalars get one. Several arrays give a list.

    >>> jnp.atleast_1d(1.0)
    Array([1.], dtype=float32, weak_type=True)
    """
    return _at_least("atleast_1d", arys, ((0,),))


@overload
def atleast_2d(ary: Any, /) -> Array: ...
@overload
def atleast_2d(*arys: Any) -> list[Array]: ...
def atleast_2d(*arys: Any) -> Any:
    """Arrays with two axes or more; new ones are in front.

    >>> jnp.atleast_2d(jnp.arange(2))
    Array([[0, 1]], dtype=int32)
    """
    return _at_least("atleast_2d", arys, ((0, 1), (0,)))


@overload
def atleast_3d(ary: Any, /) -> Array: ...
@overload
def atleast_3d(*arys: Any) -> list[Array]: ...
def atleast_3d(*arys: Any) -> Any:
    """Arrays with three axes or more; vectors get one on either side, matrices one behind.

    >>> jnp.atleast_3d(jnp.arange(2)).shape
    (1, 2, 1)
    """
    return _at_least("atleast_3d", arys, ((0, 1, 2), (0, 2), (2,)))


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """An axis moved to before another one.

    Args:
        a: an array.
        axis: the axis.
        start: before which axis it is then; the number of axes for the end.

    >>> jnp.rollaxis(jnp.zeros((1, 2, 3)), 2).shape
    (3, 1, 2)
    """
    ndim = typeof(array_operand("rollaxis", a)).ndim
    origin = axis_argument("rollaxis", axis, ndim)
    before = axis_argument("rollaxis", start, ndim + 1, "start") if start >= 0 else start + ndim
    return moveaxis(a, origin, before - (origin < before))


def flip(m: Any, axis: Any = None) -> Array:
    """The elements in reverse order along axes.

    Args:
        m: an array.
        axis: an axis, several, or None for all.

    >>> jnp.flip(jnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    x = array_operand("flip", m)
    return lax.rev(x, axes_argument("flip", axis, typeof(x).ndim, "axis"))


def flipud(m: Any) -> Array:
    """The elements in reverse order along the first axis.

    >>> jnp.flipud(jnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: Any) -> Array:
    """The elements in reverse order along the second axis.

    >>> jnp.fliplr(jnp.array([[1, 2]]))
    Array([[2, 1]], dtype=int32)
    """
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """An array turned by right angles in the plane of two axes.

    Args:
        m: an array.
        k: how many right angles, from the first axis towards the second.
        axes: the two axes.

    >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    x = array_operand("rot90", m)
    places = listed_axes("rot90", axes, typeof(x).ndim, "axes")
    if len(places) != 2 or places[0] == places[1]:
        raise ValueError(f"rot90: axes must name two different axes, but they are {axes}.")
    first, second = places
    turns = static_int("rot90", "k", k) % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, (first, second))
    turned = swapaxes(x, first, second)
    return flip(turned, first if turns == 1 else second)


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """The elements moved along axes; what leaves at the end enters at the start.

    Args:
        a: an array.
        shift: by how many places: an integer, which may be traced, or one for each axis.
        axis: an axis, several, or None for all elements, in order.

    >>> jnp.roll(jnp.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    x = array_operand("roll", a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), typeof(x).shape)
    axes = listed_axes("roll", axis, typeof(x).ndim)
    if isinstance(shift, Tracer):
        shifts: list[Any] = [shift] * len(axes) if not typeof(shift).shape else list(shift)
    else:
        shifts = list(static_ints("roll", "shift", shift))
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts cannot be paired with {len(axes)} axes.")
    for place, by in zip(axes, shifts, strict=True):
        x = _roll_axis(x, by, place)
    return x


def _roll_axis(x: Any, by: Any, axis: int) -> Any:
    size = typeof(x).shape[axis]
    if size == 0:
        return x
    if isinstance(by, Tracer):
        # The part that starts at `size - by` of the array and its copy behind it.
        start = convert((-by) % size, np.dtype(np.int32), False)
        return lax.dynamic_slice_in_dim(lax.concatenate([x, x], axis), start, size, axis)
    start = -by % size
    if start == 0:
        return x
    tail = lax.slice_in_dim(x, start, size, axis=axis)
    return lax.concatenate([tail, lax.slice_in_dim(x, 0, start, axis=axis)], axis)
