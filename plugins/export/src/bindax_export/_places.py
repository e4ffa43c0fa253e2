"""Where the arguments and results of a program on several devices lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bindax_core.extend import ClosedJaxpr, Literal
from bindax_core.sharding import AbstractMesh as _Mesh
from bindax_core.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from bindax_export._errors import ExportError, FormatError
from bindax_export._flatbuffers import Number, Numbers, Reader
from bindax_export._format import Field

Places = tuple[NamedSharding | None, ...]


def argument_shardings(closed: ClosedJaxpr, given: Sequence[Any] | None) -> Places:
    """The shardings of arguments: those they came with, or that begin the program, or of types."""
    asked: dict[Any, Any] = {
        eqn.invars[0]: eqn.params["sharding"]
        for eqn in closed.jaxpr.eqns
        if eqn.primitive.name == "sharding_constraint" and type(eqn.invars[0]) is not Literal
    }
    pairs = zip(closed.jaxpr.invars, given or [None] * len(closed.in_avals), strict=True)
    return tuple(_named(sharding or asked.get(x) or _typed(x.aval)) for x, sharding in pairs)


def result_shardings(closed: ClosedJaxpr) -> Places:
    """The shardings of results, where the program ends with them or types have them."""
    made: dict[Any, Any] = {
        eqn.outvars[0]: eqn.params["sharding"]
        for eqn in closed.jaxpr.eqns
        if eqn.primitive.name == "sharding_constraint"
    }
    outs = closed.jaxpr.outvars
    return tuple(
        None if type(x) is Literal else _named(made.get(x) or _typed(x.aval)) for x in outs
    )


def _typed(aval: Any) -> Any:
    return aval.sharding if getattr(aval, "is_divided", False) else None


def _named(sharding: Any) -> NamedSharding | None:
    return sharding if isinstance(sharding, NamedSharding) else None


def without_devices(places: Places) -> Places:
    """The shardings on meshes that name no devices of this process."""
    return tuple(None if s is None else NamedSharding(_abstract(s.mesh), s.spec) for s in places)


def on_mesh(places: Places, mesh: Any) -> Places:
    """The shardings on the devices of a mesh, which has the axes of the exported one."""
    # Files hold arrays in the devices' own memory, which a mesh without devices does not know.
    kind = None if isinstance(mesh, Mesh) else "device"
    return tuple(
        None if s is None else NamedSharding(mesh, s.spec, memory_kind=kind) for s in places
    )


def _abstract(mesh: Any) -> _Mesh:
    return _Mesh(mesh.axis_sizes, mesh.axis_names, mesh.axis_types)


# ---------------------------------------------------------------------------------- in files

_KINDS = (None, AxisType.Auto, AxisType.Explicit, AxisType.Manual)
_NAMED_KIND = 2


def place_fields(inputs: Places, outputs: Places) -> dict[int, Any]:
    """The fields of a program's table that say where arguments and results lie."""
    known = list(dict.fromkeys(s for s in (*inputs, *outputs) if s is not None))
    meshes = list(dict.fromkeys(s.mesh for s in known))
    tables = [_sharding_table(s, meshes) for s in known]

    def numbers(places: Places) -> Numbers:
        return Numbers("I", [0 if s is None else 1 + known.index(s) for s in places])

    def full(places: Places) -> list[dict[int, Any]]:
        # Older readers take these; a table without fields is a sharding that is not specified.
        return [
            {} if s is None else {0: Number("b", _NAMED_KIND), 2: tables[known.index(s)]}
            for s in places
        ]

    return {
        Field.IN_SHARDINGS: full(inputs),
        Field.OUT_SHARDINGS: full(outputs),
        Field.MESHES: [_mesh_table(mesh) for mesh in meshes],
        Field.NAMED: tables,
        Field.IN_PLACES: numbers(inputs),
        Field.OUT_PLACES: numbers(outputs),
    }


def _mesh_table(mesh: _Mesh) -> dict[int, Any]:
    kinds = bytes(_KINDS.index(kind) for kind in mesh.axis_types)
    return {0: Numbers("I", mesh.axis_sizes), 1: list(map(_text, mesh.axis_names)), 2: kinds}


def _sharding_table(sharding: NamedSharding, meshes: list[Any]) -> dict[int, Any]:
    entries = [{0: list(map(_text, axes))} for axes in sharding.spec.axes]
    return {
        0: _mesh_table(sharding.mesh),
        1: {0: entries, 1: _texts(sharding.spec.unreduced), 2: _texts(sharding.spec.reduced)},
        3: Number("I", meshes.index(sharding.mesh)),
    }


def _texts(names: Iterable[Any]) -> list[str]:
    return sorted(map(_text, names))


def _text(name: Any) -> str:
    if not isinstance(name, str):
        raise ExportError(
            f"files hold names of mesh axes that are strings, but one is {name!r}; make the mesh "
            f"with another name."
        )
    return name


def read_places(reader: Reader, numbers: int, listed: int) -> Places:
    """The shardings of arguments or results, if any; older files list them in full."""
    meshes = [_read_mesh(table) for table in reader.tables(Field.MESHES)]
    found = [_read_sharding(table, meshes) for table in reader.tables(Field.NAMED)]
    indices = reader.numbers(numbers, "I")
    if indices and max(indices) > len(found):
        raise FormatError("a sharding in it is missing")
    places = [None if i == 0 else found[i - 1] for i in indices]
    if not indices:
        inside = [table.table(2) for table in reader.tables(listed)]
        places = [None if table is None else _read_sharding(table, []) for table in inside]
    return tuple(places)


def _read_mesh(table: Reader) -> _Mesh:
    kinds = table.raw(2)
    if any(kind >= len(_KINDS) for kind in kinds):
        raise FormatError("an axis of a mesh in it is of an unknown kind")
    types = [_KINDS[kind] or AxisType.Auto for kind in kinds]
    return _Mesh(table.numbers(0, "I"), table.texts(1), tuple(types) or None)


def _read_sharding(table: Reader, meshes: list[_Mesh]) -> NamedSharding:
    index, own, spec = table.number(3, "I"), table.table(0), table.table(1)
    if (own is None and index >= len(meshes)) or spec is None:
        raise FormatError("a mesh or a spec in it is missing")
    mesh = meshes[index] if index < len(meshes) else _read_mesh(own)  # type: ignore[arg-type]
    entries = [tuple(entry.texts(0)) for entry in spec.tables(0)]
    sums: dict[str, Any] = {"unreduced": set(spec.texts(1)), "reduced": set(spec.texts(2))}
    return NamedSharding(mesh, PartitionSpec(*entries, **sums))
