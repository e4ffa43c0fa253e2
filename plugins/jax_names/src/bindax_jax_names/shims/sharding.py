"""``jax.sharding``: what programs ask of the mesh at work."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import Any

import attrs

from bindax.sharding import AbstractMesh, Mesh, get_mesh, set_mesh
from bindax.sharding import reshard as reshard

__all__ = [
    "ManualAxisType",
    "UnreducedKind",
    "get_abstract_mesh",
    "no_collectives",
    "reshard",
    "use_abstract_mesh",
]


class UnreducedKind(Enum):
    """The reduction that parts of an array have not had yet."""

    sum = 1
    max = 2
    min = 3


@attrs.frozen
class ManualAxisType:
    """The axes of a mesh along which a value varies, for annotations; bindax's types have none."""

    varying: frozenset[Any] = frozenset()
    unreduced: frozenset[Any] = frozenset()
    reduced: frozenset[Any] = frozenset()
    unreduced_kind: UnreducedKind | None = None


def no_collectives(axes: Any = frozenset()) -> AbstractContextManager[None]:
    """A context manager that does nothing: collectives are what a function asks for."""
    return nullcontext()


def get_abstract_mesh() -> AbstractMesh:
    """The mesh at work, without its devices; one without axes when there is none."""
    mesh: Mesh | None = get_mesh()
    return AbstractMesh((), ()) if mesh is None else mesh.abstract_mesh


def use_abstract_mesh(mesh: AbstractMesh) -> AbstractContextManager[object]:
    """The mesh at work inside of a ``with`` block: none, or the one that is there already.

    Raises:
        ValueError: for a mesh of other axes; the alias needs to know its devices.
    """
    if mesh.empty:
        return set_mesh(None)
    if get_abstract_mesh().shape_tuple != mesh.shape_tuple:
        raise ValueError(
            f"use_abstract_mesh: {mesh!r} is not the mesh at work, {get_mesh()!r}; name one with "
            f"devices by jax.set_mesh."
        )
    return nullcontext()
