"""Arrays as sets of elements: those that are distinct, unions, differences.

How many elements a result has depends on values. Where those are traced, ``size`` says how many are
returned: what is over is left out, and ``fill_value`` stands for what is missing.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, overload

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import axis_argument, convert, default_dtype, promote_dtypes
from bindax_numpy._operands import array_operand, strong_operand
from bindax_numpy.comparison import isnan, logical_and, logical_not, logical_or, where
from bindax_numpy.concatenate import concatenate
from bindax_numpy.indexing import take
from bindax_numpy.nonzero_searchsorted import filled, present, searchsorted, true_places
from bindax_numpy.reductions import count_nonzero
from bindax_numpy.reshaping import moveaxis, ravel, reshape
from bindax_numpy.sorting import argsort, sort


class UniqueAllResult(NamedTuple):
    """The result of ``unique_all``.

    >>> isinstance(jnp.unique_all(jnp.array([3, 1, 3])), jnp.UniqueAllResult)
    True
    """

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The result of ``unique_counts``.

    >>> isinstance(jnp.unique_counts(jnp.array([3, 1, 3])), jnp.UniqueCountsResult)
    True
    """

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The result of ``unique_inverse``.

    >>> isinstance(jnp.unique_inverse(jnp.array([3, 1, 3])), jnp.UniqueInverseResult)
    True
    """

    values: Array
    inverse_indices: Array


@overload
def unique(
    ar: Any,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Array: ...
@overload
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any: ...
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The distinct elements, in ascending order.

    Args:
        ar: an array.
        return_index: whether the first place of each is returned, too.
        return_inverse: whether the place in the result of each element is returned, too.
        return_counts: whether it is returned how often each occurs, too.
        axis: the axis whose slices are compared; None compares all elements.
        equal_nan: whether all nans are equal.
        size: how many are returned; needed where ``ar`` is traced.
        fill_value: what stands for those that are missing; by default the first one.
        sorted: accepted for compatibility; the result always is.

    Returns:
        The distinct elements or slices; with any of the ``return_`` arguments a tuple.

    Raises:
        ConcretizationTypeError: without ``size`` where ``ar`` is traced.

    >>> jnp.unique(jnp.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    x = strong_operand("unique", ar)
    shape = typeof(x).shape
    if axis is None:
        rows, place = ravel(x), 0
    else:
        place = axis_argument("unique", axis, len(shape))
        rows = moveaxis(x, place, 0)
    order, starts = _grouped(rows, equal_nan)
    n = typeof(starts).size
    firsts, count = true_places("unique", starts, size)
    counts = present(firsts, count)
    index = take(order, firsts, mode="clip") if n else firsts
    values = take(rows, index, 0, mode="clip") if n else rows[:0]
    out = [moveaxis(filled(values, counts, fill_value), 0, place)]
    if return_index:
        first = index[:1] if n else index
        out.append(where(counts, index, first) if typeof(index).size else index)
    groups = lax.cumsum(convert(starts, default_dtype("int"), False), 0) - 1
    if return_inverse:
        inverse = lax.full_like(groups, 0).at[order].set(groups)
        out.append(reshape(inverse, shape) if axis is None else inverse)
    if return_counts:
        out.append(lax.full_like(firsts, 0).at[groups].add(1, mode="drop"))
    return tuple(out) if len(out) > 1 else out[0]


def _grouped(rows: Any, equal_nan: bool) -> tuple[Any, Any]:
    """The order in which slices are sorted, and where in it an other one starts than before."""
    n, *rest = typeof(rows).shape
    if not n or 0 in rest:
        one_group = lax.eq(lax.iota(np.int32, n), np.int32(0))
        return lax.iota(default_dtype("int"), n), one_group
    index = lax.iota(default_dtype("int"), n)
    flat = reshape(rows, (n, -1))
    if equal_nan and dtypes.is_complex(typeof(flat).dtype):
        # Which of the parts is nan must not tell them apart.
        flat = where(isnan(flat), math.nan, flat)
    columns = [flat[:, j] for j in range(typeof(flat).shape[1])]
    *keys, order = lax.sort((*columns, index), 0, num_keys=len(columns))
    differs = lax.full((n - 1,), False, dtypes.bool_)
    for key in keys:
        one = lax.ne(key[1:], key[:-1])
        if equal_nan and dtypes.is_inexact(typeof(key).dtype):
            known = lax.bitwise_or(lax.eq(key[1:], key[1:]), lax.eq(key[:-1], key[:-1]))
            one = lax.bitwise_and(one, known)
        differs = lax.bitwise_or(differs, one)
    return order, lax.concatenate([lax.full((1,), True, dtypes.bool_), differs], 0)


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The distinct elements; nans are distinct from each other. Arguments as for ``unique``.

    >>> jnp.unique_values(jnp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def unique_counts(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueCountsResult:
    """The distinct elements, and how often each occurs; arguments as for ``unique``.

    >>> jnp.unique_counts(jnp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    found = unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueCountsResult(*found)


def unique_inverse(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverseResult:
    """The distinct elements, and which one each element is; arguments as for ``unique``.

    >>> jnp.unique_inverse(jnp.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    found = unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueInverseResult(*found)


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAllResult:
    """The distinct elements with their first places, numbers and counts, as ``unique``.

    >>> jnp.unique_all(jnp.array([3, 1, 3])).indices
    Array([1, 0], dtype=int32)
    """
    return UniqueAllResult(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def _two(name: str, ar1: Any, ar2: Any) -> tuple[Any, Any]:
    x, y = promote_dtypes(array_operand(name, ar1), array_operand(name, ar2))
    return ravel(strong_operand(name, x)), ravel(strong_operand(name, y))


_ISIN_METHODS = ("auto", "compare_all", "binary_search", "sort")


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Tell whether elements occur in another array.

    Args:
        element: an array.
        test_elements: the elements that are looked for.
        assume_unique: accepted for compatibility.
        invert: whether it is asked that they do not occur.
        method: accepted for compatibility; the elements are sorted and then searched.

    >>> jnp.isin(jnp.array([1, 2, 3]), jnp.array([3, 1]))
    Array([ True, False,  True], dtype=bool)
    """
    if method not in _ISIN_METHODS:
        raise ValueError(f"isin: method must be one of {_ISIN_METHODS}, but it is {method!r:.60}.")
    shape = typeof(strong_operand("isin", element)).shape
    x, y = _two("isin", element, test_elements)
    if not typeof(y).size:
        found = lax.full(typeof(x).shape, False, dtypes.bool_)
    elif dtypes.is_complex(typeof(x).dtype):
        # Complex numbers cannot be searched for, but compared.
        found = lax.reduce_or(lax.expand_dims(x, (1,)) == lax.expand_dims(y, (0,)), (1,))
    else:
        ordered = sort(y)
        found = lax.eq(take(ordered, searchsorted(ordered, x), mode="clip"), x)
    found = reshape(found, shape)
    return logical_not(found) if invert else found


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The distinct elements of two arrays; ``size`` and ``fill_value`` as for ``unique``.

    >>> jnp.union1d(jnp.array([1, 3]), jnp.array([2, 1]))
    Array([1, 2, 3], dtype=int32)
    """
    return unique(concatenate(_two("union1d", ar1, ar2)), size=size, fill_value=fill_value)


def _chosen(name: str, x: Any, mask: Any, size: int | None, fill_value: Any) -> Any:
    """The elements of a vector for which a mask holds, those missing filled."""
    places, count = true_places(name, mask, size)
    zeros = lax.full_like(places, 0, typeof(x).dtype)
    values = take(x, places, mode="clip") if typeof(x).size else zeros
    return filled(values, present(places, count), fill_value)


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """The distinct elements of one array that do not occur in another.

    Args:
        ar1: an array.
        ar2: another one.
        assume_unique: a promise that the elements of ``ar1`` are distinct; they keep their order.
        size: how many are returned; needed where the arrays are traced.
        fill_value: what stands for those that are missing, 0 by default.

    >>> jnp.setdiff1d(jnp.array([3, 1, 2]), jnp.array([2]))
    Array([1, 3], dtype=int32)
    """
    x, y = ravel(strong_operand("setdiff1d", ar1)), array_operand("setdiff1d", ar2)
    starts = lax.full_like(x, True, dtypes.bool_)
    if not assume_unique:
        x, starts = _distinct(x)
    mask = logical_and(starts, isin(x, y, invert=True))
    return _chosen("setdiff1d", x, mask, size, 0 if fill_value is None else fill_value)


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """The distinct elements that occur in one of two arrays.

    Args:
        ar1: an array.
        ar2: another one.
        assume_unique: a promise that the elements of each are distinct.
        size: how many are returned; needed where the arrays are traced.
        fill_value: what stands for those that are missing; by default the first one.

    >>> jnp.setxor1d(jnp.array([1, 2]), jnp.array([2, 3]))
    Array([1, 3], dtype=int32)
    """
    x, y = _two("setxor1d", ar1, ar2)
    both = concatenate([x, y])
    if assume_unique:
        ordered = sort(both)
        repeated = lax.eq(ordered[1:], ordered[:-1])
        edge = lax.full((min(1, typeof(both).size),), False, dtypes.bool_)
        alike = logical_or(concatenate([edge, repeated]), concatenate([repeated, edge]))
        return _chosen("setxor1d", ordered, logical_not(alike), size, fill_value)
    # Those of each that the other one has not; nan equals no element of the other.
    (own, first), (other, second) = _distinct(x), _distinct(y)
    mine, theirs = isin(own, y, invert=True), isin(other, x, invert=True)
    mask = concatenate([logical_and(first, mine), logical_and(second, theirs)])
    both = concatenate([own, other])
    order = argsort(both)
    both, mask = take(both, order, mode="clip"), take(mask, order, mode="clip")
    return _chosen("setxor1d", both, mask, size, fill_value)


def _distinct(x: Any) -> tuple[Any, Any]:
    """The elements of a vector in order, and which are the first of their kind."""
    order, starts = _grouped(x, equal_nan=True)
    return take(x, order, mode="clip"), starts


@overload
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array: ...
@overload
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
    size: int | None = None,
    fill_value: Any = None,
) -> tuple[Array, Array, Array]: ...
@overload
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any: ...
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The distinct elements that occur in both of two arrays.

    Args:
        ar1: an array.
        ar2: another one.
        assume_unique: a promise that the elements of each are distinct.
        return_indices: whether the first places in both arrays are returned, too; those missing are
            the sizes of the arrays.
        size: how many are returned; needed where the arrays are traced.
        fill_value: what stands for those that are missing; by default the first one.

    >>> jnp.intersect1d(jnp.array([3, 1, 2]), jnp.array([2, 3]))
    Array([2, 3], dtype=int32)
    """
    x, y = _two("intersect1d", ar1, ar2)
    if assume_unique and not return_indices:
        both = sort(concatenate([x, y]))
        return _chosen("intersect1d", both[:-1], lax.eq(both[1:], both[:-1]), size, fill_value)
    ordered, starts = _distinct(x)
    mask = logical_and(starts, isin(ordered, y))
    values = _chosen("intersect1d", ordered, mask, size, fill_value)
    if not return_indices:
        return values
    counts = present(values, count_nonzero(mask))
    return values, *(where(counts, _first_places(v, values), typeof(v).size) for v in (x, y))


def _first_places(x: Any, values: Any) -> Any:
    """Where in a vector each of some values occurs first."""
    if not typeof(x).size:
        return lax.full(typeof(values).shape, 0, default_dtype("int"))
    order = argsort(x)
    return take(order, searchsorted(take(x, order), values), mode="clip")
