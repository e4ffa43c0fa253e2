"""The compilation caches: one in memory, and one on disk where the user asks for it.

Both are keyed by the program itself, its text without source locations. The key on disk adds all
that decides whether a compiled program may be loaded: options, versions and the processor.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import stat
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bindax_core.errors import clause
from bindax_core.extend import config

_MAGIC = b"bindax-xla-executable-2\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
_REMEDY = "set config.compilation_cache_dir to a directory of yours"


def compilation_cache_dir() -> Path | None:
    """The directory that compiled programs are kept in, or None."""
    directory = config.compilation_cache_dir
    return None if directory is None else Path(directory).expanduser()


class MemoryCache:
    """The programs compiled last, by key; a program that several threads ask for is made once.

    Compiled code takes the process's memory mappings, about one for each 150 bytes of a program.
    Linux gives a process 65,530, and XLA ends the process that asks for more: so the number of
    programs is limited, and the size of all but the last, in bytes.
    """

    def __init__(self, limit: int = 256, size_limit: int = 1 << 19) -> None:
        self._limit, self._size_limit = limit, size_limit
        self._lock = threading.RLock()
        self._entries: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()
        self._size = 0
        self._in_work: dict[bytes, threading.RLock] = {}

    def get(self, key: bytes, size: int, make: Callable[[], Any]) -> Any:
        """The entry of a key, or what ``make()`` compiles; ``size`` is the program's, in bytes."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key][0]
            in_work = self._in_work.setdefault(key, threading.RLock())
        with in_work:
            with self._lock:
                if key in self._entries:
                    return self._entries[key][0]
            try:
                made = make()
                with self._lock:
                    self._entries[key] = made, size
                    self._size += size
                    self._forget_oldest()
            finally:
                with self._lock:
                    self._in_work.pop(key, None)
        return made

    def _forget_oldest(self) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > self._limit or self._size > self._size_limit
        ):
            _, (_, size) = self._entries.popitem(last=False)
            self._size -= size

    def clear(self) -> None:
        """Forget all entries; programs in use stay loaded."""
        with self._lock:
            self._entries.clear()
            self._size = 0

    def __len__(self) -> int:
        return len(self._entries)


def program_key(text: str, options: bytes, versions: str) -> bytes:
    """The key of a program: a digest of all that decides what compiling it gives."""
    digest = hashlib.sha256()
    for part in (
        text.encode(),
        options,
        versions.encode(),
        os.environ.get("XLA_FLAGS", "").encode(),
        _processor(),
    ):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


@functools.cache
def _processor() -> bytes:
    """The processor's model and features: compiled code may use any of them."""
    lines: set[str] = set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name = line.partition(":")[0].strip().lower()
                if name in ("flags", "features", "model name", "cpu part", "vendor_id"):
                    lines.add(line.strip())
    except OSError:  # not Linux; there, platform.processor starts another process to ask it
        lines.add(platform.processor())
    return "\n".join([platform.machine(), *sorted(lines)]).encode()


def read_entry(directory: Path, key: bytes) -> bytes | None:
    """Return the entry of a key, or None when there is none, or none that is whole."""
    if not _is_private(directory):
        return None
    try:
        content = _read_file(_path(directory, key))
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    payload = content[start:]
    return payload if content[:start] == _head(key, payload) else None


def write_entry(directory: Path, key: bytes, payload: bytes) -> None:
    """Store bytes under a key, all or nothing; warn where the directory cannot be written to."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(directory):
            return
        import tempfile  # which imports random numbers and hashes

        handle, temporary = tempfile.mkstemp(dir=directory, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_head(key, payload) + payload)
            os.replace(temporary, _path(directory, key))
        except BaseException:
            os.unlink(temporary)
            raise
        _remove_oldest(directory)
    except OSError as error:
        _warn_once(
            f"the compiled program could not be stored in {directory}: {clause(error)}. Programs "
            f"are compiled anew in each process; {_REMEDY}."
        )


def _path(directory: Path, key: bytes) -> Path:
    return directory / f"{key.hex()}.xla"


def _head(key: bytes, payload: bytes) -> bytes:
    """The beginning of an entry; it holds the key, so that no entry passes for another."""
    return _MAGIC + hashlib.sha256(key + payload).digest()


def _read_file(path: Path) -> bytes:
    """Read a plain file, without waiting for the writer of a pipe that is in its place."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is not a plain file")
        os.utime(path)  # the oldest are those that nobody has read for the longest time
        return file.read()


def _remove_oldest(directory: Path) -> None:
    """Remove the entries used longest ago while all are larger than the setting allows."""
    found = []
    for entry in os.scandir(directory):
        if entry.name.endswith((".xla", ".tmp")) and entry.is_file(follow_symlinks=False):
            try:
                status = entry.stat()
            except FileNotFoundError:
                continue  # another process removed it
            found.append((status.st_mtime_ns, status.st_size, entry.path))
    size = sum(entry[1] for entry in found)
    for _, own, path in sorted(found)[:-1]:
        if size <= config.compilation_cache_bytes:
            return
        Path(path).unlink(missing_ok=True)
        size -= own


def _is_private(directory: Path) -> bool:
    try:
        status = directory.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):
        return True
    writable_by_others = status.st_mode & (stat.S_IWOTH | stat.S_IWGRP)
    if status.st_uid == os.geteuid() and not writable_by_others:
        return True
    _warn_once(
        f"the compilation cache {directory} is not used, because other users own it or can write "
        f"to it, and loading a compiled program runs its machine code; {_REMEDY} that neither its "
        f"group nor others can write to (chmod go-w)."
    )
    return False


@functools.cache
def _warn_once(message: str) -> None:
    warnings.warn(message, stacklevel=3)
