"""The bound on compiled programs: over all functions, those used longest ago are dropped first.

Compiled code takes memory mappings of the process, of which Linux gives it 65,530; XLA ends a
process that asks for more. Whoever keeps a compiled program adds what keeps it here.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable

from bindax_core.kernel._config import config

_BYTES_OF_ONE = 1024


class Kept:
    """A keeper of a compiled program; a subclass says how to drop it.

    Attributes:
        used: ``recent_programs.time`` when the program was last used; users of the program set it.
        size: the size of the program in bytes, 0 where that is not known.
    """

    __slots__ = ("__weakref__", "size", "used")

    def __init__(self) -> None:
        self.used = recent_programs.time
        self.size = 0

    def drop(self) -> None:
        """Forget the program; it is made again when it is wanted again."""
        raise TypeError(f"{type(self).__name__} does not say how to drop a program.")


class Recent:
    """All that keeps compiled programs, held weakly.

    ``config.compiled_programs`` bounds their number, and 1,024 times as many bytes their size.
    Time advances with each program that is made, so that a use costs no more than an assignment.

    Attributes:
        time: how many programs were added.
        lock: held while programs are counted.
    """

    def __init__(self) -> None:
        self.time = 0
        self._all: weakref.WeakSet[Kept] = weakref.WeakSet()
        self._size = 0
        self.lock = threading.RLock()

    def add(self, kept: Kept) -> None:
        """Count a program, or one that has grown, and drop others when there are too many."""
        limit = config.compiled_programs
        with self.lock:
            self.time += 1
            kept.used = self.time
            self._all.add(kept)
            self._size += kept.size
            if len(self._all) <= limit and self._size <= limit * _BYTES_OF_ONE:
                return
            oldest = self._oldest(limit)
        for old in oldest:
            if old is not kept:
                old.drop()

    def clear(self) -> None:
        """Drop all programs."""
        with self.lock:
            dropped = list(self._all)
            self._all.clear()
            self._size = 0
        for kept in dropped:
            kept.drop()

    def __len__(self) -> int:
        return len(self._all)

    def _oldest(self, limit: int) -> Iterable[Kept]:
        """Take out those used longest ago, an eighth more than needed: sorting is paid rarely."""
        kept = sorted(self._all, key=lambda x: x.used)
        number, size = len(kept), sum(x.size for x in kept)
        if number > limit or size > limit * _BYTES_OF_ONE:
            limit -= limit // 8
        oldest = []
        for x in kept[:-1]:
            if number <= limit and size <= limit * _BYTES_OF_ONE:
                break
            oldest.append(x)
            number, size = number - 1, size - x.size
        self._all.difference_update(oldest)
        self._size = size
        return oldest


recent_programs = Recent()
"""The keepers of compiled programs in this process."""
