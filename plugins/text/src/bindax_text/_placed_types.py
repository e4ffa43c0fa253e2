"""Types that say how arrays lie: ``float32[8@x,4]{V:y}``, on the mesh that their program names.

What that cannot say, such as a type on another mesh, is written as fields of plain values, as all
such types were by earlier versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bindax_core.errors import JaxprTextError
from bindax_core.extend import Jaxpr, ShapedArray
from bindax_core.sharding import (
    AbstractMesh,
    AxisType,
    ManualAxisType,
    NamedSharding,
    PartitionSpec,
)
from bindax_text._numbers import RESERVED
from bindax_text._tokens import Tokens

_MANUAL = ("varying", "unreduced", "reduced")
LETTERS = ("V", "U", "R")
Entries = list[tuple[str, ...]]


def mesh_of(jaxpr: Jaxpr) -> AbstractMesh | None:
    """The mesh that the types of a program are on: that of the first one which has one, or None."""
    results = [v for eqn in jaxpr.eqns for v in eqn.outvars]
    for v in (*jaxpr.constvars, *jaxpr.invars, *results):
        if type(v.aval) is ShapedArray and v.aval.is_divided:
            mesh: AbstractMesh = v.aval.sharding.mesh
            return mesh if all(map(_is_name, mesh.axis_names)) else None
    return None


def mesh_text(mesh: AbstractMesh) -> str:
    """A mesh as a program names it, such as ``on [x=(4, "Explicit"), y=(2, "Auto")]``."""
    axes = zip(mesh.axis_names, mesh.axis_sizes, mesh.axis_types, strict=True)
    shown = [f'{name}=({size}, "{kind.name}")' for name, size, kind in axes]
    return f"on [{', '.join(shown)}]"


def mesh_from(axes: dict[str, Any]) -> AbstractMesh:
    """The mesh from its axes, as fields."""
    sizes, kinds = zip(*axes.values(), strict=True)
    return AbstractMesh(sizes, tuple(axes), tuple([AxisType[kind] for kind in kinds]))


# ------------------------------------------------------------------------------ the short form


def is_short(aval: ShapedArray, mesh: AbstractMesh | None) -> bool:
    """Tell whether the short form says all of a type, in a program on a mesh."""
    sums = aval.mat.unreduced | aval.mat.reduced
    if not all(map(_is_name, aval.mat.varying | sums)):
        return False
    explicit = frozenset(() if mesh is None else mesh.explicit_axes)
    return not sums & explicit and (not aval.is_divided or aval.sharding.mesh == mesh)


def _is_name(name: Any) -> bool:
    return type(name) is str and name.isidentifier() and name.isascii() and name not in RESERVED


def sizes_text(aval: ShapedArray) -> str:
    """The sizes, with the mesh axes that divide them."""
    if not aval.is_divided:
        return ",".join(map(str, aval.shape))
    pairs = zip(aval.shape, aval.sharding.spec.axes, strict=True)
    return ",".join([f"{size}@{_names_text(axes)}" if axes else str(size) for size, axes in pairs])


def sets_text(aval: ShapedArray) -> str:
    """The text of what varies, of sums and of copies, such as ``{V:x, U:(y,z)}``; or none."""
    spec = aval.sharding.spec if aval.is_divided else PartitionSpec()
    sets = (aval.mat.varying, aval.mat.unreduced | spec.unreduced, aval.mat.reduced | spec.reduced)
    shown = [
        f"{letter}:{_names_text(sorted(names))}"
        for letter, names in zip(LETTERS, sets, strict=True)
        if names
    ]
    return f"{{{', '.join(shown)}}}" if shown else ""


def _names_text(names: Iterable[str]) -> str:
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"({','.join(listed)})"


def read_names(tokens: Tokens) -> tuple[str, ...]:
    """One name, or several in brackets."""
    if not tokens.has("("):
        return (tokens.take_kind("name", "the name of a mesh axis"),)
    return tuple([tokens.take_kind("name", "the name of a mesh axis") for _ in tokens.parts(")")])


def read_sets(tokens: Tokens) -> dict[str, frozenset[str]]:
    """The sets of names after the opening brace, to the closing one."""
    sets: dict[str, frozenset[str]] = {}
    for _ in tokens.parts("}"):
        letter = tokens.next.text
        if letter not in LETTERS or letter in sets:
            tokens.fail("expected V, U or R, each once")
        tokens.take()
        tokens.expect(":")
        sets[letter] = frozenset(read_names(tokens))
    return sets


def placed_on(
    mesh: AbstractMesh | None,
    aval: ShapedArray,
    entries: Entries,
    sets: dict[str, frozenset[str]],
) -> ShapedArray:
    """The type that the short form says, in a program on a mesh.

    Raises:
        JaxprTextError: when it is divided, and the program names no mesh.
        ValueError: when it is divided unevenly, or along axes that the mesh has not.
    """
    explicit = frozenset(() if mesh is None else mesh.explicit_axes)
    varying, unreduced, reduced = (sets.get(letter, frozenset()) for letter in LETTERS)
    mat = ManualAxisType(varying, unreduced - explicit, reduced - explicit)
    aval = aval.update(mat=mat)
    sums: dict[str, Any] = {"unreduced": unreduced & explicit, "reduced": reduced & explicit}
    if not any(entries) and not any(sums.values()):
        return aval
    if mesh is None:
        raise JaxprTextError("the program names no mesh, by 'on [x=(2, \"Explicit\")]'")
    return aval.update(sharding=NamedSharding(mesh, PartitionSpec(*entries, **sums)))


# -------------------------------------------------------------------------------- the long form


def placed_fields(aval: ShapedArray, write: Callable[[Any], str]) -> str:
    """The fields of a type that says more than shape and dtype, in braces; none for any other."""
    fields: dict[str, Any] = {}
    if aval.is_divided:
        mesh, spec = aval.sharding.mesh, aval.sharding.spec
        kinds = [kind.name for kind in mesh.axis_types]
        fields["mesh"] = tuple(zip(mesh.axis_names, mesh.axis_sizes, kinds, strict=True))
        fields["spec"] = spec.axes
        fields |= {name: getattr(spec, name) for name in _MANUAL[1:] if getattr(spec, name)}
    sets = {f"manual_{name}": getattr(aval.mat, name) for name in _MANUAL}
    fields |= {name: names for name, names in sets.items() if names}
    written = [f"{key}={write(value)}" for key, value in fields.items()]
    return f"{{{', '.join(written)}}}" if written else ""


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
