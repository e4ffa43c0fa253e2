"""Connections between processes, here between two controls of one process."""

from __future__ import annotations

import socket
import threading

import pytest

from bindax_xla_backend.distributed.coordination_service import CoordinationService


@pytest.mark.parametrize("held", [True, False])
def test_a_connection_that_is_held_outlives_what_python_frees(held: bool) -> None:
    """XLA ends the process when it sees that the connection of its client is closed."""
    with socket.create_server(("127.0.0.1", 0)) as service, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
        free.close()
        first, second = (CoordinationService(address, 2, index, 20.0) for index in (0, 1))
        first.listen(address, service.getsockname()[1])
        gathered = threading.Thread(target=first.gather, args=(20.0,))
        gathered.start()
        with socket.create_connection(("127.0.0.1", second.join(20.0))) as client:
            gathered.join()
            passed_on, _ = service.accept()
            client.sendall(b"asked")
            assert passed_on.recv(5) == b"asked"
            passed_on.sendall(b"answered")
            assert client.recv(8) == b"answered"
            if held:
                second.hold()
            second.stop()
            first.stop()
            passed_on.close()
            client.settimeout(0.2)
            if held:
                with pytest.raises(TimeoutError):
                    client.recv(1)
            else:
                assert client.recv(1) == b""
