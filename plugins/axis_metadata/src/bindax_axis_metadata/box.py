"""The base class of boxes, and what is done with boxes in trees."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any, Self

from bindax_core.errors import TreeError
from bindax_core.extend import tree_flatten, tree_map, tree_structure, tree_unflatten


class AxisMetadata(abc.ABC):
    """A value in a box that knows something about each of its axes.

    Subclasses are registered as pytree nodes whose leaves are those of what ``unbox`` returns.
    Boxes are never changed in place.

    >>> from bindax_axis_metadata import PARTITION_NAME, Partitioned
    >>> box = Partitioned([[1.0]], names=("rows", "columns"))
    >>> isinstance(box, AxisMetadata), box.unbox()
    (True, [[1.0]])
    >>> box.add_axis(0, {PARTITION_NAME: "layers"}).names
    ('layers', 'rows', 'columns')
    """

    __slots__ = ()

    @abc.abstractmethod
    def unbox(self) -> Any:
        """The content of this box; if that is a box again, that box."""

    @abc.abstractmethod
    def add_axis(self, index: int, params: Mapping[Any, Any]) -> Self:
        """Describe the content after a transformation has inserted an axis.

        Args:
            index: where the new axis is, counted from the front.
            params: the ``metadata_params`` of the transformation.

        Returns:
            A box of the same type around the same content; ``remove_axis`` is the inverse.
        """

    @abc.abstractmethod
    def remove_axis(self, index: int, params: Mapping[Any, Any]) -> Self:
        """Describe the content after a transformation has taken an axis away.

        Args:
            index: where the axis was, counted from the front.
            params: the ``metadata_params`` of the transformation.

        Returns:
            A box of the same type around the same content; ``add_axis`` is the inverse.
        """


def is_axis_metadata(value: Any) -> bool:
    """Tell whether a value is a box; to be used as ``is_leaf``.

    >>> from bindax_axis_metadata import Partitioned
    >>> is_axis_metadata(Partitioned(1.0, names=())), is_axis_metadata(1.0)
    (True, False)
    """
    return isinstance(value, AxisMetadata)


def unbox(tree: Any) -> Any:
    """A tree without its boxes, those in boxes included.

    >>> from bindax_axis_metadata import Partitioned
    >>> unbox({"kernel": Partitioned(1.0, ("data",)), "bias": 2.0})
    {'kernel': 1.0, 'bias': 2.0}
    """
    return tree_map(_content, tree, is_leaf=is_axis_metadata)


def _content(value: Any) -> Any:
    return unbox(value.unbox()) if isinstance(value, AxisMetadata) else value


def replace_boxed(tree: Any, updates: Any) -> Any:
    """A tree with other content in the same boxes.

    Args:
        tree: a tree with boxes.
        updates: the new content, of the structure that ``unbox(tree)`` has.

    Raises:
        TreeError: the structures differ.

    >>> from bindax_axis_metadata import Partitioned
    >>> replace_boxed({"kernel": Partitioned(1.0, ("data",))}, {"kernel": 3.0})
    {'kernel': Partitioned(value=3.0, names=('data',))}
    """
    leaves, given = tree_flatten(updates)
    expected = tree_structure(unbox(tree))
    if given != expected:
        raise TreeError(
            f"replace_boxed needs updates of the structure of the unboxed tree, {expected}, but "
            f"got {given}."
        )
    return tree_unflatten(tree_structure(tree), leaves)


def map_axis_meta(fn: Callable[[AxisMetadata], Any], tree: Any) -> Any:
    """A tree with ``fn(box)`` in the place of each box; boxes in boxes belong to the outer ones.

    >>> from bindax_axis_metadata import Partitioned
    >>> map_axis_meta(lambda box: box.names, {"kernel": Partitioned(1.0, ("data",)), "bias": 2.0})
    {'kernel': ('data',), 'bias': 2.0}
    """
    return tree_map(
        lambda x: fn(x) if isinstance(x, AxisMetadata) else x, tree, is_leaf=is_axis_metadata
    )


def add_axis(tree: Any, index: int, params: Mapping[Any, Any]) -> Any:
    """Tell each box of a tree that there is a new axis; see ``AxisMetadata.add_axis``.

    >>> from bindax_axis_metadata import Partitioned
    >>> add_axis([Partitioned(1.0, ("data",))], 0, {Partitioned.AXIS_NAME: "layers"})
    [Partitioned(value=1.0, names=('layers', 'data'))]
    """
    return map_axis_meta(lambda box: box.add_axis(index, params), tree)


def remove_axis(tree: Any, index: int, params: Mapping[Any, Any]) -> Any:
    """Tell each box of a tree that an axis is gone; the inverse of ``add_axis``.

    >>> from bindax_axis_metadata import Partitioned
    >>> boxes = [Partitioned(1.0, ("layers", "data"))]
    >>> remove_axis(boxes, 0, {Partitioned.AXIS_NAME: "layers"})
    [Partitioned(value=1.0, names=('data',))]
    """
    return map_axis_meta(lambda box: box.remove_axis(index, params), tree)


def update_boxes(tree: Any, update: Callable[[AxisMetadata], AxisMetadata]) -> Any:
    """Apply a function to each box of a tree, those in boxes included, outermost first."""

    def each(value: Any) -> Any:
        if not isinstance(value, AxisMetadata):
            return value
        box = update(value)
        inside = update_boxes(box.unbox(), update)
        return tree_unflatten(_around(box, inside), tree_flatten(inside)[0])

    return tree_map(each, tree, is_leaf=is_axis_metadata)


def _around(box: AxisMetadata, inside: Any) -> Any:
    """The structure of a box whose content is replaced by a tree with changed boxes."""
    changed = tree_map(lambda _: inside, box, is_leaf=lambda x: x is not box)
    return tree_structure(changed)
