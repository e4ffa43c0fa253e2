"""XLA's profiler: sessions that record what runs, marks in them, and the memory in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bindax_xla_backend import _jaxlib

_profiler, _reader = _jaxlib.load_profiler()

ProfileData: Any = _reader
"""The class that reads the files of traces."""

Mark: type = _profiler.TraceMe
"""A context manager: what happens inside is one event of a trace."""


def start(options: Mapping[str, Any]) -> Any:
    """Start to record; gives the session, with ``stop_and_export(directory)``."""
    chosen = _profiler.ProfileOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    return _profiler.ProfilerSession(chosen)


def start_server(port: int) -> Any:
    """Let other processes ask for traces; ends when the object is freed."""
    return _profiler.start_server(port)


def heap_profile(client: Any) -> bytes:
    """The buffers and programs of a client, in the format of pprof."""
    return bytes(client.heap_profile())
