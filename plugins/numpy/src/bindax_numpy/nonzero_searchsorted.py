"""Where elements are: those that are not zero, and places in sorted vectors.

How many elements are not zero depends on values. Where those are traced, ``size`` says how many
are returned: what is over is left out, and ``fill_value`` stands for what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.errors import ConcretizationTypeError
from bindax_core.extend import Array, Dimension, Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    broadcast_to,
    convert,
    default_dtype,
    promote_dtypes,
    refuse_out,
    static_int,
)
from bindax_numpy._operands import array_operand, strong_operand
from bindax_numpy.concatenate import stack
from bindax_numpy.index_grids import unravel_index
from bindax_numpy.indexing import take
from bindax_numpy.reshaping import along, moveaxis, ravel


def static_size(name: str, count: Any, size: Any, argument: str = "size") -> int:
    """Return the number of elements of a result: as asked for, or as counted."""
    if size is not None:
        return static_int(name, argument, size)
    try:
        return int(count)
    except ConcretizationTypeError:
        raise ConcretizationTypeError(
            f"{name}: how many elements the result has depends on values, which are traced here; "
            f"say how many with {argument}."
        ) from None


def true_places(name: str, mask: Any, size: Any) -> tuple[Any, Any]:
    """The places of the true elements of a vector, and how many there are.

    What is missing to ``size`` is the size of the vector, which is out of bounds.
    """
    counts = lax.cumsum(convert(mask, default_dtype("int"), False), 0)
    length = typeof(mask).size
    count = counts[-1] if length else lax.full((), 0, default_dtype("int"))
    n = static_size(name, count, size)
    index = lax.iota(default_dtype("int"), length)
    # Each true element is written to its place; the others are written to none.
    target = lax.select(mask, counts - 1, lax.full_like(counts, n))
    places = lax.full((n,), length, default_dtype("int"))
    return places.at[target].set(index, mode="drop"), count


def present(places: Any, count: Any) -> Any:
    """Tell which of some elements count, the first ones."""
    return lax.lt(lax.iota(default_dtype("int"), typeof(places).size), count)


def filled(values: Any, counts: Any, fill_value: Any) -> Any:
    """Slices with a filler, by default the first one, where they do not count."""
    aval = typeof(values)
    if not aval.shape[0]:
        return values
    own = values[:1] if fill_value is None else convert(fill_value, aval.dtype, aval.weak_type)
    counts = lax.broadcast_in_dim(counts, aval.shape, (0,))
    return lax.select(counts, values, broadcast_to(own, aval.shape))


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, for each axis.

    Args:
        a: an array.
        size: how many are returned; needed where ``a`` is traced.
        fill_value: what stands for those that are missing, 0 by default: an integer, or one for
            each axis.

    Raises:
        ConcretizationTypeError: without ``size`` where ``a`` is traced.
        ValueError: for a scalar.

    >>> jnp.nonzero(jnp.array([0, 5, 0, 7]), size=3, fill_value=-1)
    (Array([ 1,  3, -1], dtype=int32),)
    """
    return _nonzero("nonzero", array_operand("nonzero", a), size, fill_value)


def _nonzero(name: str, x: Any, size: Any, fill_value: Any) -> tuple[Array, ...]:
    aval = typeof(x)
    if not aval.shape:
        raise ValueError(f"{name} takes arrays with axes, but got a scalar; use atleast_1d first.")
    places, count = true_places(name, ravel(convert(x, dtypes.bool_, False)), size)
    fillers = _fillers(name, fill_value, aval.ndim)
    if not aval.size:
        return tuple(lax.full_like(places, filler) for filler in fillers)
    counts = present(places, count)
    pairs = zip(unravel_index(places, aval.shape), fillers, strict=True)
    return tuple(filled(index, counts, filler) for index, filler in pairs)


def _fillers(name: str, fill_value: Any, ndim: int) -> list[Any]:
    if fill_value is None:
        return [0] * ndim
    if not isinstance(fill_value, (tuple, list)):
        return [fill_value] * ndim
    if len(fill_value) != ndim:
        raise ValueError(
            f"{name}: fill_value must be one integer, or one for each of {ndim} axes, but it is "
            f"{fill_value}."
        )
    return list(fill_value)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The places of the elements that are not zero, counted in order; as ``nonzero``.

    >>> jnp.flatnonzero(jnp.array([[0, 5], [7, 0]]))
    Array([1, 2], dtype=int32)
    """
    return _nonzero("flatnonzero", ravel(a), size, fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero, each as a row; as ``nonzero``.

    >>> jnp.argwhere(jnp.array([[0, 5], [7, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    x = array_operand("argwhere", a)
    if not typeof(x).shape:
        count = static_size("argwhere", convert(x, dtypes.bool_, False), size)
        return lax.full((count, 0), 0, default_dtype("int"))
    return stack(_nonzero("argwhere", x, size, fill_value), 1)


def mask_indices(
    n: int, mask_func: Callable[..., Any], k: Any = 0, *, size: int | None = None
) -> tuple[Array, ...]:
    """The rows and columns that a function such as ``triu`` leaves of a square matrix.

    Args:
        n: the number of rows.
        mask_func: a function of a matrix and ``k``.
        k: its second argument.
        size: how many are returned; needed where the result of the function is traced.

    >>> jnp.mask_indices(2, jnp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return nonzero(mask_func(lax.full((n, n), 1, np.int32), k), size=size)


def compress(
    condition: Any,
    a: Any,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
    out: None = None,
) -> Array:
    """The slices along an axis for which a condition holds.

    Args:
        condition: a vector of booleans.
        a: an array.
        axis: the axis; None takes from all elements, in order.
        size: how many are returned; needed where the condition is traced.
        fill_value: what stands for those that are missing.
        out: None.

    >>> jnp.compress(jnp.array([True, False, True]), jnp.array([1, 2, 3]))
    Array([1, 3], dtype=int32)
    """
    refuse_out("compress", out)
    mask = convert(array_operand("compress", condition), dtypes.bool_, False)
    x, axis = along("compress", array_operand("compress", a), axis)
    x = moveaxis(x, axis, 0)
    if typeof(mask).ndim != 1:
        raise ValueError(f"compress: condition must be a vector, not {typeof(mask).str_short()}.")
    length = min(typeof(mask).size, typeof(x).shape[0])
    if size is None and not isinstance(mask, Tracer) and np.asarray(mask)[length:].any():
        raise ValueError(
            f"compress: condition has {typeof(mask).size} entries, of which one that is true is "
            f"beyond the {length} slices along axis {axis} of {typeof(a).str_short()}."
        )
    places, count = true_places("compress", mask[:length], size)
    nothing = lax.full_like(x, 0, shape=(typeof(places).size, *typeof(x).shape[1:]))
    taken = take(x, places, 0, mode="clip") if length else nothing
    return moveaxis(filled(taken, present(places, count), fill_value), 0, axis)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Array:
    """The elements for which a condition holds, in order; arguments as for ``compress``.

    >>> jnp.extract(jnp.array([True, False, True]), jnp.array([1, 2, 3]))
    Array([1, 3], dtype=int32)
    """
    return compress(ravel(condition), arr, size=size, fill_value=fill_value)


_PLACE = np.dtype(np.int32)
_MOST_HALVINGS = 31  # of an axis whose positions are of that dtype


def _precedes(x: Any, y: Any) -> Any:
    """Tell whether x comes before y in an order where nan comes last."""
    if dtypes.is_complex(typeof(x).dtype):
        # By the real parts, and where they are equal by the imaginary ones.
        first, second = ((lax.real(x), lax.real(y)), (lax.imag(x), lax.imag(y)))
        tied = lax.bitwise_not(lax.bitwise_or(_precedes(*first), _precedes(*first[::-1])))
        return lax.bitwise_or(_precedes(*first), lax.bitwise_and(tied, _precedes(*second)))
    less = lax.lt(x, y)
    if not dtypes.is_inexact(typeof(x).dtype):
        return less
    return lax.bitwise_or(less, lax.bitwise_and(lax.eq(x, x), lax.ne(y, y)))


_METHODS = ("compare_all", "scan", "scan_unrolled", "sort")


def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Array:
    """The places in a sorted vector before which elements keep it sorted.

    Args:
        a: a vector in ascending order, nan last.
        v: the elements; complex numbers are ordered by real, then imaginary parts.
        side: "left" for the first such place, "right" for the last.
        sorter: the indices that sort ``a``, if it is not sorted.
        method: accepted for compatibility; the search halves the vector at each step.

    Returns:
        Indices from 0 to the size of ``a``, int32, of the shape of ``v``.

    Raises:
        ValueError: for any other side, and when ``a`` is no vector.

    >>> jnp.searchsorted(jnp.array([1, 2, 2, 5]), jnp.array([2, 9]))
    Array([1, 4], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', but it is {side!r}.")
    if method not in _METHODS:
        raise ValueError(
            f"searchsorted: method must be one of {', '.join(map(repr, _METHODS))}, but it is "
            f"{method!r}."
        )
    x = array_operand("searchsorted", a)
    if typeof(x).ndim != 1:
        raise ValueError(f"searchsorted: a must be a vector, but it is {typeof(x).str_short()}.")
    if sorter is not None:
        x = take(x, sorter)
    x, wanted = promote_dtypes(x, array_operand("searchsorted", v))
    size, shape = typeof(x).size, typeof(wanted).shape
    low = lax.full(shape, 0, _PLACE)
    if not size:
        return low
    high = lax.full(shape, size, _PLACE)
    for _ in range(_MOST_HALVINGS if isinstance(size, Dimension) else size.bit_length()):
        middle = (low + high) // 2
        found = take(x, middle, mode="clip")
        right = _precedes(found, wanted)
        if side == "right":
            right = lax.bitwise_not(_precedes(wanted, found))
        # Where nothing is left between the bounds, neither moves.
        right = lax.bitwise_and(right, lax.lt(low, high))
        low, high = lax.select(right, middle + 1, low), lax.select(right, high, middle)
    return low


def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Array:
    """The numbers of the intervals between sorted bounds in which elements are.

    Args:
        x: an array of real numbers.
        bins: a vector of bounds, ascending or descending.
        right: whether an interval holds its upper bound rather than its lower one.
        method: accepted for compatibility.

    >>> jnp.digitize(jnp.array([0.5, 1.0, 9.0]), jnp.array([1.0, 2.0]))
    Array([0, 1, 2], dtype=int32)
    """
    bounds = strong_operand("digitize", bins)
    if typeof(bounds).ndim != 1:
        raise ValueError(f"digitize: bins must be a vector, not {typeof(bounds).str_short()}.")
    size = typeof(bounds).size
    if not size:
        return lax.full(typeof(x).shape, 0, _PLACE)
    side = "left" if right else "right"
    up = searchsorted(bounds, x, side, method=method or "scan")
    down = size - searchsorted(lax.rev(bounds, (0,)), x, side)
    ascending = lax.ge(bounds[-1], bounds[0])
    return lax.select(lax.full_like(up, ascending, dtype=dtypes.bool_), up, down)
