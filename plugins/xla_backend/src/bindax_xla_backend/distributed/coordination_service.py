"""Connections between the processes of one computation: who is there, and who is lost.

Process 0, the coordinator, listens at the address that all know; each other process holds one
connection to it. What is said are lines of JSON: ``hello``, ``refused``, ``ready``, ``beat``,
``gone``. A process whose connection breaks, or that is silent for too long, is lost, and all the
others are told.

The service of ``jaxlib``, by which processes find each other's devices, ends a process whose
connection to it breaks. So it is reached through this module: the coordinator passes connections on
to the service, and each process has a socket of its own to them, which stays open.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from bindax_xla_backend.distributed.program_consistency import ProgramConsistency

_PACKAGE = str(Path(__file__).parent.parent)
_LINE = 1 << 16
_Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class Refused(Exception):
    """A process cannot take part; the message is for its user."""


class CoordinationService:
    """The place of this process, number ``index`` of ``count``, among several."""

    def __init__(self, address: tuple[str, int], count: int, index: int, silence: float) -> None:
        self.address = address  # of the coordinator
        self.count = count
        self.index = index
        self.gone: dict[int, str] = {}  # what happened to those that have left or were lost
        self.lost: set[int] = set()  # those that have not left by themselves
        self.kept: Any = None  # what must not be freed before the thread ends
        self._silence = silence
        self._peers: dict[int, asyncio.StreamWriter] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._servers: list[asyncio.Server] = []
        self._listeners: list[asyncio.StreamWriter] = []  # to the client of jaxlib in this process
        self._programs = ProgramConsistency(self._tell)
        self._service = 0
        self._closing = False
        self._loop = asyncio.new_event_loop()
        self._ready = asyncio.Event()
        self._changed = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def listen(self, address: tuple[str, int], service: int) -> None:
        """Be the coordinator: listen, and pass connections on to a port where the service is."""
        self._service = service
        self._run(self._open(self._serve, address))

    def gather(self, timeout: float) -> None:
        """Be the coordinator: wait for the others, or raise ``Refused`` if they do not come."""
        self._run(self._gather(timeout))

    async def _gather(self, timeout: float) -> None:
        if self.count == 1:
            self._ready.set()
        try:
            await asyncio.wait_for(self._ready.wait(), timeout)
        except TimeoutError:
            missing = ", ".join(str(i) for i in range(1, self.count) if i not in self._peers)
            raise Refused(
                f"of {self.count} processes {missing} did not come to the coordinator "
                f"within {timeout:g} s. Start them all with the same address and number of "
                f"processes, or wait longer: initialization_timeout."
            ) from None
        self._start(self._beat())

    def join(self, timeout: float) -> int:
        """Be no coordinator: wait for all, and give a port of this machine to its service."""
        return int(self._run(self._join(timeout)))

    async def _join(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        place, problem = f"{self.address[0]}:{self.address[1]}", "no answer"
        while True:
            try:
                reader, writer = await asyncio.wait_for(
                    asyncio.open_connection(*self.address, limit=_LINE),
                    max(deadline - time.monotonic(), 0.01),
                )
                break
            except OSError as error:  # nobody is there yet
                problem = error.strerror or problem
            if time.monotonic() + 0.1 >= deadline:
                raise Refused(
                    f"the coordinator (process 0) did not answer at {place} within {timeout:g} s "
                    f"({problem}). Start process 0, check the address, or wait longer: "
                    f"initialization_timeout."
                )
            await asyncio.sleep(0.1)
        try:
            await self._be_admitted(reader, writer, deadline, timeout)
        except BaseException:
            writer.close()
            raise
        self._peers[0] = writer
        self._start(self._follow(0, reader))
        self._start(self._beat())
        return await self._open(self._pass_out, ("127.0.0.1", 0))

    async def _be_admitted(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        deadline: float,
        timeout: float,
    ) -> None:
        place = f"{self.address[0]}:{self.address[1]}"
        _say(writer, hello=self.index, count=self.count)
        try:
            answer = await asyncio.wait_for(_heard(reader), max(deadline - time.monotonic(), 0.01))
        except TimeoutError:
            raise Refused(
                f"the coordinator answers at {place}, but the {self.count} processes were not all "
                f"there within {timeout:g} s. Start them all, or wait longer: "
                f"initialization_timeout."
            ) from None
        if "ready" not in answer:
            raise Refused(answer.get("refused") or f"what answers at {place} is no coordinator.")

    async def _open(self, serve: _Serve, address: tuple[str, int]) -> int:
        """Serve the connections to an address; returns its port."""

        def start(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._start(serve(reader, writer))

        server = await asyncio.start_server(start, *address, limit=_LINE)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    # ------------------------------------------------------------------------- the coordinator

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            said = await asyncio.wait_for(_heard(reader), 10)
        except TimeoutError:
            said = {}
        if said.get("hello") == "service":
            await self._pass_in(reader, writer)
            return
        index = said.get("hello", 0)
        problem = self._problem(index, said.get("count"))
        if problem:
            _say(writer, refused=problem)
            writer.close()
            return
        self._peers[index] = writer
        if len(self._peers) == self.count - 1:
            for peer in self._peers.values():
                _say(peer, ready=True)
            self._ready.set()
        await self._follow(index, reader)
        writer.close()

    def _problem(self, index: Any, count: Any) -> str | None:
        if not isinstance(index, int):
            return "this is the coordinator of another program."
        if count != self.count:
            return (
                f"process {index} was started as one of {count} processes, but the coordinator as "
                f"one of {self.count}; give all the same num_processes."
            )
        if index in self._peers:
            return (
                f"process_id={index} is that of another process already; give each process its own."
            )
        return None

    async def _pass_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._service)
        await asyncio.gather(_pump(reader, outer), _pump(inner, writer))

    async def _pass_out(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._listeners.append(writer)
        inner, outer = await asyncio.open_connection(*self.address)
        _say(outer, hello="service")
        self._start(_pump(reader, outer))
        # When the coordinator is gone, the client of jaxlib must not see it.
        await _pump(inner, writer, close=False)

    # ------------------------------------------------------------------------------ all processes

    async def _beat(self) -> None:
        while True:
            for peer in self._peers.values():
                _say(peer, beat=self.index)
            await asyncio.sleep(self._silence / 4)

    async def _follow(self, index: int, reader: asyncio.StreamReader) -> None:
        while index not in self.gone:
            try:
                said = await asyncio.wait_for(_heard(reader), self._silence)
            except TimeoutError:
                self._note(index, f"has not answered for {self._silence:g} s", True)
                return
            if not said:
                if self._ready.is_set() or self.index:
                    self._note(index, "was killed or has ended without shutdown", True)
                elif index in self._peers:
                    del self._peers[index]  # it has given up; another may come in its place
                return
            if "program" in said:
                self._programs.arrived(index, *said["program"])
            if "verdict" in said:
                self._programs.decided(*said["verdict"])
            for other, (what, is_lost) in said.get("gone", {}).items():
                self._note(int(other), what, is_lost)

    def _note(self, index: int, what: str, is_lost: bool) -> None:
        is_over = self._closing and self.index != 0
        if is_over or index in self.gone or index == self.index:
            return
        self.gone[index] = what
        if is_lost and not self._closing:
            if not self.lost:
                self._start(self._end_waits())
            self.lost.add(index)
        self._changed.set()
        self._programs.left(index, self._fate(index))
        if self.index == 0:
            for peer in self._peers.values():
                _say(peer, gone={index: (what, is_lost)})

    async def _end_waits(self) -> None:
        """End the process when a thread goes on waiting for a lost one; it cannot be woken."""
        before: dict[int, Any] = {}
        while True:
            before = _waiting()
            await asyncio.sleep(self._silence)
            for thread, place in _waiting().items():
                if before.get(thread) == place:
                    self._end(traceback.format_stack(sys._current_frames()[thread]))

    def _end(self, stack: list[str]) -> None:
        sys.stderr.write("".join(stack))
        sys.stderr.write(
            f"bindax: {self.describe()}, but this process goes on waiting for it, so it is ended. "
            f"Start all processes again from the last checkpoint.\n"
        )
        sys.stderr.flush()
        os._exit(1)

    def describe(self) -> str:
        """The processes that are gone, with what happened to them; empty when all are there."""
        return ", ".join(map(self._fate, sorted(self.gone)))

    def _fate(self, index: int) -> str:
        return f"process {index} of {self.count} {self.gone[index]}"

    def wait_for_news(self, timeout: float) -> None:
        """Wait until a process is gone, for a while."""

        async def wait() -> None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout)

        if not self.gone:
            self._run(wait())

    def agree(self, members: list[int], digest: str, name: str) -> str:
        """Wait until processes are about to run a program; tell what is wrong, or nothing."""

        async def wait() -> str:
            for index in members:
                if index in self.gone:
                    return self._fate(index)
            key, verdict = self._programs.awaited(members)
            if self.index == 0:
                self._programs.arrived(0, key, members, digest, name)
            else:
                _say(self._peers[0], program=[key, members, digest, name])
            return await verdict

        return str(self._run(wait()))

    def _tell(self, index: int, key: str, verdict: str) -> None:
        if index == self.index:
            self._programs.decided(key, verdict)
        else:
            _say(self._peers[index], verdict=[key, verdict])

    def leave(self, timeout: float, failed: bool) -> None:
        """Tell the others that this process goes; the coordinator waits for them."""
        self._run(self._leave(timeout, failed))

    async def _leave(self, timeout: float, failed: bool) -> None:
        self._closing = True
        what = "has ended with an error" if failed else "has left with shutdown"
        for peer in self._peers.values():
            _say(peer, gone={self.index: (what, failed)})
        deadline = time.monotonic() + timeout
        wait = not failed and not self.lost and self.index == 0
        while wait and len(self.gone) < len(self._peers) and not self.lost:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), deadline - time.monotonic())
            except TimeoutError:
                break

    def hold(self) -> None:
        """Leave the connections of the service's client open until the process has ended.

        Python frees what daemon threads refer to while it ends, sockets among it. A second
        descriptor of each keeps its connection from being closed with it.
        """
        for listener in self._listeners:
            with contextlib.suppress(OSError):  # closed already
                os.dup(listener.get_extra_info("socket").fileno())

    def stop(self) -> None:
        """Close all connections and end the thread."""

        async def close() -> None:
            for server in self._servers:
                server.close()
            for peer in self._peers.values():
                peer.close()
            await asyncio.sleep(0)
            own = asyncio.current_task()
            others = [task for task in asyncio.all_tasks() if task is not own]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self._run(close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _say(writer: asyncio.StreamWriter, **message: Any) -> None:
    if not writer.is_closing():
        writer.write(json.dumps(message).encode() + b"\n")


async def _heard(reader: asyncio.StreamReader) -> dict[str, Any]:
    """The next message; nothing when there is none any more, or it is of another protocol."""
    try:
        message = json.loads(await reader.readline())
    except (OSError, ValueError):
        return {}
    return message if isinstance(message, dict) else {}


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, close: bool = True
) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    except asyncio.CancelledError:
        close = True
        raise
    finally:
        if close:
            writer.close()


def _waiting() -> dict[int, Any]:
    """The threads whose innermost call of Python is one of this package, and where they are."""
    own = threading.get_ident()
    return {
        thread: (id(frame), frame.f_lasti)
        for thread, frame in sys._current_frames().items()
        if thread != own and frame.f_code.co_filename.startswith(_PACKAGE)
    }
