"""A check of box types, for the tests of packages that bring some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bindax_axis_metadata.box import AxisMetadata
from bindax_core.extend import tree_flatten, tree_leaves, tree_unflatten, typeof


def check_axis_metadata(box: AxisMetadata, params: Mapping[Any, Any]) -> None:
    """Raise unless a box keeps what ``AxisMetadata`` promises.

    At each position, ``remove_axis`` undoes ``add_axis``; both keep the type and the content; and
    the leaves of the box as a pytree node are those of its content.

    Args:
        box: an example, around an array.
        params: ``metadata_params`` that the box accepts.

    Raises:
        TypeError: the box is no ``AxisMetadata``, or a method returns another type.
        ValueError: a promise is broken; the message names the type, the method and the position.

    >>> import numpy as np
    >>> from bindax_axis_metadata import Partitioned
    >>> check_axis_metadata(Partitioned(np.ones(3), ("data",)), {"partition_name": "layers"})
    """
    name = type(box).__qualname__
    if not isinstance(box, AxisMetadata):
        raise TypeError(f"{name} does not derive from AxisMetadata.")
    _check_leaves(box, name)
    rank = max((len(typeof(x).shape) for x in tree_leaves(box)), default=0)
    for index in range(rank + 1):
        added = _same_kind(box, box.add_axis(index, params), f"{name}.add_axis({index})")
        removed = added.remove_axis(index, params)
        removed = _same_kind(box, removed, f"{name}.remove_axis({index})")
        if not _equal(removed, box):
            raise ValueError(
                f"{name}.remove_axis({index}, {dict(params)!r}) does not undo add_axis: {box!r} "
                f"became {added!r} and then {removed!r}."
            )
        if not _equal(removed.add_axis(index, params), added):
            raise ValueError(
                f"{name}.add_axis({index}, {dict(params)!r}) does not undo remove_axis of "
                f"{added!r}."
            )


def _check_leaves(box: AxisMetadata, name: str) -> None:
    leaves, structure = tree_flatten(box)
    inside = tree_leaves(box.unbox())
    if len(leaves) != len(inside) or any(x is not y for x, y in zip(leaves, inside, strict=True)):
        raise ValueError(
            f"the leaves of {name} as a pytree node are not those of what its unbox returns; "
            f"register it with the content as its children and everything else as metadata."
        )
    _same_kind(box, tree_unflatten(structure, leaves), f"unflattening {name}")


def _same_kind(box: AxisMetadata, other: Any, what: str) -> Any:
    if type(other) is not type(box):
        raise TypeError(f"{what} gives a {type(other).__qualname__}.")
    if not _same_leaves(other, box):
        raise ValueError(f"{what} changes the content of the box.")
    return other


def _same_leaves(box: Any, other: Any) -> bool:
    pairs = zip(tree_leaves(box), tree_leaves(other), strict=True)
    return all(x is y for x, y in pairs)


def _equal(box: Any, other: Any) -> bool:
    return bool(tree_flatten(box)[1] == tree_flatten(other)[1]) and _same_leaves(box, other)
