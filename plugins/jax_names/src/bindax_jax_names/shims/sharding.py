"""``jax.sharding``: what programs ask of the mesh at work."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from bindax.sharding import AbstractMesh, Mesh, get_mesh, set_mesh
from bindax.sharding import reshard as reshard

__all__ = ["get_abstract_mesh", "reshard", "use_abstract_mesh"]


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
