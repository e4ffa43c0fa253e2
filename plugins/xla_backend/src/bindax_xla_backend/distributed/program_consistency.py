"""Agreement of processes on the programs that they run together, each before its first run.

Processes that run different programs would wait for each other without end, or read each other's
data as something else. The coordinator compares what they are about to run, in their order.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from bindax_xla_backend.distributed.failures import FAILED


class ProgramConsistency:
    """Programs that processes are about to run; ``tell`` sends a process a key and a verdict."""

    def __init__(self, tell: Callable[[int, str, str], None]) -> None:
        self._tell = tell
        self._turns: Counter[tuple[int, ...]] = Counter()
        self._waiting: dict[str, tuple[Sequence[int], asyncio.Future[str]]] = {}
        self._rounds: dict[str, dict[int, tuple[str, str]]] = {}

    def awaited(self, members: Sequence[int]) -> tuple[str, asyncio.Future[str]]:
        """The key of the next program of some processes, and the verdict on it to come."""
        group = tuple(members)
        self._turns[group] += 1
        key = f"{','.join(map(str, group))}:{self._turns[group]}"
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[key] = (group, future)
        return key, future

    def decided(self, key: str, verdict: str) -> None:
        """Hear a verdict."""
        _, future = self._waiting.pop(key, (None, None))
        if future is not None and not future.done():
            future.set_result(verdict)

    def left(self, index: int, what: str) -> None:
        """Hear that a process is gone: whoever waits for it need not."""
        for key, (members, _) in list(self._waiting.items()):
            if index in members:
                self.decided(key, what)

    def arrived(self, index: int, key: str, members: list[int], digest: str, name: str) -> None:
        """Compare, in the coordinator, what a process is about to run with what others are."""
        own = self._rounds.setdefault(key, {})
        own[index] = (digest, name)
        first = min(own)
        others = [i for i in own if own[i][0] != own[first][0]]
        failed = [i for i in own if own[i][0].startswith(FAILED)]
        if failed and len(own) == len(members):
            del self._rounds[key]
            for i in members:
                self._tell(i, key, f"in process {failed[0]} {own[failed[0]][1]}")
        elif others and not failed:
            for i in own:
                self._tell(i, key, _difference(first, own[first][1], others[0], own[others[0]][1]))
        elif len(own) == len(members):
            del self._rounds[key]
            for i in members:
                self._tell(i, key, "")


def _difference(first: int, name: str, other: int, other_name: str) -> str:
    return (
        f"processes are about to run different programs: process {first} {name}, process {other} "
        f"{other_name}. All must call the same functions, with arguments of the same types, in the "
        f"same order"
    )
