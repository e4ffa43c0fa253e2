"""Arrays and programs on several devices, in the terms of ``jaxlib``.

From a ``Sharding`` there are two ways into XLA, and one back:

- ``hlo_sharding`` describes the parts of a buffer (what ``RawSharding`` takes);
- ``sdy_sharding`` is the attribute by which a program names them (``_meshes`` declares the mesh);
- ``named_sharding`` reads what XLA decided for an operand or a result of a compiled program.

All count devices by their position in ``Sharding.device_assignment``, which is the device
assignment of the program too.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec, Sharding
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._jaxlib import Device, RawSharding
from bindax_xla_backend._types import storage_dtype


def hlo_sharding(sharding: Sharding, ndim: int) -> Any:
    """The parts of an array of ``ndim`` axes, as XLA describes them; opaque."""
    kind = _jaxlib._hlo.HloSharding
    counts = sharding.partitions(ndim)
    if not isinstance(sharding, NamedSharding) or all(count == 1 for count in counts):
        return kind.replicate()
    mesh = sharding.mesh
    dividing = [mesh.axis_names.index(name) for axes in sharding.spec.axes for name in axes]
    copying = [i for i in range(len(mesh.axis_names)) if i not in dividing]
    copies = math.prod([mesh.axis_sizes[i] for i in copying])
    return kind.iota_tile(
        (*counts, copies) if copies > 1 else counts,
        mesh.axis_sizes,
        (*dividing, *copying),
        (_jaxlib._hlo.OpSharding_Type.REPLICATED,) if copies > 1 else (),
    )


def named_sharding(proto: Any, mesh: Mesh, ndim: int) -> NamedSharding:
    """The sharding that XLA chose, with the axes of a mesh.

    Where XLA divides by a part of an axis, the mesh of the result has other axes.
    """
    parts = _jaxlib._hlo.HloSharding.from_proto(proto)
    if parts.is_replicated():
        return NamedSharding(mesh, PartitionSpec())
    sizes = tuple(parts.tile_assignment_dimensions())
    order = np.array(parts.tile_assignment_devices(), np.int64).reshape(sizes)
    place = np.empty((order.size, order.ndim), np.int64)
    place[order.ravel()] = np.indices(sizes).reshape(order.ndim, -1).T
    entries = []
    for i in range(ndim):
        grid = place[:, i].reshape(mesh.axis_sizes)
        origin = (0,) * grid.ndim
        steps = {
            name: int(grid[(*origin[:k], 1, *origin[k + 1 :])])
            for k, (name, size) in enumerate(mesh.shape_tuple)
            if size > 1
        }
        entries.append(tuple(sorted((n for n in steps if steps[n]), key=lambda n: -steps[n])))
    while entries and not entries[-1]:
        entries.pop()
    names = [name for entry in entries for name in entry]
    if len(set(names)) == len(names):
        found = NamedSharding(mesh, PartitionSpec(*entries))
        fits = found.partitions(ndim) == sizes[:ndim]
        if fits and (found._coordinates(ndim) == place[:, :ndim]).all():
            return found
    devices = np.array(mesh.device_assignment, dtype=object)[order]
    axes = tuple(f"axis_{i}" for i in range(order.ndim))
    return NamedSharding(Mesh(devices, axes), PartitionSpec(*axes[:ndim]))


def compile_options(
    devices: Sequence[Device], free_operands: Sequence[bool], results: int, has_mesh: bool
) -> Any:
    """Options for a program on several devices.

    XLA chooses the shardings of the results and of the operands that are free. Its partitioner
    Shardy reads the mesh that a program names.
    """
    options = _jaxlib.compile_options(len(devices))
    build = options.executable_build_options
    build.use_spmd_partitioning = len(devices) > 1
    build.use_shardy_partitioner = has_mesh or len(devices) > 1
    if len(devices) > 1:
        build.allow_spmd_sharding_propagation_to_parameters = list(free_operands)
        build.allow_spmd_sharding_propagation_to_output = [True] * max(results, 1)
    ids = np.array([[device.id for device in devices]])
    options.device_assignment = _jaxlib.xla_client.DeviceAssignment.create(ids)
    return options


def chosen(protos: Sequence[Any] | None, mesh: Mesh, arrays: Sequence[Any]) -> list[Any]:
    """The shardings that XLA chose for parameters or results; None where it copies all of them."""
    if protos is None:
        return [NamedSharding(mesh, PartitionSpec())] * len(arrays)
    return [named_sharding(proto, mesh, x.ndim) for proto, x in zip(protos, arrays, strict=True)]


def put_parts(parts: Sequence[Any], aval: ShapedArray, raw: RawSharding) -> Any:
    """One buffer of parts, each a NumPy array or a buffer, in the order of this process's devices.

    The parts must be of the shape that the sharding says: XLA does not look. Nobody may write to
    NumPy arrays among them later; one of them can be given for several devices.
    """
    return _jaxlib._jax.batched_device_put(
        _jaxlib._BufferAval(aval.shape, storage_dtype(aval.dtype)),
        raw,
        list(parts),
        list(raw._addressable_device_assignment),
        True,
        # The others end in "bad_function_call" where devices share the memory of a part.
        host_buffer_semantics=_jaxlib.xla_client.HostBufferSemantics.ZERO_COPY,
        enable_x64=True,
    )


def copied(buffer: Any, raw: RawSharding) -> Any:
    """A copy of a buffer, each part on the device that stands where its own did."""
    jax = _jaxlib._jax
    copies = jax.batched_copy_array_to_devices_with_sharding(
        [buffer], [raw._internal_device_list], [raw], [jax.ArrayCopySemantics.ALWAYS_COPY]
    )
    return copies[0]


def inspector(callback: Callable[[Any], None], mesh: Mesh, ndim: int) -> tuple[bytes, Any]:
    """The key by which XLA's partitioner calls a function with the sharding of a value.

    With it comes what must live until the program is compiled.
    """

    def called(parts: Any) -> None:
        callback(named_sharding(parts.to_proto(), mesh, ndim))

    return bytes(_jaxlib.xla_client.encode_inspect_sharding_callback(called)), called


def single_buffers(buffer: Any) -> list[Any]:
    """The buffers of the devices of this process, each on its device alone."""
    with _jaxlib._jax_import_blocked():
        return list(buffer._arrays)


# ------------------------------------------------------ parts that are buffers of their own

# XLA asks the first part of a buffer whether it was deleted, and a program that runs on another one
# crashes. So it is remembered which buffers have parts that somebody else has, too.
_known: dict[int, tuple[weakref.ref[Any], list[Any]]] = {}
"""By the ``id`` of a buffer, which lives as long as the entry, its parts."""


def note_parts(buffer: Any, parts: Sequence[Any]) -> None:
    """Remember that parts of a buffer are buffers that somebody has."""
    key = id(buffer)
    _known[key] = (weakref.ref(buffer, lambda _: _known.pop(key, None)), list(parts))


def is_deleted(buffer: Any) -> bool:
    """Tell whether a buffer, or a part of it, was deleted or donated."""
    if buffer.is_deleted():
        return True
    _, parts = _known.get(id(buffer), (None, ()))
    return any(part.is_deleted() for part in parts)


def on_living_buffers(run: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """An execution on several devices that fails, rather than crashes, for a deleted buffer."""

    def checked(buffers: Sequence[Any]) -> Any:
        for buffer in buffers:
            if buffer.is_deleted() or (id(buffer) in _known and is_deleted(buffer)):
                raise _jaxlib.RuntimeFailure("INVALID_ARGUMENT: a buffer was deleted or donated.")
        return run(buffers)

    return checked
