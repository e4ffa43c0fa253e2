"""``associative_scan``: all prefixes of a product, in a logarithmic number of steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bindax_control_flow.shared.arguments import check_values
from bindax_core.extend import api_boundary, describe_function, tree_flatten, tree_unflatten, typeof
from bindax_lax_basic import concatenate, expand_dims, reshape, rev, slice_in_dim
from bindax_transforms import argument_names, check_function

__all__ = ["associative_scan"]

R = TypeVar("R")

Combine = Callable[[list[Any], list[Any]], list[Any]]


@api_boundary
def associative_scan(
    fn: Callable[[Any, Any], R], elems: Any, reverse: bool = False, axis: int = 0
) -> R:
    """All prefixes ``a, fn(a, b), fn(fn(a, b), c), ...`` of a sequence, for an associative ``fn``.

    Neighbours are combined in pairs, the prefixes of the half as long sequence of pairs are found
    in the same way, and the places between are filled: a linear number of combinations in a
    logarithmic number of steps, each of which combines many elements at once (R. E. Ladner and
    M. J. Fischer, Parallel prefix computation, 1980; G. E. Blelloch, Prefix sums and their
    applications, 1990).

    Args:
        fn: associative; takes two trees like ``elems``, with any number of elements along the axis,
            and combines them element by element.
        elems: a tree of arrays with one size along the axis.
        reverse: whether to combine from the end: ``..., fn(z, y), z``.
        axis: the axis along which the elements are.

    Returns:
        A tree like ``elems``, the prefixes along the axis.

    Raises:
        TypeError: when ``fn`` returns another structure, shape or dtype.
        ValueError: when an array lacks the axis or the sizes along it differ.

    >>> import numpy as np
    >>> from bindax_control_flow import associative_scan
    >>> associative_scan(lambda x, y: x * y, np.arange(1.0, 6.0))
    Array([  1.,   2.,   6.,  24., 120.], dtype=float64)
    """
    check_function("associative_scan", "fn", fn)
    leaves, tree = tree_flatten(elems)
    axes, length = _axes(elems, leaves, axis)

    def combine(left: list[Any], right: list[Any]) -> list[Any]:
        out, out_tree = tree_flatten(fn(tree_unflatten(tree, left), tree_unflatten(tree, right)))
        if out_tree != tree:
            raise TypeError(
                f"the function of associative_scan must return what it takes, {tree}, but "
                f"{describe_function(fn)} returned {out_tree}."
            )
        _check_types(fn, elems, left, out)
        return out

    if reverse:
        leaves = [rev(x, (a,)) for x, a in zip(leaves, axes, strict=True)]
    outs = _prefixes(combine, axes, leaves, length)
    if reverse:
        outs = [rev(x, (a,)) for x, a in zip(outs, axes, strict=True)]
    return tree_unflatten(tree, outs)  # type: ignore[no-any-return]


def _axes(elems: Any, leaves: Sequence[Any], axis: int) -> tuple[list[int], int]:
    """The axis of each leaf, counted from the front, and the number of elements."""
    check_values("associative_scan", "elems", elems)
    if not leaves:
        raise ValueError("associative_scan needs an array, but elems holds none.")
    if type(axis) is not int and not hasattr(axis, "__index__"):
        raise TypeError(f"associative_scan: axis must be an integer, but it is {axis!r:.60}.")
    axis = operator.index(axis)
    axes: list[int] = []
    lengths: dict[int, str] = {}
    for path, x in zip(argument_names(elems, "elems"), leaves, strict=True):
        aval = typeof(x)
        if not -aval.ndim <= axis < aval.ndim:
            raise ValueError(
                f"associative_scan runs along axis {axis}, but {path} is {aval.str_short()}, which "
                f"has {aval.ndim} axes."
            )
        axes.append(axis % aval.ndim)
        lengths.setdefault(aval.shape[axis], path)
    if len(lengths) > 1:
        listed = " and ".join(f"{path} has {length}" for length, path in lengths.items())
        raise ValueError(
            f"the arrays of elems must have one size along axis {axis} in associative_scan, but "
            f"{listed}."
        )
    return axes, next(iter(lengths))


def _check_types(
    fn: Callable[..., Any], elems: Any, before: Sequence[Any], after: Sequence[Any]
) -> None:
    for i, (x, y) in enumerate(zip(before, after, strict=True)):
        expected, found = typeof(x).strip_weak_type(), typeof(y).strip_weak_type()
        if expected != found:
            raise TypeError(
                f"the function of associative_scan must return the types that it takes, but at "
                f"{argument_names(elems, 'elems')[i]} {describe_function(fn)} returned "
                f"{found.str_short()} for {expected.str_short()}. It must combine any number of "
                f"elements along the axis, element by element, and keep the dtype."
            )


def _prefixes(combine: Combine, axes: list[int], xs: list[Any], length: int) -> list[Any]:
    """The prefixes of ``length`` elements along an axis of each of several arrays."""
    if length < 2:
        return xs

    def cut(xs: list[Any], start: int, stop: int, stride: int = 1) -> list[Any]:
        return [slice_in_dim(x, start, stop, stride, a) for x, a in zip(xs, axes, strict=True)]

    pairs = combine(cut(xs, 0, length - 1, 2), cut(xs, 1, length, 2))
    odd = _prefixes(combine, axes, pairs, length // 2)
    even = cut(xs, 0, 1)
    if length > 2:
        between = odd if length % 2 else cut(odd, 0, length // 2 - 1)
        filled = combine(between, cut(xs, 2, length, 2))
        even = [concatenate([x, y], a) for x, y, a in zip(even, filled, axes, strict=True)]
    return [_interleaved(x, y, a, length) for x, y, a in zip(even, odd, axes, strict=True)]


def _interleaved(even: Any, odd: Any, axis: int, length: int) -> Any:
    """The elements of two arrays in turn."""
    half = length // 2
    both = concatenate(
        [expand_dims(slice_in_dim(even, 0, half, 1, axis), axis + 1), expand_dims(odd, axis + 1)],
        axis + 1,
    )
    shape = list(typeof(odd).shape)
    shape[axis] = 2 * half
    joined = reshape(both, shape)
    if length % 2 == 0:
        return joined
    return concatenate([joined, slice_in_dim(even, half, half + 1, 1, axis)], axis)
