"""The mesh at work: the one that names in a ``PartitionSpec`` alone refer to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from bindax_core._settings import Setting
from bindax_core.arrays._settings import config
from bindax_core.arrays.sharding._mesh import AbstractMesh, Mesh
from bindax_core.kernel._stack import trace_state

NO_MESH = AbstractMesh((), ())
"""The mesh without axes, which types of arrays have where there is none."""


def set_mesh(mesh: Mesh | None) -> AbstractContextManager[object]:
    """Make a mesh the one that names in a ``PartitionSpec`` alone refer to.

    It holds from the call on for the thread, or the asynchronous task, that calls; used as
    ``with set_mesh(mesh):``, until the block ends. ``config.mesh = mesh`` is for all threads.

    Args:
        mesh: the mesh, or None for no mesh.

    Raises:
        ValueError: inside of ``jit``, and for a mesh with manual axes.

    >>> from bindax_core.sharding import make_mesh
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     get_mesh().axis_names
    ('x',)
    """
    if mesh is not None and not isinstance(mesh, Mesh):
        raise TypeError(f"set_mesh: mesh must be a Mesh or None, but got {mesh!r:.80}.")
    if mesh is not None and mesh.manual_axes:
        raise ValueError(
            f"set_mesh: {mesh!r} contains manual axes, which are those inside of shard_map."
        )
    if trace_state.dynamic is not None:
        raise ValueError(
            "set_mesh can only be used outside of jit: what was traced before it may lie on "
            "another mesh. Set the mesh around the call of the compiled function; "
            "use_abstract_mesh says other types of its axes."
        )
    return _entered(mesh=mesh, abstract_mesh=None)


def _entered(**settings: Any) -> AbstractContextManager[object]:
    block = config.enter(**settings)
    context = ExitStack()
    context.callback(config.leave, block)
    return context


def _one_of(text: str, *types: type) -> Callable[[Any], Any]:
    """A check that values of a setting have one of some types."""

    def checked(value: Any) -> Any:
        if type(value) in types:
            return value
        raise TypeError(text)

    return checked


current_mesh = Setting(
    "mesh",
    None,
    "the mesh that names in a ``PartitionSpec`` alone refer to, set by ``set_mesh``",
    check=_one_of("a Mesh or None", Mesh, type(None)),
    traced=True,
    variables=(),
)
current_abstract_mesh = Setting(
    "abstract_mesh",
    None,
    "the mesh at work where it is not that of ``mesh``, set by ``use_abstract_mesh``",
    check=_one_of("an AbstractMesh or None", AbstractMesh, type(None)),
    traced=True,
    variables=(),
)
remove_size_one_mesh_axis_from_type: Setting = Setting(
    "remove_size_one_mesh_axis_from_type",
    False,
    "types of arrays say nothing of the explicit axes of a mesh that have one device",
    traced=True,
)
open_sums = Setting(
    "open_sums",
    frozenset(),
    """the explicit axes of the mesh along which sums are left open, which are ``unreduced`` in an
    ``out_sharding``""",
    check=_one_of("a frozenset of names of axes", frozenset),
    traced=True,
    variables=(),
)


use_mesh = set_mesh


def get_mesh() -> Mesh | None:
    """Return the mesh that ``set_mesh`` made the present one, with its devices, or None.

    >>> from bindax_core.sharding import make_mesh
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     print(get_mesh())
    Mesh('x': 1, axis_types=(Auto,))
    >>> print(get_mesh())
    None
    """
    return config.mesh  # type: ignore[no-any-return]


def get_abstract_mesh() -> AbstractMesh:
    """The mesh at work, without its devices; one without axes when there is none.

    >>> get_abstract_mesh().empty
    True
    """
    found: AbstractMesh | None = config.abstract_mesh
    if found is not None:
        return found
    mesh: Mesh | None = config.mesh
    return NO_MESH if mesh is None else mesh.abstract_mesh


def use_abstract_mesh(mesh: AbstractMesh) -> AbstractContextManager[object]:
    """Make an abstract mesh the one at work, inside of a ``with`` block.

    Where ``set_mesh`` has set devices, it stands for them in another grid, or says other types of
    their axes.

    Args:
        mesh: the mesh; one without axes for none.

    Raises:
        ValueError: when it has another number of devices than the mesh at work.

    >>> with use_abstract_mesh(AbstractMesh((4,), ("x",))):
    ...     get_abstract_mesh().shape_tuple
    (('x', 4),)
    """
    if type(mesh) is not AbstractMesh:
        raise TypeError(f"use_abstract_mesh: mesh must be an AbstractMesh, but got {mesh!r:.80}.")
    present = get_mesh()
    if present is not None and not mesh.empty and mesh.size != present.size:
        raise ValueError(
            f"use_abstract_mesh cannot change the size of the mesh at work: {mesh!r} is of "
            f"{mesh.size} devices, and {present!r} of {present.size}."
        )
    return _entered(abstract_mesh=mesh)


def mesh_at_work() -> AbstractMesh | None:
    """The mesh at work with its devices where they are known, or None."""
    abstract: AbstractMesh | None = config.abstract_mesh
    mesh: Mesh | None = config.mesh
    if abstract is None:
        return mesh
    if abstract.empty:
        return None
    return abstract if mesh is None else with_devices(abstract, mesh)


def with_devices(abstract: AbstractMesh, mesh: Mesh) -> Mesh:
    """The devices of a mesh in the grid of an abstract one of the same size."""
    if mesh.abstract_mesh == abstract:
        return mesh
    devices = mesh.devices.reshape(abstract.axis_sizes)
    return Mesh(devices, abstract.axis_names, abstract.axis_types)
