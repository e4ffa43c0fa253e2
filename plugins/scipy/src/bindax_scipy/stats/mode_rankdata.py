"""Numbers that describe a sample: mode, ranks, standard error."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic.extend import axis_argument
from bindax_numpy.extend import require_values
from bindax_scipy._operands import real
from bindax_transforms import vmap


class ModeResult(NamedTuple):
    """The most frequent elements, and how often they come."""

    mode: Array
    count: Array  # type: ignore[assignment]


def _check_policy(name: str, nan_policy: str, allowed: tuple[str, ...]) -> None:
    if nan_policy not in allowed:
        raise ValueError(
            f"{name}: nan_policy must be one of {allowed}, but it is {nan_policy!r:.60}; programs "
            f"cannot look for nan before they run, so do so outside of {name}."
        )


def mode(
    a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """The most frequent element along an axis, the smallest of several.

    Args:
        a: an array.
        axis: an axis, or None for all elements.
        nan_policy: must be ``"propagate"``: nan is an element like others.
        keepdims: keep the axis, with size 1.

    >>> stats.mode(jnp.array([3, 1, 3]))
    ModeResult(mode=Array(3, dtype=int32), count=Array(2, dtype=int32))
    """
    require_values("mode", a)
    _check_policy("mode", nan_policy, ("propagate",))
    x = jnp.atleast_1d(a)
    shape = x.shape
    kept = (1,) * x.ndim if axis is None else None
    if axis is None:
        x, axis = jnp.ravel(x), 0
    axis = axis_argument("mode", axis, x.ndim)
    rest = shape if kept is None else ()
    rest = tuple(n for i, n in enumerate(rest) if i != axis)
    if keepdims:
        rest = kept if kept is not None else (*shape[:axis], 1, *shape[axis + 1 :])
    rows = jnp.reshape(jnp.moveaxis(x, axis, 0), (x.shape[axis], -1))
    if x.size == 0:
        empty = jnp.full(rest, np.nan)
        return ModeResult(empty, jnp.zeros(rest))

    def most_frequent(row: Any) -> Any:
        values, counts = jnp.unique(row, return_counts=True, size=row.size)
        return values[jnp.argmax(counts)], jnp.max(counts)

    values, counts = vmap(most_frequent, in_axes=1)(rows)
    return ModeResult(jnp.reshape(values, rest), jnp.reshape(counts, rest))


_METHODS = ("average", "min", "max", "dense", "ordinal")


def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """The places that elements have in order, from 1 on.

    Args:
        a: an array.
        method: the rank of equal elements: the ``"average"``, ``"min"`` or ``"max"`` of their
            places, ``"dense"`` for ranks without gaps, ``"ordinal"`` for the places themselves.
        axis: an axis, or None for all elements.
        nan_policy: must be ``"propagate"``: with a nan all ranks are nan.

    >>> stats.rankdata(jnp.array([0, 2, 3, 2]))
    Array([1. , 2.5, 4. , 2.5], dtype=float32)
    """
    require_values("rankdata", a)
    _check_policy("rankdata", nan_policy, ("propagate",))
    if method not in _METHODS:
        raise ValueError(f"rankdata: method must be one of {_METHODS}, but it is {method!r:.60}.")
    if axis is not None:
        return jnp.apply_along_axis(rankdata, axis, a, method)
    x = jnp.ravel(a)
    n = x.shape[0]
    order = jnp.argsort(x)
    place = jnp.zeros(n, order.dtype).at[order].set(jnp.arange(n, dtype=order.dtype))
    sorted_x = x[order]
    first = jnp.concatenate([jnp.ones(1, bool), sorted_x[1:] != sorted_x[:-1]])[:n]
    dense = jnp.cumsum(first)[place]
    if method == "ordinal":
        rank = place + 1
    elif method == "dense":
        rank = dense
    else:
        low = jnp.searchsorted(sorted_x, x, side="left") + 1
        high = jnp.searchsorted(sorted_x, x, side="right")
        rank = {"min": low, "max": high, "average": 0.5 * (low + high).astype(jnp.float_)}[method]
    return jnp.where(jnp.any(jnp.isnan(x)), np.nan, rank).astype(jnp.float_)


def sem(
    a: Any,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The standard error of the mean along an axis.

    Args:
        a: an array.
        axis: an axis, or None for all elements.
        ddof: what is subtracted from the number of elements.
        nan_policy: ``"propagate"``, or ``"omit"`` to leave nan out.
        keepdims: keep the axis, with size 1.

    >>> stats.sem(jnp.array([1.0, 2.0, 3.0])).round(3)
    Array(0.577, dtype=float32)
    """
    (x,) = real("sem", a)
    if nan_policy == "omit":
        count = jnp.sum(~jnp.isnan(x), axis, keepdims=keepdims)
        spread = jnp.nanstd(x, axis, ddof=ddof, keepdims=keepdims)
        return spread / jnp.sqrt(count).astype(x.dtype)
    _check_policy("sem", nan_policy, ("propagate", "omit"))
    size = x.size if axis is None else x.shape[axis]
    return jnp.std(x, axis, ddof=ddof, keepdims=keepdims) / float(np.sqrt(size))
