"""The cache of executables: over all functions, those used longest ago are dropped first.

Compiled code takes memory mappings of the process, of which Linux gives it 65,530; XLA ends a
process that asks for more. Whoever keeps an executable adds the entry that holds it here.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable

from bindax_core.kernel._config import config

_BYTES_OF_ONE = 1024


class CacheEntry:
    """A cache entry holding an executable; a subclass says how to drop it.

    Attributes:
        used: ``executable_cache.time`` at the last use, set by whoever uses the executable.
        size: the size of the executable in bytes, 0 where that is not known.
    """

    __slots__ = ("__weakref__", "size", "used")

    def __init__(self) -> None:
        self.used = executable_cache.time
        self.size = 0

    def drop(self) -> None:
        """Forget the executable; it is made again when it is wanted again."""
        raise TypeError(f"{type(self).__name__} does not say how to drop its executable.")


class ExecutableCache:
    """The entries of all functions, held weakly.

    ``config.compiled_programs`` bounds their number, and 1,024 times as many bytes their size.
    Time advances with each program that is made, so that a use costs no more than an assignment.

    Attributes:
        time: how many entries were added.
        lock: held while entries are counted.
    """

    def __init__(self) -> None:
        self.time = 0
        self._all: weakref.WeakSet[CacheEntry] = weakref.WeakSet()
        self._size = 0
        self.lock = threading.RLock()

    def add(self, entry: CacheEntry) -> None:
        """Count an entry, or one that has grown, and drop others when there are too many."""
        limit = config.compiled_programs
        with self.lock:
            self.time += 1
            entry.used = self.time
            self._all.add(entry)
            self._size += entry.size
            if len(self._all) <= limit and self._size <= limit * _BYTES_OF_ONE:
                return
            oldest = self._oldest(limit)
        for old in oldest:
            if old is not entry:
                old.drop()

    def clear(self) -> None:
        """Drop all entries."""
        with self.lock:
            dropped = list(self._all)
            self._all.clear()
            self._size = 0
        for entry in dropped:
            entry.drop()

    def __len__(self) -> int:
        return len(self._all)

    def _oldest(self, limit: int) -> Iterable[CacheEntry]:
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


executable_cache = ExecutableCache()
"""The cache of this process."""
