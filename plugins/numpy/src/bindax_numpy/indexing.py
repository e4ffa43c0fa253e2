"""Elements by their indices, diagonals, and arrays of indices."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    axis_argument,
    convert,
    default_dtype,
    refuse_out,
    shape_argument,
    static_int,
)
from bindax_numpy._operands import (
    array_operand,
    checked,
    known,
)
from bindax_numpy.arithmetic import clip
from bindax_numpy.reductions import sum
from bindax_numpy.reshaping import along, moveaxis, ravel, reshape

_MODES = (None, "fill", "clip", "wrap")


def index_operand(name: str, indices: Any) -> Any:
    """Indices, checked: arrays of integers."""
    x = array_operand(name, indices)
    aval = typeof(x)
    if not dtypes.is_integer(aval.dtype):
        raise TypeError(f"{name} takes integers as indices, but got {aval.str_short()}.")
    return x


def bounded(name: str, argument: str, index: Any, size: int, mode: Any, where: str) -> Any:
    """Indices that are wrapped, clipped, or with "raise" checked, which must be known for it."""
    if mode == "ignore":
        return index
    if mode == "wrap":
        return index % size
    if mode == "raise":
        host = known(name, argument, index, "give mode='clip' or mode='wrap'")
        if ((host < 0) | (host >= size)).any():
            raise ValueError(f"{name}: an index is out of bounds for {where}.")
    return clip(index, 0, size - 1)


def _mode_argument(name: str, mode: Any) -> str:
    if mode not in _MODES:
        raise ValueError(f"{name}: mode must be one of {_MODES}, but it is {mode!r}.")
    return mode or "fill"


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Slices of an array along an axis, by their indices.

    Args:
        a: an array.
        indices: integers, of any shape, which takes the place of the axis.
        axis: the axis; None takes from all elements, in order.
        out: None.
        mode: what is read out of bounds: "fill", the default, for ``fill_value``; "clip" for the
            nearest slice; "wrap" to count on from the start; "raise" for an error, which takes
            indices that are known while tracing. With "fill" negative indices count from the end.
        unique_indices: a promise that may help a compiler.
        indices_are_sorted: likewise.
        fill_value: by default nan for floats, the least value of signed and the greatest of
            unsigned integers.

    >>> jnp.take(jnp.array([10.0, 20.0, 30.0]), jnp.array([2, 0, 7]))
    Array([30., 10., nan], dtype=float32)
    """
    refuse_out("take", out)
    x, index = array_operand("take", a), index_operand("take", indices)
    x, place = along("take", x, axis)
    size = typeof(x).shape[place]
    if mode == "raise":
        host = known("take", "indices", index, "give another mode than 'raise'")
        if ((host < -size) | (host >= size)).any():
            raise IndexError(f"take: an index is out of bounds for an axis of size {size}.")
        mode = None
    chosen = _mode_argument("take", mode)
    if not size and typeof(index).size:
        raise IndexError(
            f"take: there is nothing to take along axis {place} of {typeof(x).str_short()}, but "
            f"the indices are {typeof(index).str_short()}."
        )
    if chosen == "wrap":
        index, chosen = index % max(size, 1), "clip"
    return x.at[(*[slice(None)] * place, index)].get(
        mode=chosen,
        fill_value=fill_value,
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
        wrap_negative_indices=mode != "clip",
    )


def _places_along(name: str, x: Any, index: Any, axis: int) -> tuple[Any, ...]:
    """An index array for each axis: one is given, the others count."""
    own, given = typeof(x), typeof(index)
    if own.ndim != given.ndim:
        raise ValueError(
            f"{name}: the array and the indices must have as many axes, but they are "
            f"{own.str_short()} and {given.str_short()}."
        )
    places: list[Any] = []
    for i in range(own.ndim):
        # An axis of size one repeats; where the array has it, the indices decide its size.
        counts = lax.iota(np.int32, own.shape[i])
        column = (1,) * i + (own.shape[i],) + (1,) * (own.ndim - 1 - i)
        places.append(index if i == axis else lax.reshape(counts, column))
    return tuple(places)


def _spread(x: Any, index: Any, axis: int) -> Any:
    """The array with its other axes of size one repeated as often as the indices need."""
    own, given = typeof(x).shape, typeof(index).shape
    if len(own) != len(given):
        return x
    sizes = [given[i] if i != axis and own[i] == 1 else own[i] for i in builtins.range(len(own))]
    return x if tuple(sizes) == own else lax.broadcast_in_dim(x, tuple(sizes), range(len(own)))


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool = True,
) -> Array:
    """Elements along an axis, by an index for each element of the result.

    Args:
        arr: an array.
        indices: integers, with as many axes, of which the others broadcast.
        axis: the axis; None takes from all elements, in order.
        mode: as for ``take``; negative indices count from the end with "clip", too;
            "promise_in_bounds" says that no index is beyond the ends. "one_hot" for
            sums with an array that is one at the index and zero elsewhere.
        fill_value: as for ``take``.
        wrap_negative_indices: whether negative indices count from the end.

    Raises:
        ValueError: when the numbers of axes differ.

    >>> x = jnp.array([[3, 1, 2]])
    >>> jnp.take_along_axis(x, jnp.argsort(x), axis=1)
    Array([[1, 2, 3]], dtype=int32)
    """
    x, index = array_operand("take_along_axis", arr), index_operand("take_along_axis", indices)
    if axis is None and typeof(index).ndim != 1:
        raise ValueError(
            f"take_along_axis without an axis takes a vector of indices, but got "
            f"{typeof(index).str_short()}."
        )
    x, place = along("take_along_axis", x, axis)
    wraps = wrap_negative_indices is not False
    if mode == "one_hot":
        return _by_one_hot(x, index, place, wraps)
    promised = mode == "promise_in_bounds"
    chosen = "promise_in_bounds" if promised else _mode_argument("take_along_axis", mode)
    if chosen == "wrap":
        index, chosen = index % typeof(x).shape[place], "clip"
    x = _spread(x, index, place)
    places = _places_along("take_along_axis", x, index, place)
    return x.at[places].get(mode=chosen, fill_value=fill_value, wrap_negative_indices=wraps)


def _by_one_hot(x: Any, index: Any, axis: int, wraps: bool) -> Any:
    """Elements along an axis as sums; those out of bounds are 0."""
    size, ndim = typeof(x).shape[axis], typeof(x).ndim
    index = index + convert(index < 0, typeof(index).dtype, False) * size if wraps else index
    # The axis that is summed over comes last.
    shape = (1,) * ndim + (size,)
    hot = lax.expand_dims(index, (ndim,)) == lax.reshape(lax.iota(typeof(index).dtype, size), shape)
    values = lax.expand_dims(moveaxis(x, axis, -1), (axis,))
    return sum(convert(hot, typeof(x).dtype, False) * values, -1, dtype=typeof(x).dtype)


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int | None,
    inplace: bool = False,
    *,
    mode: str | None = None,
) -> Array:
    """A copy with elements along an axis changed, at an index for each.

    Args:
        arr: an array.
        indices: integers, with as many axes, of which the others broadcast.
        values: what the elements become; they broadcast to the indices.
        axis: the axis; None changes all elements, in order.
        inplace: False: arrays are immutable.
        mode: what happens out of bounds: by default nothing, with "clip" to the nearest element.

    >>> jnp.put_along_axis(jnp.zeros((1, 3)), jnp.array([[1]]), 5.0, axis=1)
    Array([[0., 5., 0.]], dtype=float32)
    """
    refuse_in_place("put_along_axis", inplace)
    x, index = array_operand("put_along_axis", arr), index_operand("put_along_axis", indices)
    if axis is None:
        changed = put_along_axis(ravel(x), index, values, 0, mode=mode)
        return reshape(changed, typeof(x).shape)
    place = axis_argument("put_along_axis", axis, typeof(x).ndim)
    places = _places_along("put_along_axis", x, index, place)
    return x.at[places].set(values, mode="clip" if mode == "clip" else "drop")


def refuse_in_place(name: str, inplace: bool) -> None:
    """Raise where an array is to be changed itself."""
    if inplace:
        raise ValueError(f"{name}: arrays are immutable, so inplace must be False; use the result.")


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals in the planes of two axes.

    Args:
        a: an array.
        offset: which diagonal: positive above the main one, negative below.
        axis1: the axis of the rows.
        axis2: the axis of the columns. Both are removed; the diagonals are the last axis.

    Raises:
        ValueError: when the axes are not two.

    >>> jnp.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    x = array_operand("diagonal", a)
    ndim = typeof(x).ndim
    places = [axis_argument("diagonal", axis, ndim) for axis in (axis1, axis2)]
    if places[0] == places[1]:
        raise ValueError(f"diagonal takes two axes, but both are {axis1}.")
    x = moveaxis(x, places, (-2, -1))
    rows, columns = typeof(x).shape[-2:]
    k = static_int("diagonal", "offset", offset)
    size = max(0, min(rows + min(k, 0), columns - max(k, 0)))
    at = np.arange(size, dtype=np.int32)
    return x[..., at + max(0, -k), at + max(0, k)]


def diag(v: Any, k: int = 0) -> Array:
    """The diagonal of a matrix, or the matrix with a diagonal.

    Args:
        v: a matrix, or a vector.
        k: which diagonal: positive above the main one, negative below.

    >>> jnp.diag(jnp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = array_operand("diag", v)
    if typeof(x).ndim == 2:
        return diagonal(x, k)
    if typeof(x).ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix, but got {typeof(x).str_short()}.")
    return diagflat(x, k)


def diagflat(v: Any, k: int = 0) -> Array:
    """The matrix with all elements of an array on a diagonal; ``k`` as for ``diag``.

    >>> jnp.diagflat(jnp.array([1, 2]), 1)
    Array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    """
    x = ravel(array_operand("diagflat", v))
    shift = static_int("diagflat", "k", k)
    count = typeof(x).size
    n = count + abs(shift)
    start = shift if shift >= 0 else -shift * n
    # Rows of n elements: the next one on the diagonal is n + 1 further.
    step = n + 1
    filled = (count - 1) * step + 1 if count else 0
    edges = (start, n * n - start - filled, step - 1 if count > 1 else 0)
    zero = convert(0, typeof(x).dtype, typeof(x).weak_type)
    return lax.reshape(lax.pad(x, zero, [edges]), (n, n))


def trace(
    a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Array:
    """The sums of diagonals; arguments as for ``diagonal``, but the offset may be traced.

    >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    refuse_out("trace", out)
    if isinstance(offset, Tracer):
        x = moveaxis(array_operand("trace", a), (axis1, axis2), (-2, -1))
        rows, columns = (np.arange(n, dtype=np.int32) for n in typeof(x).shape[-2:])
        chosen = lax.eq(convert(offset, np.dtype(np.int32), False), columns - rows[:, None])
        return sum(x, (-2, -1), dtype, where=chosen)
    return sum(diagonal(a, static_int("trace", "offset", offset), axis1, axis2), -1, dtype)


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = False) -> Array:
    """A copy with the main diagonal changed.

    Args:
        a: an array of two axes or more; of more than two, all have one size.
        val: what the elements become, in order and from the start again.
        wrap: whether the diagonal of a tall matrix starts anew below its end.
        inplace: False: arrays are immutable.

    >>> jnp.fill_diagonal(jnp.zeros((2, 2)), 5.0)
    Array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    refuse_in_place("fill_diagonal", inplace)
    x = array_operand("fill_diagonal", a)
    shape = typeof(x).shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(
            f"fill_diagonal takes matrices, and arrays with equal axes, but got "
            f"{typeof(x).str_short()}."
        )
    size = typeof(x).size
    end = size if wrap or len(shape) > 2 else builtins.min(size, shape[1] ** 2)
    step = builtins.sum(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    flat = np.arange(0, end, step)
    values = checked("fill_diagonal", val)
    if typeof(values).shape:
        values = ravel(values)
        chosen = np.arange(len(flat)) % max(typeof(values).size, 1)
        values = values[chosen.astype(np.int32)]
    changed = ravel(x).at[flat.astype(np.int32)].set(values)
    return reshape(changed, shape)


def host_indices(x: np.ndarray[Any, Any]) -> Array:
    """Indices that are known while tracing, as an array of the default integer."""
    return Array.from_numpy(np.ascontiguousarray(x, default_dtype("int")))


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of ``ndim`` axes of size ``n``.

    >>> jnp.diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    (size, count) = shape_argument("diag_indices", (n, ndim), "n and ndim")
    return (host_indices(np.arange(size)),) * count


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array whose axes have one size.

    >>> jnp.diag_indices_from(jnp.zeros((1, 1)))
    (Array([0], dtype=int32), Array([0], dtype=int32))
    """
    shape = typeof(array_operand("diag_indices_from", arr)).shape
    if len(shape) < 2 or len(set(shape)) > 1:
        raise ValueError(
            f"diag_indices_from takes arrays of two or more equal axes, but got the shape {shape}."
        )
    return diag_indices(shape[0], len(shape))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The rows and columns of the elements on and below a diagonal.

    Args:
        n: the number of rows.
        k: which diagonal: positive above the main one, negative below.
        m: the number of columns; by default ``n``.

    >>> jnp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    return _triangle("tril_indices", np.tril_indices, n, k, m)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The rows and columns of the elements on and above a diagonal, as ``tril_indices``.

    >>> jnp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return _triangle("triu_indices", np.triu_indices, n, k, m)


def _triangle(name: str, find: Any, n: int, k: int, m: int | None) -> tuple[Array, Array]:
    rows, diagonal = static_int(name, "n", n), static_int(name, "k", k)
    found = find(rows, diagonal, rows if m is None else static_int(name, "m", m))
    return host_indices(found[0]), host_indices(found[1])


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """``tril_indices`` for the shape of a matrix.

    >>> jnp.tril_indices_from(jnp.zeros((2, 1)))
    (Array([0, 1], dtype=int32), Array([0, 0], dtype=int32))
    """
    n, m = _matrix_shape("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """``triu_indices`` for the shape of a matrix.

    >>> jnp.triu_indices_from(jnp.zeros((2, 1)))
    (Array([0], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _matrix_shape("triu_indices_from", arr)
    return triu_indices(n, k, m)


def _matrix_shape(name: str, arr: Any) -> tuple[int, ...]:
    aval = typeof(array_operand(name, arr))
    if aval.ndim != 2:
        raise ValueError(f"{name} takes a matrix, but got {aval.str_short()}.")
    return aval.shape
