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
import tempfile
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENVIRONMENT_VARIABLE = "BINDAX_COMPILATION_CACHE_DIR"

_MAGIC = b"bindax-xla-executable-1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
_unset = object()
_directory: Any = _unset


def set_compilation_cache_dir(directory: str | os.PathLike[str] | None) -> None:
    """Keep compiled programs in a directory, for later processes; None turns that off.

    The environment variable ``BINDAX_COMPILATION_CACHE_DIR`` does the same. Loading a compiled
    program runs machine code from the file, so the directory must belong to you, and nobody else
    may be able to write to it; otherwise it is not used. Nothing is ever removed from it: delete
    files in it whenever you like, also while programs run.

    Args:
        directory: made when it does not exist.
    """
    global _directory
    _directory = None if directory is None else Path(directory)


def compilation_cache_dir() -> Path | None:
    """The directory that compiled programs are kept in, or None."""
    if _directory is not _unset:
        return _directory  # type: ignore[no-any-return]
    text = os.environ.get(ENVIRONMENT_VARIABLE)
    return Path(text).expanduser() if text else None


class MemoryCache:
    """The programs compiled last, by key; a program that several threads ask for is made once.

    Compiled code takes the process's memory mappings, about one for each 150 bytes of a program.
    Linux gives a process 65,530, and XLA ends the process that asks for more.

    Args:
        limit: the number of programs that are kept.
        size_limit: the size of all programs that are kept, in bytes; the last one is kept always.
    """

    def __init__(self, limit: int = 1024, size_limit: int = 1 << 20) -> None:
        self._limit, self._size_limit = limit, size_limit
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()
        self._size = 0
        self._in_work: dict[bytes, threading.Lock] = {}

    def get(self, key: bytes, size: int, make: Callable[[], Any]) -> Any:
        """The entry of a key, made by ``make()`` when there is none.

        Args:
            key: the program's.
            size: the program's, in bytes.
            make: compiles it.
        """
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key][0]
            in_work = self._in_work.setdefault(key, threading.Lock())
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
    except OSError:
        pass  # not Linux
    return "\n".join([platform.machine(), platform.processor(), *sorted(lines)]).encode()


def read_entry(directory: Path, key: bytes) -> bytes | None:
    """Return the entry of a key, or None when there is none, or none that is whole."""
    if not _is_private(directory):
        return None
    try:
        content = _path(directory, key).read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    payload = content[start:]
    expected = _MAGIC + hashlib.sha256(payload).digest()
    return payload if content[:start] == expected else None


def write_entry(directory: Path, key: bytes, payload: bytes) -> None:
    """Store bytes under a key; readers see all of them or nothing.

    A directory that cannot be written to is a warning, not an error.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(directory):
            return
        handle, temporary = tempfile.mkstemp(dir=directory, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, _path(directory, key))
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        _warn_once(
            f"the compiled program could not be stored in {directory}: {error}. Programs are "
            f"compiled anew in each process; set {ENVIRONMENT_VARIABLE} to a directory of yours."
        )


def _path(directory: Path, key: bytes) -> Path:
    return directory / f"{key.hex()}.xla"


def _is_private(directory: Path) -> bool:
    try:
        status = directory.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):
        return True
    writable_by_others = status.st_mode & stat.S_IWOTH
    if status.st_uid == os.geteuid() and not writable_by_others:
        return True
    _warn_once(
        f"the compilation cache {directory} is not used, because other users own it or can write "
        f"to it, and loading a compiled program runs its machine code. Set {ENVIRONMENT_VARIABLE} "
        f"to a directory of yours that others cannot write to."
    )
    return False


@functools.cache
def _warn_once(message: str) -> None:
    warnings.warn(message, stacklevel=3)
