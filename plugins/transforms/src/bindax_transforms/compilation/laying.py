"""Laying values out where a transformation, not the program, has to say how they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Tracer, typeof
from bindax_core.sharding import AxisType, NamedSharding, PartitionSpec, constrained, whole


def laid_on_mesh_of(x: Any, aval: Any, others: Sequence[Any]) -> Any:
    """A value that lies as a type says on the mesh of other values, whole if it says nothing.

    It was computed from those.
    """
    avals = [aval, *[getattr(other, "aval", None) or typeof(other) for other in others]]
    placements = [own.placement for own in avals if getattr(own, "is_divided", False)]
    if not placements or not hasattr(x, "shape"):
        return x  # nothing is divided, or it stands for no array
    if not aval.is_divided:
        return constrained(x, whole(placements[0].mesh, len(aval.shape)))
    return constrained(whole_beyond(x, aval.placement, avals), aval.placement)


def whole_beyond(x: Any, target: NamedSharding, sources: Sequence[Any]) -> Any:
    """A value that is to become a sum: whole along the axes that divide nothing it comes from.

    Args:
        x: the value, of which the compiler decides how it lies.
        target: how it is to lie.
        sources: the types of what it was computed from.
    """
    spec = target.spec
    placements = [own.placement for own in sources if getattr(own, "is_divided", False)]
    divided = {name for own in placements for name in own.spec.names}
    if spec.unreduced <= divided:
        return x
    terms = PartitionSpec(*spec, unreduced=spec.unreduced & divided)
    return constrained(x, NamedSharding(target.mesh, terms))


def laid_along(x: Any, axis: int, entry: Any, mesh: Any) -> Any:
    """A value of which mesh axes divide one axis, and the others no axis that they divided before.

    Args:
        x: an array, traced or not.
        axis: its axis.
        entry: the mesh axes, as an entry of a ``PartitionSpec`` has them.
        mesh: the mesh, without devices.
    """
    own = typeof(x)
    spec = own.placement.spec if own.is_divided else whole(mesh, len(own.shape)).spec
    if spec[axis] == entry:
        return x
    names = entry if isinstance(entry, tuple) else (entry,)
    others = [tuple(name for name in axes if name not in names) for axes in spec.axes]
    others[axis] = () if entry is None else names
    return constrained(x, NamedSharding(mesh, spec.update(others)))


def left_to_compiler(x: Any, mesh: Any = None) -> Any:
    """A value of which the compiler decides how it lies; itself of a type that says nothing of it.

    Args:
        x: an array, traced or not, or a number.
        mesh: the mesh, without devices, whose explicit axes types go on to speak of; by default
            its own with automatic axes alone.

    >>> left_to_compiler(1.0)
    1.0
    """
    own, inner = typeof(x), _inner_mesh(x)
    if inner is None:
        return x
    spec = own.placement.spec if own.is_divided else whole(inner, len(own.shape)).spec
    if mesh is None:
        mesh = inner.update_axis_types(dict.fromkeys(inner.explicit_axes, AxisType.Auto))
    explicit = frozenset(mesh.explicit_axes)
    sums: Any = {"unreduced": spec.unreduced & explicit, "reduced": spec.reduced & explicit}
    if not spec.unreduced <= explicit:
        x = constrained(x, NamedSharding(inner, PartitionSpec(*spec, **sums)))
    left = PartitionSpec.UNCONSTRAINED if mesh.auto_axes else None
    kept = [tuple(name for name in axes if name in explicit) or left for axes in spec.axes]
    return constrained(x, NamedSharding(mesh, PartitionSpec(*kept, **sums)))


def _inner_mesh(x: Any) -> Any:
    """The mesh that the type of a value names, or of what a tracer holds, as a batch; or None."""
    while x is not None:
        own = typeof(x)
        if getattr(own, "is_divided", False):
            return own.placement.mesh
        x = getattr(x, "value", None) if isinstance(x, Tracer) else None
    return None
