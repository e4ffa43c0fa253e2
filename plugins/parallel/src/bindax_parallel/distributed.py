"""Several processes that compute together, each with devices of its own.

Every process calls ``initialize`` first, and then runs the same program. ``bindax.devices()`` are
the devices of all.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from bindax_core.extend import BackendError, api_boundary, find_backend
from bindax_parallel.clusters.detection import Place, completed

__all__ = ["initialize", "is_initialized", "shutdown"]


@api_boundary
def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    *,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None,
) -> None:
    """Join the other processes of a computation; to be called before the first use of a device.

    What is not given is asked of what started the process: Open MPI, Slurm, a job of Kubernetes.

    Args:
        coordinator_address: ``"host:port"`` where process 0 listens; the same in all processes.
        num_processes: the number of processes.
        process_id: the number of this process, from 0 on; each has its own.
        local_device_ids: the numbers of the devices that this process uses. Devices of the CPU are
            virtual, so only their count matters; by default it is ``config.num_cpu_devices``.
        cluster_detection_method: ``"ompi"``, ``"slurm"``, ``"k8s"`` or ``"mpi4py"`` to ask that
            one, ``"deactivate"`` for none; by default the first that is found, without ``mpi4py``.
        initialization_timeout: the time to wait for all the others, in seconds.
        heartbeat_timeout_seconds: the time after which a process that does not answer is lost.
        shutdown_timeout_seconds: the longest time that process 0 waits for the others at the end.
        coordinator_bind_address: the address at which process 0 listens, where it is not reached
            under its own, as in a container. Use it in networks that you trust alone: whoever
            reaches the port can disturb the computation.

    Raises:
        ValueError: when an argument is out of range, or neither given nor said by a cluster.
        RuntimeError: when it was called before, or a device was used already.
        BackendError: when the others are not there in time, the address is in use, or there is no
            compiler.

    >>> import bindax_parallel.distributed as distributed
    >>> distributed.initialize("localhost:1234", num_processes=2, process_id=2)
    Traceback (most recent call last):
    ValueError: initialize: process_id=2 is not one of 0 to 1, the numbers of num_processes=2.
    """
    given = Place(coordinator_address, num_processes, process_id)
    address, count, index = _checked(completed(given, cluster_detection_method))
    bind = address
    if coordinator_bind_address is not None:
        bind = _address("coordinator_bind_address", coordinator_bind_address)
    _runtime("initialize").initialize(
        find_backend(),
        address,
        count,
        index,
        bind=bind,
        local_device_ids=_device_ids(local_device_ids),
        initialization_timeout=_whole("initialization_timeout", initialization_timeout, 1),
        heartbeat_timeout=_whole("heartbeat_timeout_seconds", heartbeat_timeout_seconds, 1),
        shutdown_timeout=_whole("shutdown_timeout_seconds", shutdown_timeout_seconds, 1),
    )


@api_boundary
def shutdown() -> None:
    """Leave the other processes; process 0 waits until all have left.

    It happens by itself when the process ends. Arrays on devices of this process stay usable.

    >>> shutdown()  # nothing where the process was not initialized
    """
    if is_initialized():
        _runtime("shutdown").shutdown()


@api_boundary
def is_initialized() -> bool:
    """True from ``initialize`` to ``shutdown``.

    >>> import bindax_parallel.distributed as distributed
    >>> distributed.is_initialized()
    False
    """
    runtime = getattr(find_backend(), "distributed", None)
    return runtime is not None and bool(runtime.is_initialized())


def _runtime(caller: str) -> Any:
    backend = find_backend()
    found = getattr(backend, "distributed", None)
    if found is None:
        raise BackendError(
            f"{caller}: processes are joined by XLA for the CPU, but the backend in use is "
            f"{backend.name!r}. Install bindax-xla-backend, or choose it: config.platforms = 'cpu'."
        )
    return found


def _checked(place: Place) -> tuple[tuple[str, int], int, int]:
    """Return where process 0 listens, the number of processes, and the number of this one."""
    address = _address("coordinator_address", place.coordinator_address)
    count = _whole("num_processes", place.num_processes, 1)
    index = _whole("process_id", place.process_id, 0)
    if index >= count:
        raise ValueError(
            f"initialize: process_id={index} is not one of 0 to {count - 1}, the numbers of "
            f"num_processes={count}."
        )
    return address, count, index


def _address(name: str, given: Any) -> tuple[str, int]:
    host, _, port = given.rpartition(":") if isinstance(given, str) else ("", "", "")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(
            f"initialize: {name} must be 'host:port', where process 0 listens, but it is {given!r}."
        )
    return host.strip("[]"), int(port)


def _whole(name: str, given: Any, least: int) -> int:
    try:
        number = operator.index(given)
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(
            f"initialize: {name} must be a whole number from {least} on, but it is {given!r}."
        )
    return number


def _device_ids(given: Any) -> list[int] | None:
    if given is None:
        return None
    try:
        ids = [operator.index(i) for i in (given if isinstance(given, Sequence) else [given])]
    except TypeError:
        ids = []
    if not ids or min(ids) < 0 or len(set(ids)) < len(ids):
        raise ValueError(
            f"initialize: local_device_ids must be different numbers of devices, but it is "
            f"{given!r}."
        )
    return ids
