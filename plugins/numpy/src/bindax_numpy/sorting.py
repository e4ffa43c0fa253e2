"""Sorting, and the order in which elements would be."""

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    axis_argument,
    canonical_dtype,
    convert,
    default_dtype,
    static_int,
)
from bindax_numpy._operands import array_operand, strong_operand
from bindax_numpy.reshaping import along


def _refuse(name: str, kind: Any, order: Any) -> None:
    if kind is not None or order is not None:
        raise ValueError(f"{name}: kind and order must be None; stable says which method is used.")


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The elements in order, along an axis; nan comes last, or first when descending.

    Args:
        a: an array.
        axis: the axis; None sorts all elements.
        kind: None.
        order: None.
        stable: whether equal elements keep their order.
        descending: whether the largest comes first.

    >>> jnp.sort(jnp.array([3, 1, 2]), descending=True)
    Array([3, 2, 1], dtype=int32)
    """
    _refuse("sort", kind, order)
    x, place = along("sort", strong_operand("sort", a), axis)
    out = lax.sort(x, place, stable)
    return lax.rev(out, (place,)) if descending else out


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Array:
    """The indices at which the elements in order are found; arguments as for ``sort``.

    Their ``dtype`` is by default the default integer.

    >>> jnp.argsort(jnp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    _refuse("argsort", kind, order)
    x, place = along("argsort", strong_operand("argsort", a), axis)
    wanted = default_dtype("int") if dtype is None else canonical_dtype(dtype)
    index = lax.broadcasted_iota(wanted, typeof(x).shape, place)
    if not descending:
        return lax.sort_key_val(x, index, place, stable)[1]
    # Both reversed: equal elements end up in their first order.
    keys, values = lax.rev(x, (place,)), lax.rev(index, (place,))
    return lax.rev(lax.sort_key_val(keys, values, place, stable)[1], (place,))


def lexsort(keys: Any, axis: int = -1, *, batch_size: int = 16) -> Array:
    """The order by several keys, of which the last one decides first.

    Args:
        keys: a sequence of arrays of one shape, or an array, whose first axis counts the keys.
        axis: the axis along which is sorted.
        batch_size: a positive number, accepted for compatibility; all keys are compared in one
            sort.

    Raises:
        ValueError: when there are no keys, or ``batch_size`` is not positive.

    >>> jnp.lexsort((jnp.array([1, 0, 1]), jnp.array([2, 2, 1])))
    Array([2, 1, 0], dtype=int32)
    """
    if static_int("lexsort", "batch_size", batch_size) < 1:
        raise ValueError(f"lexsort: batch_size must be positive, but it is {batch_size}.")
    operands = [strong_operand("lexsort", key) for key in keys]
    if not operands:
        raise ValueError("lexsort needs at least one key.")
    aval = typeof(operands[0])
    if not aval.shape:
        return lax.full((), 0, default_dtype("int"))
    place = axis_argument("lexsort", axis, aval.ndim)
    index = lax.broadcasted_iota(default_dtype("int"), aval.shape, place)
    outs = lax.sort((*reversed(operands), index), place, num_keys=len(operands))
    return outs[-1]


def sort_complex(a: Any) -> Array:
    """The elements as complex numbers, in order by real and then by imaginary part.

    >>> jnp.sort_complex(jnp.array([2.0, 1.0]))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    x = sort(a)
    dtype = typeof(x).dtype
    if dtypes.is_complex(dtype):
        return x
    return convert(x, dtypes.complex_dtype(dtypes.inexact_dtype(dtype)), False)


def _checked(name: str, a: Any, kth: int, axis: int) -> None:
    x = array_operand(name, a)
    size = typeof(x).shape[axis_argument(name, axis, typeof(x).ndim)]
    place = static_int(name, "kth", kth)
    if not -size <= place < size:
        raise ValueError(
            f"{name}: kth is {place}, but axis {axis} of {typeof(x).str_short()} has {size} "
            f"elements."
        )


def partition(a: Any, kth: int, axis: int = -1) -> Array:
    """An order in which one element is where it would be if all were sorted.

    Args:
        a: an array.
        kth: the place of the element, known while tracing. Smaller ones come before it, larger ones
            after it. (Here they are all in order.)
        axis: the axis.

    Raises:
        ValueError: when there is no such element.

    >>> jnp.partition(jnp.array([3, 1, 2]), 1)
    Array([1, 2, 3], dtype=int32)
    """
    _checked("partition", a, kth, axis)
    return sort(a, axis)


def argpartition(a: Any, kth: int, axis: int = -1) -> Array:
    """The indices at which the elements of ``partition`` are found; arguments as there.

    >>> jnp.argpartition(jnp.array([3, 1, 2]), 1)
    Array([1, 2, 0], dtype=int32)
    """
    _checked("argpartition", a, kth, axis)
    return argsort(a, axis)


def top_k(
    a: Any, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True
) -> tuple[Array, Array]:
    """The largest or smallest elements along an axis, and where they are.

    Args:
        a: an array of real numbers or booleans.
        k: how many, known while tracing; at most the size of the axis.
        axis: the axis.
        mode: "largest", with nan before all numbers, or "smallest", with nan after them.
        sorted: whether the elements must be in order; here they always are.

    Returns:
        The elements and their indices, of the default integer dtype; of equal elements the first
        comes first.

    Raises:
        ValueError: when ``k`` is negative or too large, or ``mode`` is another.
        TypeError: when ``a`` is complex.

    >>> jnp.top_k(jnp.array([1, 4, 2]), 2)
    (Array([4, 2], dtype=int32), Array([1, 2], dtype=int32))
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode must be 'largest' or 'smallest', but it is {mode!r}.")
    x = strong_operand("top_k", a)
    place = axis_argument("top_k", axis, typeof(x).ndim)
    if mode == "largest":
        values, found = lax.top_k(x, k, axis=place)
        return values, convert(found, default_dtype("int"), False)
    if dtypes.is_complex(typeof(x).dtype):
        raise TypeError(f"top_k: complex numbers have no order, but a is {typeof(x).str_short()}.")
    count, size = static_int("top_k", "k", k), typeof(x).shape[place]
    if not 0 <= count <= size:
        raise ValueError(
            f"top_k: k must be between 0 and {size}, the size of axis {place} of "
            f"{typeof(x).str_short()}, but it is {count}."
        )
    index = lax.broadcasted_iota(default_dtype("int"), typeof(x).shape, place)
    values, found = lax.sort_key_val(x, index, place)
    first = lax.slice_in_dim(values, 0, count, axis=place)
    return first, lax.slice_in_dim(found, 0, count, axis=place)
