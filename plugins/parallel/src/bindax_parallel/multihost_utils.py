"""Values that processes exchange outside of programs, and arrays between one process and all.

Each function is to be called by all processes, in the same order and with values of the same
shapes. With one process they do what is left to do.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core import device_put, devices
from bindax_core.extend import (
    Array,
    api_boundary,
    flatten_prefix,
    tree_flatten,
    tree_map,
    tree_unflatten,
)
from bindax_core.sharding import Mesh, NamedSharding, PartitionSpec
from bindax_parallel.global_arrays import make_array_from_process_local_data
from bindax_parallel.processes import process_count, process_index
from bindax_parallel.reductions import psum
from bindax_parallel.shard_map.shard_map import shard_map
from bindax_transforms import jit

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "sync_global_devices",
]

_AXIS = "processes"


@api_boundary
def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes, as NumPy arrays in each of them.

    Args:
        in_tree: a tree of arrays, of the same shapes in all processes. Of one that is spread over
            processes the whole array is given.
        tiled: whether the arrays of the processes are put together along their first axis, and
            not stacked along a new one.

    Returns:
        The tree with arrays of shape (processes, ...).

    >>> import numpy as np
    >>> from bindax_parallel.multihost_utils import process_allgather
    >>> process_allgather(np.arange(2))
    array([[0, 1]])
    """

    def gather(x: Any) -> Any:
        if isinstance(x, Array) and not x.is_fully_addressable:
            mesh = Mesh(np.array(x.sharding.device_assignment, dtype=object), ("all",))
            return np.asarray(device_put(x, NamedSharding(mesh, PartitionSpec())))
        rows = _exchanged(np.asarray(x), _rows)
        return rows.reshape(-1, *rows.shape[2:]) if tiled and rows.ndim > 1 else rows

    return tree_map(gather, in_tree)


@api_boundary
def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of one process, as NumPy arrays in all of them.

    Args:
        in_tree: a tree of arrays, of the same shapes and dtypes in all processes.
        is_source: whether this process has the values; process 0 when omitted. It must be true in
            one process.

    Raises:
        ValueError: when it is true in no process, or in several.

    >>> import numpy as np
    >>> from bindax_parallel.multihost_utils import broadcast_one_to_all
    >>> broadcast_one_to_all({"seed": np.array(3)})
    {'seed': array(3)}
    """
    chosen = process_index() == 0 if is_source is None else bool(is_source)
    if is_source is not None:
        sources = np.flatnonzero(_exchanged(np.array(chosen), _rows))
        if len(sources) != 1:
            raise ValueError(
                f"broadcast_one_to_all: is_source must be true in one process, but it is in the "
                f"processes {sources.tolist()}."
            )

    def send(x: Any) -> Any:
        array = np.asarray(x)
        # Bits are exchanged, so that every value arrives as it was: -0.0 and NaN too.
        bits = np.frombuffer(array.tobytes(), np.uint8)
        sent = _exchanged(bits if chosen else np.zeros_like(bits), _sum)
        return np.frombuffer(sent.tobytes(), array.dtype).reshape(array.shape).copy()

    return tree_map(send, in_tree)


@api_boundary
def sync_global_devices(name: str) -> None:
    """Wait until all processes are here.

    Args:
        name: the name of the place in the program; the same in all processes.

    Raises:
        AssertionError: when processes are at different places.

    >>> from bindax_parallel.multihost_utils import sync_global_devices
    >>> sync_global_devices("after the download")
    """
    if not isinstance(name, str):
        raise TypeError(f"sync_global_devices: name must be a text, but it is {name!r:.60}.")
    _compare(zlib.crc32(name.encode()), f"sync_global_devices: here the name is {name!r}, but")


@api_boundary
def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise unless all processes have the same values.

    Args:
        in_tree: a tree of arrays.
        fail_message: what the error says first.

    Raises:
        AssertionError: when structures, shapes, dtypes or values differ from those of process 0.

    >>> import numpy as np
    >>> from bindax_parallel.multihost_utils import assert_equal
    >>> assert_equal({"step": np.array(3)}, "the steps differ")
    """
    leaves, tree = tree_flatten(in_tree)
    content = zlib.crc32(str(tree).encode())
    for leaf in leaves:
        array = np.asarray(leaf)
        content = zlib.crc32(f"{array.dtype} {array.shape}".encode(), content)
        content = zlib.crc32(np.ascontiguousarray(array).tobytes(), content)
    _compare(content, f"{fail_message or 'assert_equal'}:")


def _compare(content: int, message: str) -> None:
    found = _exchanged(np.array(content, np.uint32), _rows)
    others = np.flatnonzero(found != found[0])
    if len(others):
        raise AssertionError(
            f"{message} the values of the processes {others.tolist()} are not those of process 0."
        )


@api_boundary
def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays over all processes, of which each process has its own part.

    Args:
        local_inputs: a tree of arrays: what belongs on the devices of this process.
        global_mesh: the mesh.
        pspecs: a ``PartitionSpec`` for each array, or a prefix tree of them.

    Returns:
        The tree with arrays whose axes are as many times longer as the mesh has processes along
        them.

    >>> import bindax_parallel.multihost_utils as multihost_utils
    >>> from bindax_core.sharding import PartitionSpec as P, make_mesh
    >>> multihost_utils.host_local_array_to_global_array([1.0, 2.0], make_mesh((1,), ("x",)), P())
    [Array(1., dtype=float64), Array(2., dtype=float64)]
    """
    leaves, tree = tree_flatten(local_inputs)
    specs = flatten_prefix(pspecs, local_inputs, "pspecs", full_name="local_inputs")
    made = [
        x
        if isinstance(x, Array) and not x.is_fully_addressable
        else make_array_from_process_local_data(NamedSharding(global_mesh, spec), np.asarray(x))
        for x, spec in zip(leaves, specs, strict=True)
    ]
    return tree_unflatten(tree, made)


@api_boundary
def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of arrays over all processes that belong to this one: the inverse.

    Args:
        global_inputs: a tree of arrays.
        global_mesh: the mesh.
        pspecs: a ``PartitionSpec`` for each array, or a prefix tree of them; arrays that are
            divided otherwise are brought to it first.

    Returns:
        The tree with one array of this process for each.

    >>> import numpy as np
    >>> import bindax_parallel.multihost_utils as multihost_utils
    >>> from bindax_core.sharding import PartitionSpec as P, make_mesh
    >>> mesh = make_mesh((1,), ("x",))
    >>> multihost_utils.global_array_to_host_local_array(np.arange(2), mesh, P("x"))
    Array([0, 1], dtype=int64)
    """
    leaves, tree = tree_flatten(global_inputs)
    specs = flatten_prefix(pspecs, global_inputs, "pspecs", full_name="global_inputs")
    made = [
        _local_part(device_put(x, NamedSharding(global_mesh, spec)))
        for x, spec in zip(leaves, specs, strict=True)
    ]
    return tree_unflatten(tree, made)


def _local_part(x: Array) -> Array:
    """The parts of an array on the devices of this process, put together."""
    parts = x.addressable_shards
    bounds = np.array(
        [
            [s.indices(size)[:2] for s, size in zip(part.index, x.shape, strict=True)]
            for part in parts
        ]
    ).reshape(len(parts), x.ndim, 2)
    first, last = bounds[..., 0].min(0), bounds[..., 1].max(0)
    whole = np.empty(tuple(last - first), x.dtype)
    for part, bound in zip(parts, bounds - first[:, None], strict=True):
        whole[tuple(slice(*pair) for pair in bound)] = np.asarray(part.data)
    return Array.from_numpy(whole)


# ------------------------------------------------------------------------------ the exchange


def _rows(x: Any) -> Any:
    return x


def _sum(x: Any) -> Any:
    return psum(x, _AXIS)[0]


def _exchanged(x: np.ndarray[Any, Any], combine: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
    """Combine the arrays of all processes: their rows, or the sum of them."""
    if process_count() == 1:
        return x[None] if combine is _rows else x
    first: dict[int, Any] = {}
    for device in devices():
        first.setdefault(device.process_index, device)
    mesh = Mesh(np.array([first[i] for i in sorted(first)], dtype=object), (_AXIS,))
    rows = make_array_from_process_local_data(
        NamedSharding(mesh, PartitionSpec(_AXIS)), x[None], (process_count(), *x.shape)
    )
    if combine is _rows:
        return np.asarray(device_put(rows, NamedSharding(mesh, PartitionSpec())))
    program = shard_map(
        combine, mesh=mesh, in_specs=PartitionSpec(_AXIS), out_specs=PartitionSpec()
    )
    return np.asarray(jit(program)(rows))
