"""Several processes that compute together: joining and leaving them."""

from __future__ import annotations

import atexit
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.extend import BackendError, config
from bindax_xla_backend.distributed.coordination_service import CoordinationService, Refused
from bindax_xla_backend.distributed.failures import joined

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend

_NEVER = 10_000_000
"""Seconds of silence after which jaxlib takes a process for dead; CoordinationService is faster."""

_ANSWER = 10
"""Seconds in which the service of jaxlib answers that a process leaves."""


class Connection:
    """The connections of this process while it computes with others.

    All processes have been found to run the programs in ``agreed``.
    """

    def __init__(self, control: CoordinationService, shutdown_timeout: int) -> None:
        self.control = control
        self.agreed: set[str] = set()
        self._shutdown_timeout = shutdown_timeout
        self._service: Any = None
        self._client: Any = None

    def open(self, bind: tuple[str, int], timeout: int) -> None:
        """Find the others, or raise ``Refused``, or ``OSError`` for an address in use."""
        from bindax_xla_backend._jaxlib import _jax

        control = self.control
        if control.index == 0:
            port = _free_port()
            control.listen(bind, port)
            self._service = _jax.get_distributed_runtime_service(
                f"127.0.0.1:{port}",
                control.count,
                heartbeat_timeout=_NEVER,
                shutdown_timeout=_ANSWER,
                recoverable=True,  # the others live on when one is lost
            )
            control.gather(timeout)
        else:
            port = control.join(timeout)
        self._client = _jax.get_distributed_runtime_client(
            f"127.0.0.1:{port}",
            control.index,
            init_timeout=timeout,
            shutdown_timeout=_ANSWER,
            heartbeat_timeout=_NEVER,
            shutdown_on_destruction=False,
            use_compression=True,
        )
        self._client.connect()

    def make_cpu_client(self, num_devices: int) -> Any:
        """A new PJRT client with the devices of all processes, which exchange data with Gloo."""
        from bindax_xla_backend._jaxlib import _jax, make_cpu_client

        return make_cpu_client(
            num_devices,
            distributed_client=self._client,
            node_id=self.control.index,
            num_nodes=self.control.count,
            collectives=_jax.make_gloo_tcp_collectives(distributed_client=self._client),
        )

    def close(self, failed: bool = False) -> None:
        """Leave the others."""
        control = self.control
        if control.index == 0:
            control.leave(self._shutdown_timeout, failed)
            control.stop()  # before the service: its last words end the processes that get them
            self._client.shutdown()
            self._service.shutdown()
            return
        is_answered = not control.lost and 0 not in control.gone
        if is_answered:
            self._client.shutdown()
        control.leave(self._shutdown_timeout, failed)
        if is_answered:
            control.stop()
        else:
            # XLA ends the process if it notices that nobody answers: the connections stay open as
            # long as it lives. The thread refers to the client, so that it is not freed before.
            control.kept = self
            control.hold()


def initialize(
    backend: XlaBackend,
    address: tuple[str, int],
    count: int,
    index: int,
    *,
    bind: tuple[str, int],
    local_device_ids: Sequence[int] | None,
    initialization_timeout: int,
    heartbeat_timeout: float,
    shutdown_timeout: int,
) -> None:
    """Join the other processes; the arguments are checked."""
    if joined.connection is not None:
        raise RuntimeError(
            "initialize: this process is one of several already; initialize is called once."
        )
    if backend._client is not None:
        raise RuntimeError(
            f"initialize: the backend {backend.name!r} has started already, with "
            f"{len(backend.devices())} device(s) of this process alone. Call initialize before "
            f"anything that uses a device: jit, device_put, devices()."
        )
    control = CoordinationService(address, count, index, heartbeat_timeout)
    connection = Connection(control, shutdown_timeout)
    try:
        connection.open(bind, initialization_timeout)
    except Refused as error:
        control.stop()
        raise BackendError(f"initialize: {error}") from None
    except OSError as error:
        control.stop()
        raise BackendError(
            f"initialize: process 0 cannot listen at {bind[0]}:{bind[1]}: "
            f"{error.strerror or error}. Choose an address of this machine with a free "
            f"port, the same for all processes."
        ) from error
    except BaseException:
        control.stop()
        raise
    joined.connection = connection
    if local_device_ids is not None:
        config.num_cpu_devices = len(local_device_ids)
    atexit.register(_leave_at_exit)


def shutdown() -> None:
    """Leave the other processes; process 0 waits for them."""
    connection, joined.connection = joined.connection, None
    if connection is not None:
        atexit.unregister(_leave_at_exit)
        connection.close()


def is_initialized() -> bool:
    """Tell whether this process is one of several."""
    return joined.connection is not None


def _leave_at_exit() -> None:
    connection = joined.connection
    if connection is not None:
        connection.close(failed=getattr(sys, "last_value", None) is not None)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
