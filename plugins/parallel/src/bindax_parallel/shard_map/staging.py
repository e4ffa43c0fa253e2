"""The program of one device, from a function in which the axes of the mesh have names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core import config
from bindax_core.extend import ClosedJaxpr, DebugInfo
from bindax_core.sharding import Mesh
from bindax_parallel.shard_map.specs import Params, index_avals, manual_axes, mesh_inside
from bindax_transforms import NamedAxis, name_axes, trace_to_jaxpr


def stage(
    function: Callable[..., Sequence[Any]], avals: Sequence[Any], params: Params, origin: DebugInfo
) -> ClosedJaxpr:
    """The program of one device, from a function of its parts in which the axes have names."""
    axes, mesh = manual_axes(params), params["mesh"].shape_tuple

    def with_names(*args: Any) -> Sequence[Any]:
        indices, parts = args[: len(axes)], args[len(axes) :]
        pairs = zip(axes.items(), indices, strict=True)
        named = [NamedAxis(name, size, index, mesh) for (name, size), index in pairs]
        with name_axes(named), config.override(**at_work):
            return function(*parts)

    given = params["mesh"]
    at_work: dict[str, Any] = {"abstract_mesh": mesh_inside(params)}
    if isinstance(given, Mesh):
        at_work["mesh"] = given
    return trace_to_jaxpr(with_names, [*index_avals(params), *avals], origin)
