"""The transformations that add and remove axes, telling the boxes about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from bindax_axis_metadata.box import AxisMetadata, is_axis_metadata, update_boxes
from bindax_control_flow import scan as plain_scan
from bindax_core.extend import flatten_prefix, tree_flatten, tree_structure, tree_unflatten, typeof
from bindax_transforms import vmap as plain_vmap

Params = Mapping[Any, Any]


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    axis_name: Any = None,
    axis_size: int | None = None,
    metadata_params: Params | None = None,
) -> Callable[..., Any]:
    """The ``vmap`` of bindax, which also updates the boxes in arguments and results.

    Args:
        fun: a function of trees of arrays and boxes.
        in_axes: as in ``vmap``; boxes along a mapped axis are told by ``remove_axis``.
        out_axes: as in ``vmap``; boxes in the results are told by ``add_axis``.
        axis_name: a name for the axis, for operations across it.
        axis_size: the size of the axis, needed only when no argument is mapped.
        metadata_params: what the boxes are told about the axis.

    Raises:
        ValueError: a box does not fit the axis, or its leaves have different axes.

    >>> import numpy as np
    >>> from bindax_axis_metadata import Partitioned
    >>> double = vmap(lambda box: box, 1, 0, metadata_params={Partitioned.AXIS_NAME: "data"})
    >>> double(Partitioned(np.ones((3, 2)), (None, "data"))).names
    ('data', None)
    """
    params = dict(metadata_params or {})
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes

    def inner(*args: Any, **kwargs: Any) -> Any:
        args = _along(args, axes, "in_axes", params, entering=True)
        kwargs = _along(kwargs, 0, "in_axes", params, entering=True)
        return _along(fun(*args, **kwargs), out_axes, "out_axes", params, entering=False)

    return wraps(fun)(plain_vmap(inner, axes, out_axes, axis_name=axis_name, axis_size=axis_size))


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    metadata_params: Params | None = None,
) -> tuple[Any, Any]:
    """The ``scan`` of bindax, which also updates the boxes in what is scanned and stacked.

    Args:
        f: takes the carry and a slice of ``xs``, returns the next carry and a slice of the result.
        init: the first carry; its boxes stay as they are.
        xs: the scanned trees; their boxes are told by ``remove_axis`` that axis 0 is gone.
        length: how many steps there are, where ``xs`` holds no arrays.
        reverse: whether to begin with the last slice.
        unroll: how many steps one round of the compiled loop makes.
        metadata_params: what the boxes are told about the axis of the steps.

    Returns:
        The last carry and the stacked slices, whose boxes are told by ``add_axis``.

    Raises:
        ValueError: a box does not fit the axis.

    >>> import numpy as np
    >>> from bindax_axis_metadata import Partitioned
    >>> layers = Partitioned(np.ones((3, 2)), ("layers", None))
    >>> last, _ = scan(
    ...     lambda x, layer: (x * layer.unbox(), None), np.ones(2), layers,
    ...     metadata_params={Partitioned.AXIS_NAME: "layers"},
    ... )
    >>> last.shape
    (2,)
    """
    params = dict(metadata_params or {})

    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        carry, y = f(carry, _along(x, 0, "xs", params, entering=True))
        return carry, _along(y, 0, "ys", params, entering=False)

    carry, ys = plain_scan(step, init, xs, length=length, reverse=reverse, unroll=unroll)
    return carry, ys


def _along(tree: Any, axes: Any, what: str, params: Params, *, entering: bool) -> Any:
    """Tell the boxes of a tree, whose arrays have the mapped axis no more, or not yet."""
    values, structure = tree_flatten(tree, is_leaf=is_axis_metadata)
    if not any(map(is_axis_metadata, values)):
        return tree
    flat = iter(flatten_prefix(axes, tree, what))
    told = []
    for value in values:
        arrays, _ = tree_flatten(value)
        found = {next(flat) for _ in arrays}
        told.append(_told(value, found, arrays, params, entering))
    return tree_unflatten(structure, told)


def _told(value: Any, axes: set[Any], arrays: list[Any], params: Params, entering: bool) -> Any:
    if not is_axis_metadata(value) or axes <= {None}:
        return value
    if len(axes) > 1:
        raise ValueError(
            f"the arrays of one box are mapped along different axes, {sorted(map(str, axes))}: "
            f"{tree_structure(value)}. Give one axis for the whole box."
        )
    (axis,) = axes

    def tell(box: AxisMetadata) -> AxisMetadata:
        index = axis if axis >= 0 else axis + 1 + len(typeof(arrays[0]).shape)
        return box.remove_axis(index, params) if entering else box.add_axis(index, params)

    return update_boxes(value, tell)
