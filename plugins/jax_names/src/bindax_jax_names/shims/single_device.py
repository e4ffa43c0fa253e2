"""Names of ``jax`` for devices and processes, where bindax has one of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import bindax
from bindax_jax_names.shims.sharding import NamedSharding as NamedSharding
from bindax_jax_names.shims.sharding import PartitionSpec as P
from bindax_jax_names.shims.sharding import make_mesh as make_mesh
from bindax_jax_names.shims.sharding import reshard as reshard
from bindax_jax_names.shims.sharding import set_mesh as set_mesh
from bindax_jax_names.shims.top import devices

__all__ = [
    "Device",
    "NamedSharding",
    "P",
    "default_device",
    "device_count",
    "local_device_count",
    "local_devices",
    "make_mesh",
    "process_count",
    "process_index",
    "process_indices",
    "reshard",
    "set_mesh",
    "shard_map",
]


class _DeviceType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance) in {type(device) for device in bindax.devices()}


class Device(metaclass=_DeviceType):
    """The type of devices, to ask for with ``isinstance``."""


def device_count(backend: str | None = None) -> int:
    """The number of devices."""
    return len(devices(backend))


local_device_count = device_count


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices of this process."""
    return devices(backend)


def process_count(backend: str | None = None) -> int:
    """The number of processes: one."""
    return 1


def process_index(backend: str | None = None) -> int:
    """The index of this process: 0."""
    return 0


def process_indices(backend: str | None = None) -> list[int]:
    """The indices of the processes."""
    return [0]


@contextmanager
def default_device(device: Any) -> Iterator[None]:
    """Do nothing inside the block: there is one device."""
    yield


@contextmanager
def transfer_guard(*levels: str) -> Iterator[None]:
    """Do nothing inside the block: transfers are not watched."""
    yield


transfer_guard_device_to_device = transfer_guard
transfer_guard_device_to_host = transfer_guard
transfer_guard_host_to_device = transfer_guard


def shard_map(
    f: Callable[..., Any] | None = None,
    *,
    mesh: Any = None,
    in_specs: Any = None,
    out_specs: Any = None,
    axis_names: Any = None,
    check_vma: bool = True,
    check_rep: bool = True,
) -> Any:
    """The function on the only block there is, with the axes of the mesh bound, each of size 1.

    Raises:
        ValueError: when the mesh has several devices.
    """
    if f is None:
        return partial(shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
    sizes = dict(mesh.shape)
    if any(size != 1 for size in sizes.values()):
        raise ValueError(f"shard_map: the mesh has the axes {sizes}, but there is one device.")
    inner = f
    for name in sizes:
        inner = partial(_with_axis, inner, name)
    return inner


def _with_axis(function: Callable[..., Any], name: str, *args: Any) -> Any:
    mapped = bindax.vmap(
        lambda xs, _: function(*xs), in_axes=(None, 0), axis_name=name, axis_size=1
    )
    return bindax.tree.map(lambda x: x[0], mapped(args, bindax.numpy.zeros(1)))


class Ref:
    """The type of mutable arrays, of which there are none."""


def new_ref(init_val: Any, **options: Any) -> Any:
    """Refuse: arrays of bindax do not change.

    Raises:
        TypeError: always.
    """
    raise TypeError(
        "jax.new_ref: bindax has no mutable arrays. Return the changed array instead, or carry it "
        "through jax.lax.scan."
    )
