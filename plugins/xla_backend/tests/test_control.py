"""Who takes part in a computation of several processes: those who come, go, and are refused."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import pytest

from bindax_xla_backend._control import Control, Refused


def free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()


@contextmanager
def controls(*members, count=2, silence=5.0):
    """The controls of some processes, the first of which listens if it is number 0."""
    address = free_address()
    made = [Control(address, count, index, silence) for index in members]
    try:
        if members[0] == 0:
            made[0].listen(address, 1)
        yield made
    finally:
        for control in made:
            control.stop()


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def joined(control):
    thread = threading.Thread(target=control.join, args=(5,))
    thread.start()
    return thread


def test_who_leaves_and_who_breaks_off_is_known_to_all():
    with controls(0, 1, 2, count=3) as (first, second, third):
        threads = [joined(second), joined(third)]
        first.gather(5)
        for thread in threads:
            thread.join()
        second.leave(1, failed=False)
        within(5, lambda: 1 in first.gone and 1 in third.gone)
        assert not first.lost
        third.leave(1, failed=True)
        within(5, lambda: 2 in first.lost)
        assert first.describe() == (
            "process 1 of 3 has left with shutdown, process 2 of 3 has ended with an error"
        )
        assert third.describe() == "process 1 of 3 has left with shutdown"


def test_a_process_that_is_silent_or_gone_is_lost():
    with controls(0, count=3, silence=0.4) as (first,):
        peers = [socket.create_connection(first.address) for _ in range(2)]
        for index, peer in enumerate(peers, 1):
            peer.sendall(json.dumps({"hello": index, "count": 3}).encode() + b"\n")
        first.gather(5)
        peers[0].close()
        within(5, lambda: len(first.lost) == 2)
        assert first.describe() == (
            "process 1 of 3 was killed or has ended without shutdown, "
            "process 2 of 3 has not answered for 0.4 s"
        )
        peers[1].close()


def test_processes_that_do_not_fit_are_refused():
    def left_alone():
        with pytest.raises(Refused, match="coordinator"):
            one.join(1.5)

    with controls(0, 1, 1, count=3) as (first, one, same):
        thread = threading.Thread(target=left_alone)
        thread.start()
        within(5, lambda: 1 in first._peers)
        with pytest.raises(Refused, match="process_id=1 is that of another process already"):
            same.join(3)
        other = Control(first.address, 2, 1, 5.0)
        with pytest.raises(Refused, match="started as one of 2 processes, but the coordinator as"):
            other.join(3)
        other.stop()
        with pytest.raises(Refused, match=r"of 3 processes 2 did not come .* within 0\.2 s"):
            first.gather(0.2)
        thread.join()


def test_a_coordinator_that_does_not_come_is_an_error_in_time():
    with controls(1) as (lonely,):
        start = time.monotonic()
        with pytest.raises(Refused, match=r"did not answer at .* within 0\.5 s"):
            lonely.join(0.5)
        assert time.monotonic() - start < 3
    message = r"answers at .*, but the 3 processes were not all there"
    with controls(0, 1, count=3) as (_, second), pytest.raises(Refused, match=message):
        second.join(0.5)


def test_another_program_at_the_address_is_no_coordinator():
    with controls(1) as (control,), socket.create_server(control.address) as server:

        def answer():
            connection, _ = server.accept()
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Refused, match="is no coordinator"):
            control.join(3)
        thread.join()
