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
    in_axes: Any = 0,
    out_axes: Any = 0,
    metadata_params: Params | None = None,
) -> tuple[Any, Any]:
    """The ``scan`` of bindax along any axes, which also updates the boxes in its trees.

    Args:
        f: takes the carry and a slice of ``xs``, returns the next carry and a slice of the result.
        init: the first carry; its boxes stay as they are.
        xs: the scanned trees; their boxes are told by ``remove_axis`` that the axis is gone.
        length: how many steps there are, where ``xs`` holds no scanned arrays.
        reverse: whether to begin with the last slice.
        unroll: how many steps one round of the compiled loop makes.
        in_axes: the axis along which each array of ``xs`` is scanned, as a tree that is a prefix of
            it; None for what is the same in all steps.
        out_axes: the axis along which each result is stacked, as a tree that is a prefix of it.
        metadata_params: what the boxes are told about the axis of the steps.

    Returns:
        The last carry and the stacked slices, whose boxes are told by ``add_axis``.

    Raises:
        ValueError: a box does not fit the axis, its leaves have different axes, or an array has
            no such axis.
        TypeError: an axis is no integer, or one of ``out_axes`` is None.

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

    def loop(step: Any, scanned: Any) -> Any:
        return plain_scan(step, init, scanned, length=length, reverse=reverse, unroll=unroll)

    return _scan_along(f, xs, (in_axes, out_axes), params, loop)


def _scan_along(
    f: Callable[[Any, Any], tuple[Any, Any]],
    xs: Any,
    both_axes: tuple[Any, Any],
    params: Params,
    loop: Callable[[Any, Any], Any],
) -> tuple[Any, Any]:
    """Scan a list of arrays along first axes, by a loop, in the place of a tree along others."""
    in_axes, out_axes = both_axes
    leaves, tree = tree_flatten(xs)
    axes = _checked(flatten_prefix(in_axes, tree, "in_axes"), "in_axes", allow_none=True)
    scanned = [
        _moved(x, axis, 0, "in_axes")
        for x, axis in zip(leaves, axes, strict=True)
        if axis is not None
    ]
    places: list[int] = []  # where each result is to be stacked

    def step(carry: Any, slices: list[Any]) -> tuple[Any, Any]:
        rest = iter(slices)
        whole = [x if axis is None else next(rest) for x, axis in zip(leaves, axes, strict=True)]
        x = _along(tree_unflatten(tree, whole), in_axes, "in_axes", params, entering=True)
        carry, y = f(carry, x)
        found = flatten_prefix(out_axes, tree_structure(y), "out_axes")
        places[:] = _checked(found, "out_axes", allow_none=False)
        return carry, _along(y, out_axes, "out_axes", params, entering=False)

    carry, ys = loop(step, scanned)
    outs, structure = tree_flatten(ys)
    stacked = [_moved(y, 0, axis, "out_axes") for y, axis in zip(outs, places, strict=True)]
    return carry, tree_unflatten(structure, stacked)


def _checked(axes: list[Any], what: str, *, allow_none: bool) -> list[Any]:
    for axis in axes:
        is_axis = isinstance(axis, int) and not isinstance(axis, bool)
        if not is_axis and not (axis is None and allow_none):
            kinds = "integers, None" if allow_none else "integers"
            raise TypeError(f"scan: {what} must hold {kinds} and trees of these, not {axis!r:.60}.")
    return axes


def _moved(x: Any, source: int, target: int, what: str) -> Any:
    """An array with an axis elsewhere."""
    rank = len(typeof(x).shape)
    given = source if what == "in_axes" else target
    if not -rank <= given < rank:
        raise ValueError(f"scan: {what} has axis {given} for an array of shape {typeof(x).shape}.")
    return x if source == target else plain_vmap(lambda row: row, source, target)(x)


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
