"""``pmap``: the elements of a mapped axis, each on a device of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any

from bindax_core.extend import api_boundary, tree_map, typeof
from bindax_core.sharding import NamedSharding, PartitionSpec, make_mesh
from bindax_nnx.lift._decorators import lift_of, preserving
from bindax_nnx.lift.axes import Axes, StateAxes, StateSharding, with_axes
from bindax_nnx.lift.jit import jit, several
from bindax_nnx.lift.prefixes import GraphPrefix, check_prefixes
from bindax_nnx.lift.statics import marked, unmarked
from bindax_nnx.lift.structure import Arguments
from bindax_nnx.lift.vmap import vmap
from bindax_nnx.modes import Mode


@preserving
def pmap(
    f: Callable[..., Any],
    *,
    axis_name: Any = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
    transform_metadata: Mapping[str, Any] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A compiled function that applies ``f`` along an axis, each element on its own device.

    Args:
        f: a function of objects, arrays and trees of these.
        axis_name: a name for the axis, for operations across it.
        in_axes: as for ``vmap``; axes count from the front.
        out_axes: as for ``vmap``.
        static_broadcasted_argnums: positions of static arguments, as for ``jit``.
        devices: what the elements lie on, from the first one; all devices if None.
        backend: the name of the backend that compiles.
        axis_size: the size of the axis, needed only when no argument is mapped.
        donate_argnums: positions of arguments whose arrays are used up.
        transform_metadata: as for ``vmap``.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        ValueError: there are fewer devices than elements.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> pmap(lambda m, x: m(x), in_axes=(None, 0))(layer, np.ones((1, 5, 2), "f4")).shape
    (1, 5, 3)
    """
    lift = lift_of("pmap", "f", f, graph, graph_updates)
    check_prefixes("pmap", lift.mode, in_axes=in_axes, out_axes=out_axes)
    updates = lift.mode is Mode.UPDATES
    mode: dict[str, Any] = {"graph": lift.mode is not Mode.TREE, "graph_updates": updates}
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    names: dict[str, Any] = {"axis_name": axis_name, "axis_size": axis_size}
    names["transform_metadata"] = transform_metadata
    static = several("pmap", static_broadcasted_argnums, "static_broadcasted_argnums")
    options: dict[str, Any] = {"donate_argnums": donate_argnums, "backend": backend, **mode}
    mapped = _mapped(f, static, in_axes=axes, out_axes=out_axes, **names, **mode)
    compiled = _by_size(mapped, axes, static, devices, **options)

    @wraps(f)
    @api_boundary
    def parallel(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_axes("pmap", f, axes, args, kwargs)
        size = _size(axes, marked(args, static), kwargs) if axis_size is None else axis_size
        return compiled(size, len(args))(*args, **kwargs)

    return parallel


def _mapped(f: Callable[..., Any], static: tuple[Any, ...], **options: Any) -> Callable[..., Any]:
    """The function that applies ``f`` along an axis of the arguments that are not static."""

    @wraps(f)
    def with_values(*args: Any, **kwargs: Any) -> Any:
        values, named = unmarked(args, kwargs)
        return f(*values, **named)

    batched = vmap(with_values, **options)
    return wraps(f)(lambda *args, **kwargs: batched(*marked(args, static), **kwargs))


def _by_size(
    mapped: Callable[..., Any], axes: Any, static: Any, devices: Any, **options: Any
) -> Callable[[int, int], Callable[..., Any]]:
    """The compiled function for a size of the axis and a number of arguments."""

    @cache
    def compiled(size: int, count: int) -> Callable[..., Any]:
        mesh = make_mesh((size,), ("devices",), devices=devices and devices[:size])
        given = axes if isinstance(axes, tuple) else (axes,) * count
        placed = _shardings(tuple([x for i, x in enumerate(given) if i not in static]), mesh)
        return jit(mapped, in_shardings=placed, static_argnums=static, **options)

    return compiled


def _size(axes: Any, args: Any, kwargs: Any) -> int:
    """The size of the first axis that is mapped; ``vmap`` compares the others with it."""
    arguments = Arguments((args, kwargs))
    entry = Axes(arguments, (axes, 0), "in_axes")
    for x, axis in zip(arguments.leaves, entry.of_leaves(), strict=True):
        if isinstance(axis, int) and axis < len(typeof(x).shape):
            size: int = typeof(x).shape[axis]
            return size
    return 1


def _shardings(axes: Any, mesh: Any) -> Any:
    """Where arguments lie, from the axes along which they are mapped."""

    def one(axis: Any) -> Any:
        if isinstance(axis, StateAxes):
            return StateSharding(dict(zip(axis.filters, map(one, axis.values()), strict=True)))
        if isinstance(axis, GraphPrefix):
            return axis.then(one)
        if isinstance(axis, int) and axis < 0:
            raise ValueError(f"pmap: in_axes count from the front, but one is {axis}.")
        spec = () if axis is None else (*[None] * axis, "devices")
        return NamedSharding(mesh, PartitionSpec(*spec))

    return tree_map(one, axes, is_leaf=lambda x: x is None or isinstance(x, StateAxes))
