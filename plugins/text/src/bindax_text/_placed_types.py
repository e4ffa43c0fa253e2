"""Shardings in types, as fields of plain values."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import ShapedArray
from bindax_core.sharding import (
    AbstractMesh,
    AxisType,
    ManualAxisType,
    NamedSharding,
    PartitionSpec,
)

_MANUAL = ("varying", "unreduced", "reduced")


def placed_fields(aval: ShapedArray) -> dict[str, Any]:
    """The fields of a type that says more than shape and dtype; empty for any other.

    >>> placed_fields(ShapedArray((2,), "float32"))
    {}
    """
    fields: dict[str, Any] = {}
    if aval.is_divided:
        mesh, spec = aval.sharding.mesh, aval.sharding.spec
        kinds = [kind.name for kind in mesh.axis_types]
        fields["mesh"] = tuple(zip(mesh.axis_names, mesh.axis_sizes, kinds, strict=True))
        fields["spec"] = spec.axes
        fields |= {name: getattr(spec, name) for name in _MANUAL[1:] if getattr(spec, name)}
    sets = {f"manual_{name}": getattr(aval.mat, name) for name in _MANUAL}
    return fields | {name: names for name, names in sets.items() if names}


def placed(aval: ShapedArray, fields: dict[str, Any]) -> ShapedArray:
    """The type with what fields say of it.

    Raises:
        TypeError, ValueError: when they are of another form.
    """
    given = dict(fields)
    manual = {name: given.pop(f"manual_{name}", frozenset()) for name in _MANUAL}
    aval = aval.update(mat=ManualAxisType(**manual))
    if not given:
        return aval
    names, sizes, kinds = zip(*given.pop("mesh"), strict=True)
    mesh = AbstractMesh(sizes, names, tuple([AxisType[kind] for kind in kinds]))
    spec = PartitionSpec(*given.pop("spec"), **given)
    return aval.update(sharding=NamedSharding(mesh, spec))
