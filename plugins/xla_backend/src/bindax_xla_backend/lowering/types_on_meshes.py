"""Shardings along explicit axes of a mesh, as the types of a program have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bindax_core.extend import Jaxpr, JaxprEqn, ShapedArray
from bindax_core.sharding import (
    AbstractMesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    open_axes,
)


def mesh_in_types(avals: Iterable[Any]) -> AbstractMesh | None:
    """The mesh that the first type names that says how its values lie, or None."""
    for aval in avals:
        if type(aval) is ShapedArray and aval.is_divided:
            mesh: AbstractMesh = aval.sharding.mesh
            return mesh
    return None


def says_sharding(eqn: JaxprEqn) -> bool:
    """Tell whether a parameter of an equation says how its results lie."""
    return any(isinstance(value, Sharding) for value in eqn.params.values())


def sharding_in(aval: Any, mesh: AbstractMesh) -> NamedSharding | None:
    """The sharding of values of a type on a mesh: whole, where the type says nothing."""
    if type(aval) is not ShapedArray:
        return None
    if aval.is_divided:
        own: NamedSharding = aval.sharding
        return own
    return NamedSharding(mesh, PartitionSpec(*[None] * aval.ndim))


def result_shardings(jaxpr: Jaxpr) -> tuple[NamedSharding | None, ...]:
    """The sharding of each result of a program by its type; None where the compiler decides.

    Where the program says it last, as ``out_shardings`` does, it is in the program's words.
    The compiler decides in programs whose types name no mesh, and of values that depend on one
    that was left to it, as ``auto_axes`` does.
    """
    avals = [x.aval for x in (*jaxpr.invars, *jaxpr.outvars)]
    avals += [v.aval for eqn in jaxpr.eqns for v in eqn.outvars]
    mesh = mesh_in_types(avals) or _mesh_in_params(jaxpr.eqns)
    if mesh is None:
        return (None,) * len(jaxpr.outvars)
    found: dict[Any, Any] = dict.fromkeys(_left_open(jaxpr.eqns)) | _said(jaxpr.eqns)
    return tuple([found[x] if x in found else sharding_in(x.aval, mesh) for x in jaxpr.outvars])


def _said(eqns: Sequence[JaxprEqn]) -> dict[Any, NamedSharding]:
    """The shardings that parameters give to results whose types say the same in other words."""
    found = {}
    for eqn in eqns:
        for given in eqn.params.values():
            if isinstance(given, NamedSharding) and given.mesh.are_all_axes_explicit:
                out = eqn.outvars[0]
                if given.spec.padded(len(out.aval.shape)) == out.aval.sharding.spec:
                    found[out] = NamedSharding(given.mesh.abstract_mesh, given.spec)
    return found


def _mesh_in_params(eqns: Sequence[JaxprEqn]) -> AbstractMesh | None:
    """The mesh with explicit axes alone of the first sharding among parameters, or None."""
    for eqn in eqns:
        for value in eqn.params.values():
            if isinstance(value, NamedSharding) and value.mesh.are_all_axes_explicit:
                return value.mesh.abstract_mesh
    return None


def _left_open(eqns: Sequence[JaxprEqn]) -> set[Any]:
    """The variables without a sharding in their types that the compiler decides on."""
    found: set[Any] = set()
    for eqn in eqns:
        if says_sharding(eqn):
            given = [value for value in eqn.params.values() if isinstance(value, Sharding)]
            opened = any(any(open_axes(s, len(eqn.outvars[0].aval.shape))) for s in given)
        else:
            opened = any(x in found for x in eqn.invars)
        if opened:
            found.update(v for v in eqn.outvars if mesh_in_types([v.aval]) is None)
    return found
