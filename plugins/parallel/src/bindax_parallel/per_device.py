"""``pmap``: an axis of the arguments with one element for each device."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from bindax_core import device_put
from bindax_core import devices as all_devices
from bindax_core.extend import (
    Array,
    flatten_prefix,
    operations_for,
    tree_flatten,
    tree_unflatten,
    typeof,
    wraps,
)
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec
from bindax_parallel.shard_map.shard_map import shard_map
from bindax_transforms import check_function, jit

__all__ = ["pmap"]


def pmap(
    fun: Callable[..., Any],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """A function that applies ``fun`` along an axis, to each element on a device of its own.

    Args:
        fun: a function of arrays and trees of arrays.
        axis_name: a name for the axis, for collectives inside of ``fun``.
        in_axes: as for ``vmap``; None says "the same on all devices".
        out_axes: as for ``vmap``; None takes the result of one device.
        static_broadcasted_argnums: positions of arguments that are hashable values.
        devices: the devices; by default the first of all, as many as the axis has elements.
        axis_size: the size of the axis, needed only when no argument is mapped.
        donate_argnums: positions of arguments whose memory results may reuse.

    Returns:
        A function whose results are divided among the devices, one element on each.

    Raises:
        ValueError: when there are more elements than devices, sizes disagree, or a prefix does not
            fit.

    >>> import numpy as np
    >>> from bindax_parallel import pmap, psum
    >>> pmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([[1.0, 2.0]]))
    Array([[1., 1.]], dtype=float64)
    """
    check_function("pmap", "fun", fun)
    given = static_broadcasted_argnums
    static = {given} if isinstance(given, int) else {*given}
    name = "pmap" if axis_name is None else axis_name

    def arranged(args: Any, kwargs: Any) -> tuple[Any, list[int | None], Mesh]:
        full, flat = _with_axes(args, kwargs, in_axes, static)
        size, places = _axis_size(tree_flatten(full)[0], flat, axis_size)
        return full, places, _mesh(size, devices, name)

    def program(*args: Any, **kwargs: Any) -> Any:
        full, axes, mesh = arranged(args, kwargs)
        return _divided(fun, args, static, (*tree_flatten(full), axes), out_axes, mesh)

    compiled = jit(program, static_argnums=sorted(static), donate_argnums=donate_argnums)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        full, axes, mesh = arranged(args, kwargs)
        leaves, tree = tree_flatten(full)
        moved = [_brought(x, axis, mesh) for x, axis in zip(leaves, axes, strict=True)]
        dynamic, named = tree_unflatten(tree, moved)
        return compiled(*_together(dynamic, args, static), **named)

    return mapped


def _with_axes(args: Any, kwargs: Any, in_axes: Any, static: set[int]) -> tuple[Any, list[Any]]:
    """The arguments that are not static, and the axis of each leaf."""
    if static and max(static) >= len(args):
        raise ValueError(
            f"pmap: static_broadcasted_argnums={tuple(static)}, but it was called with {len(args)} "
            f"positional arguments; pass static ones by position."
        )
    dynamic = tuple(x for i, x in enumerate(args) if i not in static)
    axes = tuple(in_axes) if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
    if len(axes) not in (len(args), len(dynamic)):
        raise ValueError(
            f"pmap: in_axes has {len(axes)} entries for {len(args)} positional arguments."
        )
    if len(axes) == len(args):
        axes = tuple(axis for i, axis in enumerate(axes) if i not in static)
    full = (dynamic, kwargs)
    return full, flatten_prefix((axes, 0), full, "(in_axes, 0)", full_name="(args, kwargs)")


def _mesh(size: int, devices: Sequence[Any] | None, name: Hashable) -> Mesh:
    found = list(all_devices() if devices is None else devices)
    if size == 0:
        raise ValueError("pmap: the mapped axis has size 0, which is for no device; use vmap.")
    if size > len(found):
        raise ValueError(
            f"pmap: the mapped axis has size {size}, but there are {len(found)} devices; use vmap, "
            f"or shard_map, whose devices take several elements each."
        )
    return Mesh(np.array(found[:size], dtype=object), (name,))


def _axis_size(
    leaves: Sequence[Any], axes: Sequence[int | None], given: int | None
) -> tuple[int, list[int | None]]:
    """The number of elements along the mapped axis, and the axes counted from the front."""
    if given is not None and not isinstance(given, (int, np.integer)):
        raise TypeError(f"pmap: axis_size must be an integer, but is {given!r:.60}.")
    sizes: dict[int, str] = {} if given is None else {given: "axis_size"}
    places: list[int | None] = []
    for i, (x, axis) in enumerate(zip(leaves, axes, strict=True)):
        shape = typeof(x).shape
        if axis is None:
            places.append(None)
            continue
        _check_axis("in_axes", axis)
        if not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"pmap: argument leaf {i} has the type {typeof(x).str_short()}, and so no axis "
                f"{axis} to map; use None in in_axes for what is the same on all devices."
            )
        places.append(axis % len(shape))
        sizes.setdefault(shape[axis], f"argument leaf {i}, {typeof(x).str_short()}")
    if len(sizes) != 1:
        said = ", ".join(f"{size} ({where})" for size, where in sizes.items())
        raise ValueError(
            f"pmap: the sizes of the mapped axis disagree: {said}."
            if sizes
            else "pmap needs at least one mapped argument, or axis_size=...."
        )
    return next(iter(sizes)), places


def _spec(axis: int | None, mesh: Mesh) -> PartitionSpec:
    return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, mesh.axis_names[0])


def _brought(x: Any, axis: int | None, mesh: Mesh) -> Any:
    """An array that is bound to other devices, moved; anything else as it is."""
    if not isinstance(x, Array) or not x.committed:
        return x
    if x.sharding.device_assignment == mesh.device_assignment:
        return x
    return device_put(x, NamedSharding(mesh, _spec(axis, mesh)))


def _together(dynamic: Sequence[Any], every: Sequence[Any], static: set[int]) -> list[Any]:
    """The positional arguments: those that are static from ``every``, and the others."""
    rest = iter(dynamic)
    return [x if i in static else next(rest) for i, x in enumerate(every)]


def _divided(
    fun: Callable[..., Any],
    fixed: Sequence[Any],
    static: set[int],
    operands: tuple[Sequence[Any], Any, Sequence[int | None]],
    out_axes: Any,
    mesh: Mesh,
) -> Any:
    """The call on each device's own element."""
    leaves, tree, axes = operands
    tree_out: Any = None

    def one(*parts: Any) -> list[Any]:
        nonlocal tree_out
        elements = [
            x if axis is None else operations_for(typeof(x)).index_axis(x, 0, axis)
            for x, axis in zip(parts, axes, strict=True)
        ]
        dynamic, named = tree_unflatten(tree, elements)
        outs, tree_out = tree_flatten(fun(*_together(dynamic, fixed, static), **named))
        return [operations_for(typeof(x)).broadcast_axis(x, 1, 0) for x in outs]

    rows = PartitionSpec(mesh.axis_names[0])
    in_specs = tuple(_spec(axis, mesh) for axis in axes)
    laid = shard_map(one, mesh=mesh, in_specs=in_specs, out_specs=rows, check_vma=False)
    outs = laid(*leaves)
    places = flatten_prefix(out_axes, tree_out, "out_axes", full_name="the result")
    pairs = zip(outs, places, strict=True)
    return tree_unflatten(tree_out, [_placed(x, axis) for x, axis in pairs])


def _check_axis(what: str, axis: Any) -> None:
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise TypeError(f"pmap: {what} must be an int, None or a tree of these, not {axis!r:.60}.")


def _placed(x: Any, axis: int | None) -> Any:
    """A result with its mapped axis, which is in front, in its place."""
    operations = operations_for(typeof(x))
    if axis is None:
        return operations.index_axis(x, 0, 0)
    _check_axis("out_axes", axis)
    ndim = len(typeof(x).shape)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"pmap: out_axes has {axis}, but a result has {ndim} axes with the mapped one."
        )
    return operations.move_axis(x, 0, axis % ndim)
