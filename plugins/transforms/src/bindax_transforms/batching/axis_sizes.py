"""Sizes of mapped axes that know more than a number: a name, and mesh axes."""

from __future__ import annotations

from typing import Any

from bindax_core.sharding import AbstractMesh, get_abstract_mesh


class NamedSize(int):
    """The size of an axis with a name, or with axes of a mesh that divide it.

    Rules take it for the integer that it is and pass it on, so that the jaxprs and functions that
    they batch along the axis know both.

    Attributes:
        name: the name for operations across the axis, or None.
        mesh_axes: the names of the mesh axes that divide it.
        mesh: their mesh where they are explicit, so that types say it; else None.

    >>> size = NamedSize(8, "batch", ("x",))
    >>> size // 2, mesh_axes_of(size), mesh_axes_of(8)
    (4, ('x',), ())
    >>> axis_key(size) == axis_key(8)
    False
    """

    name: Any
    mesh_axes: tuple[Any, ...]
    mesh: AbstractMesh | None

    def __new__(
        cls,
        size: int,
        name: Any,
        mesh_axes: tuple[Any, ...] = (),
        mesh: AbstractMesh | None = None,
    ) -> NamedSize:
        """Attach names to a size."""
        made = super().__new__(cls, size)
        made.name = name
        made.mesh_axes = mesh_axes
        made.mesh = mesh
        return made


def axis_key(size: int) -> tuple[Any, ...]:
    """The key by which jaxprs batched along axes of one size are told from each other."""
    if type(size) is not NamedSize:
        return (size, None, (), None)
    return (size, size.name, size.mesh_axes, size.mesh)


def mesh_axes_of(size: int) -> tuple[Any, ...]:
    """The names of the mesh axes that divide an axis, as ``vmap(spmd_axis_name=...)`` says."""
    return size.mesh_axes if type(size) is NamedSize else ()


def explicit_entry(size: int) -> Any:
    """The entry of a ``PartitionSpec`` for an axis that explicit mesh axes divide, or None."""
    if type(size) is not NamedSize or size.mesh is None:
        return None
    present = get_abstract_mesh()
    if not present.empty and not set(size.mesh_axes) <= set(present.explicit_axes):
        return None  # inside of auto_axes
    return size.mesh_axes[0] if len(size.mesh_axes) == 1 else size.mesh_axes


def mesh_axes_tuple(given: Any) -> tuple[Any, ...]:
    """The names of mesh axes from what users give: None, a name, or several."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)
