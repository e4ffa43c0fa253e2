"""``jax.sharding``: what programs ask of the mesh at work."""

from __future__ import annotations

from typing import Any

import bindax
from bindax.sharding import AbstractMesh, Mesh, get_mesh
from bindax.sharding import use_mesh as use_abstract_mesh

__all__ = ["get_abstract_mesh", "reshard", "use_abstract_mesh"]


def get_abstract_mesh() -> AbstractMesh:
    """The mesh at work, without its devices; one without axes when there is none."""
    mesh: Mesh | None = get_mesh()
    return AbstractMesh((), ()) if mesh is None else mesh.abstract_mesh


def reshard(xs: Any, out_shardings: Any) -> Any:
    """The arrays, laid as the shardings say."""
    return bindax.device_put(xs, out_shardings)
