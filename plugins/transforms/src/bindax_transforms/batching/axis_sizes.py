"""Sizes of mapped axes that know more than a number: a name, and mesh axes."""

from __future__ import annotations

from typing import Any


class NamedSize(int):
    """The size of an axis with a name, or with axes of a mesh that divide it.

    Rules take it for the integer that it is and pass it on, so that the jaxprs and functions that
    they batch along the axis know both.

    Attributes:
        name: the name for operations across the axis, or None.
        mesh_axes: the names of the mesh axes that divide it.

    >>> size = NamedSize(8, "batch", ("x",))
    >>> size // 2, mesh_axes_of(size), mesh_axes_of(8)
    (4, ('x',), ())
    >>> axis_key(size) == axis_key(8)
    False
    """

    name: Any
    mesh_axes: tuple[Any, ...]

    def __new__(cls, size: int, name: Any, mesh_axes: tuple[Any, ...] = ()) -> NamedSize:
        """Attach names to a size."""
        made = super().__new__(cls, size)
        made.name = name
        made.mesh_axes = mesh_axes
        return made


def axis_key(size: int) -> tuple[Any, ...]:
    """The key by which jaxprs batched along axes of one size are told from each other."""
    return (size, size.name, size.mesh_axes) if type(size) is NamedSize else (size, None, ())


def mesh_axes_of(size: int) -> tuple[Any, ...]:
    """The names of the mesh axes that divide an axis, as ``vmap(spmd_axis_name=...)`` says."""
    return size.mesh_axes if type(size) is NamedSize else ()


def mesh_axes_tuple(given: Any) -> tuple[Any, ...]:
    """The names of mesh axes from what users give: None, a name, or several."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)
