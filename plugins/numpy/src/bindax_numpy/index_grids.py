"""Grids of indices, places of elements counted in order, and arrays written with brackets.

>>> jnp.mgrid[0:2, 0:3].shape, [axis.shape for axis in jnp.ogrid[0:2, 0:3]]
((2, 2, 3), [(2, 1), (1, 3)])
>>> jnp.r_[1:3, 7], jnp.c_[jnp.array([1, 2]), jnp.array([3, 4])].shape
(Array([1, 2, 7], dtype=int32), (2, 2))
>>> jnp.s_[1:3], jnp.index_exp[1:3]
(slice(1, 3, None), (slice(1, 3, None),))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, Tracer, is_value, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    axis_argument,
    canonical_dtype,
    convert,
    default_dtype,
    integer_limits,
    promote_dtypes,
    shape_argument,
)
from bindax_numpy._operands import array_operand
from bindax_numpy.arithmetic import clip
from bindax_numpy.concatenate import concatenate, stack
from bindax_numpy.creation import asarray
from bindax_numpy.indexing import bounded, index_operand
from bindax_numpy.ranges import arange, linspace, meshgrid
from bindax_numpy.reshaping import atleast_1d, expand_dims, moveaxis
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
    grids = meshgrid(*(lax.iota(wanted, n) for n in shape), sparse=sparse, indexing="ij")
    if sparse:
        return tuple(grids)
    return stack(grids) if grids else lax.full((0,), 0, wanted)


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
        shape: the shape of the array; its sizes may be traced.

    >>> jnp.unravel_index(jnp.array([5]), (2, 3))
    (Array([1], dtype=int32), Array([2], dtype=int32))
    """
    x = index_operand("unravel_index", indices)
    several = isinstance(shape, (tuple, list)) or (is_value(shape) and typeof(shape).shape)
    sizes = tuple(shape) if several else (shape,)
    if not any(isinstance(size, Tracer) for size in sizes):
        sizes = shape_argument("unravel_index", sizes)
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
        mode: what happens out of bounds: "clip", "wrap", "ignore", which counts on, or "raise",
            which needs indices that are known while tracing.
        order: "C" counts the last axis first, "F" the first one.
        dtype: the dtype of the result; by default that of the indices.

    Raises:
        ValueError: for indices out of bounds with "raise", other modes and orders, and a dtype
            that cannot hold all places.

    >>> jnp.ravel_multi_index((jnp.array([1]), jnp.array([2])), (2, 3))
    Array([5], dtype=int32)
    """
    sizes = shape_argument("ravel_multi_index", dims)
    given = promote_dtypes(*(index_operand("ravel_multi_index", i) for i in multi_index))
    if len(given) != len(sizes):
        raise ValueError(
            f"ravel_multi_index: there are indices for {len(given)} axes, but dims are {sizes}."
        )
    if mode not in ("raise", "clip", "wrap", "ignore") or order not in ("C", "F"):
        raise ValueError(
            f"ravel_multi_index: mode must be 'raise', 'clip', 'wrap' or 'ignore' and order 'C' or "
            f"'F', but they are {mode!r} and {order!r}."
        )
    wanted = typeof(given[0]).dtype if dtype is None else canonical_dtype(dtype)
    if math.prod(sizes) - 1 > integer_limits(wanted)[1]:
        raise ValueError(
            f"ravel_multi_index: {wanted.name} cannot hold the places of all elements of an array "
            f"of the shape {sizes}; give a wider dtype."
        )
    given = tuple([convert(i, wanted, False) for i in given])
    pairs = list(zip(given, sizes, strict=True))
    out: Any = 0
    for i, n in pairs if order == "C" else reversed(pairs):
        within = bounded("ravel_multi_index", "multi_index", i, n, mode, f"dims {sizes}")
        out = out * n + within
    return convert(array_operand("ravel_multi_index", out), wanted, False)


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


def _numbers(name: str, given: slice) -> Any:
    """The numbers of a slice: a range, or for an imaginary step as many evenly spaced ones."""
    start, stop, step = given.start, given.stop, given.step
    if start is stop is step is None:
        stop = 0
    start = 0 if start is None else start
    if stop is None:
        raise ValueError(f"{name}: a slice needs its end, but it is {given}.")
    if isinstance(step, complex):
        return linspace(start, stop, int(abs(step)))
    return arange(start, stop, step)


class _Grid:
    """The coordinates of grids, from a slice for each axis."""

    def __init__(self, name: str, sparse: bool) -> None:
        self._name, self._sparse = name, sparse

    def __repr__(self) -> str:
        return f"bindax.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _numbers(self._name, key)
        parts = [_numbers(self._name, part) for part in key]
        if parts:
            dtype = dtypes.joined_dtype(*(typeof(part).dtype for part in parts))
            parts = [convert(part, dtype, False) for part in parts]
        grids = meshgrid(*parts, sparse=self._sparse, indexing="ij") if parts else []
        if self._sparse:
            return grids
        return stack(grids) if grids else asarray([], int)


_MATRICES = ("r", "c")


class _Joined:
    """Arrays, numbers and ranges joined along an axis."""

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int) -> None:
        self._name, self._axis, self._ndmin, self._trans1d = name, axis, ndmin, trans1d

    def __repr__(self) -> str:
        return f"bindax.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Array:
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, trans1d = self._axis, self._ndmin, self._trans1d
        matrix = ""
        if parts and isinstance(parts[0], str):
            matrix = parts[0] if parts[0] in _MATRICES else ""
            if not matrix:
                axis, ndmin, trans1d = self._directive(parts[0])
            parts = parts[1:]
        if not parts:
            raise ValueError(f"{self._name}: there is nothing between the brackets to join.")
        joined = concatenate([self._part(part, ndmin, trans1d) for part in parts], axis)
        if not matrix or typeof(joined).ndim > 1:
            return joined
        return joined[None, :] if matrix == "r" else joined[:, None]

    def _directive(self, text: str) -> tuple[int, int, int]:
        """Up to three integers: the axis, the least number of axes, and where a vector's goes."""
        try:
            numbers = [int(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ValueError(
                f"{self._name}: the first entry may be up to three integers such as '0,2,-1', "
                f"or 'r' or 'c' for a matrix of one row or column, but it is {text!r}."
            )
        given = (*numbers, *(self._axis, self._ndmin, self._trans1d)[len(numbers) :])
        return given[0], given[1], given[2]

    def _part(self, part: Any, ndmin: int, trans1d: int) -> Any:
        if isinstance(part, slice):
            x = _numbers(self._name, part)
        else:
            x = array_operand(self._name, part if is_value(part) else asarray(part))
        own = typeof(x).ndim
        x = atleast_1d(x)
        missing = ndmin - typeof(x).ndim
        if missing <= 0:
            return x
        ndim = max(own, 1)
        x = expand_dims(x, tuple(range(missing)))
        # The axes that were there go to `trans1d` of the new ones, counted as NumPy does.
        start = trans1d if trans1d >= 0 else trans1d + ndmin - ndim + 1
        return moveaxis(x, tuple(range(missing, ndmin)), tuple(range(start, start + ndim)))


class _IndexExpression:
    """An object whose brackets return their contents as a value."""

    def __init__(self, name: str, always_tuple: bool) -> None:
        self._name, self._always_tuple = name, always_tuple

    def __repr__(self) -> str:
        return f"bindax.numpy.{self._name}"

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._always_tuple and not isinstance(key, tuple) else key


mgrid: _Grid = _Grid("mgrid", sparse=False)
"""The coordinates of all points of a grid: ``mgrid[0:2, 0:3]`` has the shape (2, 2, 3)."""
ogrid: _Grid = _Grid("ogrid", sparse=True)
"""The coordinates along each axis of a grid, of size 1 along the other axes."""
r_: _Joined = _Joined("r_", 0, 1, -1)
"""Arrays, numbers and ranges joined along the first axis: ``r_[1:4, 0, [7, 8]]``."""
c_: _Joined = _Joined("c_", -1, 2, 0)
"""Vectors joined as columns: ``c_[x, y]``."""
s_: _IndexExpression = _IndexExpression("s_", always_tuple=False)
"""An index as a value: ``s_[::2, 1]``."""
index_exp: _IndexExpression = _IndexExpression("index_exp", always_tuple=True)
"""An index as a value, always a tuple."""
