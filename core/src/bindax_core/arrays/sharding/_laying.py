"""Laying a value out as a type says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.arrays._settings import config
from bindax_core.arrays.sharding._current_mesh import get_abstract_mesh
from bindax_core.arrays.sharding._mesh import AxisType
from bindax_core.arrays.sharding._sharding import NamedSharding
from bindax_core.arrays.sharding._spec import PartitionSpec
from bindax_core.arrays.sharding._types import whole
from bindax_core.errors import PluginError
from bindax_core.kernel._aval import typeof
from bindax_core.kernel._trace import Tracer


def constrained(x: Any, sharding: Any) -> Any:
    """A value with another sharding on its devices."""
    what = "divided anew among its devices"
    return _bound("sharding_constraint", what, x, sharding=sharding)


def laid_out(x: Any, layout: Any) -> Any:
    """A value where it is, with its axes in another order in memory."""
    what = "laid out anew in memory"
    return _bound("layout_constraint", what, x, layout=layout, of_operand=False)


def _bound(name: str, what: str, x: Any, **params: Any) -> Any:
    primitive = runtime.plugins.find_primitive(name)
    if primitive is None:
        raise PluginError(
            f"an array is to be {what}, but no installed plugin offers the primitive {name!r}: "
            f"install bindax-transforms."
        )
    return primitive.bind(x, **params)


def laid_as(x: Any, aval: Any) -> Any:
    """A value that lies along explicit axes as a type says; itself where it does already.

    Args:
        x: an array, traced or not, or a number.
        aval: a type of its shape.

    >>> laid_as(1.0, typeof(1.0))
    1.0
    """
    wanted, own = getattr(aval, "placement", None), typeof(x)
    present: Any = getattr(own, "placement", None)
    if wanted is present:
        return x
    given = wanted if wanted is not None and aval.is_divided else None
    if given is None:
        if not getattr(own, "is_divided", False):
            return x
        given = whole(present.mesh, len(own.shape))
    return constrained(pinned(x, given), given)


def pinned(x: Any, target: NamedSharding) -> Any:
    """A value that is to become a sum, where it is none: as its type says that it lies.

    Otherwise the compiler may take a constant for a term that each device has.
    """
    own = typeof(x)
    if not target.spec.unreduced:
        return x
    if not own.is_divided:
        return constrained(x, whole(target.mesh, len(own.shape)))
    lying = own.placement
    return x if lying.spec.unreduced else constrained(x, lying)


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
    divided = {name for own in placements for axes in own.spec.axes for name in axes}
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
    return constrained(x, NamedSharding(mesh, spec.update(*others)))


def as_open_sum(x: Any) -> Any:
    """A value to which terms are added: itself a term, where an ``out_sharding`` asks for a sum.

    >>> as_open_sum(1.0)
    1.0
    """
    names = config.open_sums
    if not names:
        return x
    target = NamedSharding(get_abstract_mesh(), PartitionSpec(unreduced=names))
    return laid_as(x, typeof(x).lying(target))


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
