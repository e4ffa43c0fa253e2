"""The sharding metadata of variables around a transformation, as functions of one step see them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from bindax_core.extend import api_boundary
from bindax_nnx.lift._decorators import decorator, lift_of
from bindax_nnx.lift._names import with_positions
from bindax_nnx.lift.axes import Axes, mapped
from bindax_nnx.lift.call import Call
from bindax_nnx.variables import PARTITION_NAME


@decorator
def transform_metadata(
    f: Callable[..., Any],
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Callable[..., Any]:
    """A function that names an axis of its arguments and results in their sharding metadata.

    It goes between a transformation such as ``vmap``, without ``transform_metadata`` of its own,
    and the function that is transformed: that sees metadata without the mapped axis.

    Args:
        f: a function of objects, arrays and trees of these.
        in_axes: the axes that the transformation maps, as for ``vmap``.
        out_axes: where the mapped axis goes in the result: likewise.
        partition: the name of the axis.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    >>> import numpy as np
    >>> from bindax_nnx import Param, vmap
    >>> @vmap(graph_updates=False)
    ... @transform_metadata(partition="layers")
    ... def make(x):
    ...     return Param(x, out_sharding=("data",), eager_sharding=False)
    >>> make(np.ones((3, 2))).out_sharding
    ('layers', 'data')
    """
    lift = lift_of("transform_metadata", "f", f, graph, False)
    metadata = {PARTITION_NAME: partition}
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes

    @wraps(f)
    @api_boundary
    def renamed(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_positions(f, args, kwargs)
        call = Call(f, args, kwargs, lift=lift)
        entry = Axes(call.arguments, (axes, 0), "in_axes")
        flat, _ = mapped(call, entry, out_axes, metadata)
        return call.finish(flat(call.leaves))

    return renamed
