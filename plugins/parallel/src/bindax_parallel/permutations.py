"""Permutations along named axes: elements send what they have to others."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import LoweringContext, Primitive, tree_map, typeof
from bindax_parallel._collective import (
    between_devices,
    bind_along,
    bind_jointly,
    collective,
    find_axes,
    joint_index,
    linear_jvp,
    rows,
    transposed,
)
from bindax_parallel.exchanges import all_gather, of_all
from bindax_parallel.indices import axis_size
from bindax_transforms import NamedAxis

__all__ = ["pbroadcast", "ppermute", "ppermute_p", "pshuffle"]

Pairs = tuple[tuple[int, int], ...]


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """The values of other elements along named axes.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names, whose elements are
            counted as ``axis_index`` does.
        perm: pairs (source, destination) of indices; elements that are no destination get zeros.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when an index is not one of the axis, or is a source or destination twice.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(np.array([5, 6, 7]))
    Array([0, 5, 6], dtype=int64)
    """
    axes = find_axes("ppermute", axis_name)
    pairs = _checked("ppermute", perm, axis_size(axis_name))
    return tree_map(lambda leaf: _passed_on(leaf, axes, pairs), x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """The values of other elements along named axes, by a whole permutation.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        perm: for each element the index of the one whose value it gets.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when ``perm`` is not a permutation of the indices of the axis.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: pshuffle(x, "i", [2, 0, 1]), axis_name="i")(np.array([5, 6, 7]))
    Array([7, 5, 6], dtype=int64)
    """
    count = axis_size(axis_name)
    if sorted(perm) != list(range(count)):
        raise ValueError(
            f"pshuffle: perm must hold each index from 0 to {count - 1} once, but is {perm!r}."
        )
    return ppermute(x, axis_name, [(source, place) for place, source in enumerate(perm)])


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The value of one element along named axes, for all.

    Args:
        x: an array or a tree of arrays.
        axis_name: a name given by ``vmap(axis_name=...)``, or a tuple of names.
        source: the index of the element.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.
        ValueError: when ``source`` is not an index of the axis.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: pbroadcast(x, "i", 1), axis_name="i")(np.array([5, 6, 7]))
    Array([6, 6, 6], dtype=int64)
    """
    count = axis_size(axis_name)
    if not 0 <= source < count:
        raise ValueError(f"pbroadcast: source={source} is not an index of an axis of size {count}.")
    return tree_map(lambda leaf: lax.index_in_dim(leaf, source, 0, False), all_gather(x, axis_name))


def _checked(operation: str, perm: Sequence[tuple[int, int]], count: int) -> Pairs:
    pairs = tuple((int(source), int(target)) for source, target in perm)
    for ends, word in zip(zip(*pairs, strict=True), ("source", "destination"), strict=False):
        if len(set(ends)) != len(ends):
            raise ValueError(f"{operation}: perm={perm!r} has an index as {word} twice.")
        wrong = [i for i in ends if not 0 <= i < count]
        if wrong:
            raise ValueError(
                f"{operation}: perm={perm!r} has the {word} {wrong[0]}, which is not an index of "
                f"an axis of size {count}."
            )
    return pairs


def _sources(pairs: Pairs, count: int) -> np.ndarray[Any, Any]:
    """For each element the one whose value it gets, or -1."""
    sources = np.full(count, -1, np.int32)
    for source, target in pairs:
        sources[target] = source
    return sources


def _passed_on(x: Any, axes: Sequence[NamedAxis], pairs: Pairs) -> Any:
    if len(axes) == 1:
        return bind_along(ppermute_p, x, axes[0], perm=pairs)
    return bind_jointly(ppermute_p, _received, x, axes, perm=pairs)


def _received(x: Any, axes: Sequence[NamedAxis], *, perm: Pairs, **params: Any) -> Any:
    """The value of the element's source, from those of all."""
    everyone = of_all(x, axes)
    sources = _sources(perm, prod(axis.size for axis in axes))
    mine = lax.dynamic_index_in_dim(sources, joint_index(axes), 0, False)
    value = lax.dynamic_index_in_dim(everyone, lax.max(mine, np.int32(0)), 0, False)
    given = lax.broadcast_in_dim(lax.ge(mine, np.int32(0)), typeof(value).shape, ())
    return lax.select(given, value, lax.zeros_like(value))


def _permute(x: Any, *, size: int, perm: Pairs, **params: Any) -> tuple[Any, int]:
    sources = _sources(perm, size)
    value = rows(x, np.maximum(sources, 0))
    if (sources >= 0).all():
        return value, 0
    given = lax.broadcast_in_dim(sources >= 0, typeof(value).shape, (0,))
    return lax.select(given, value, lax.zeros_like(value)), 0


def _transpose(ct: Any, *indices: Any, perm: Pairs, **params: Any) -> Any:
    backwards = tuple((target, source) for source, target in perm)
    return ppermute_p.bind(ct, *indices, perm=backwards, **params)


def _collective_permute(
    ctx: LoweringContext, x: Any, groups: np.ndarray[Any, Any], *, perm: Pairs, **params: Any
) -> Any:
    pairs = [[int(group[a]), int(group[b])] for group in groups for a, b in perm]
    listed = f"dense<{pairs}>" if pairs else "dense<>"
    attributes = between_devices(groups)
    del attributes["replica_groups"]
    attributes["source_target_pairs"] = f"{listed} : tensor<{len(pairs)}x2xi64>"
    return ctx.op("stablehlo.collective_permute", [x], attributes=attributes)[0]


ppermute_p: Primitive = collective(
    "ppermute",
    _permute,
    lambda shape, **params: shape,
    linear_jvp,
    transposed(_transpose),
    _collective_permute,
    composed=_received,
)
"""The value of another element. Operands: an array, and the index along each axis. Parameter
``perm``: pairs (source, destination)."""
