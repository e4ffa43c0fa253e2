"""Traces of what runs when, marks in them, and snapshots of the memory in use.

The profiler is the compiler's: marks are free where there is none, and the rest is an error.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import attrs

from bindax_core.extend import BackendError, api_boundary, config, find_backend

F = TypeVar("F", bound=Callable[..., Any])


@attrs.define(kw_only=True)
class ProfileOptions:
    """The extent of what a trace records.

    Attributes:
        host_tracer_level: what the host does: 0 nothing, 1 marks of the user, 2 what matters of the
            runtime too, 3 everything.
        python_tracer_level: whether calls of Python functions are recorded, 0 or 1.
        enable_hlo_proto: whether programs are stored with the trace.
        duration_ms: the longest time, in milliseconds; 0 for no limit.
        session_id: the name of the directory that is written; the time when empty.
        advanced_configuration: what else the profiler of a platform takes.

    >>> ProfileOptions(python_tracer_level=0).python_tracer_level
    0
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 1
    enable_hlo_proto: bool = True
    duration_ms: int = 0
    session_id: str = ""
    advanced_configuration: dict[str, Any] = attrs.field(factory=dict)


class _State:
    """The session and the server that are running; one of each at a time."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.session: Any = None
        self.directory = Path()
        self.perfetto = False
        self.server: Any = None


_state = _State()


def _profiler(caller: str, name: str | None = None) -> Any:
    backend = find_backend(name)
    found = getattr(backend, "profiler", None)
    if found is None:
        raise BackendError(
            f"{caller} needs a compiler, whose profiler it uses, but the backend in use is "
            f"{backend.name!r}. Install bindax-xla-backend, or choose its backend."
        )
    return found


@api_boundary
def start_trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> None:
    """Start to record what runs in this process; ``stop_trace`` ends it.

    Args:
        log_dir: the directory for what is recorded, as TensorBoard and XProf read it.
        create_perfetto_link: False: no server is started; open the file instead.
        create_perfetto_trace: whether ``perfetto_trace.json.gz`` is written too, a file to open at
            ui.perfetto.dev.
        profiler_options: what is recorded.

    Raises:
        RuntimeError: when a trace is being recorded already.
        BackendError: when there is no compiler.

    >>> import tempfile
    >>> from bindax_core.errors import BackendError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         start_trace(folder)
    ...         files = stop_trace()
    ...     except BackendError:
    ...         pass  # no compiler is installed
    """
    if create_perfetto_link:
        raise ValueError(
            "create_perfetto_link of start_trace must be False, as no server is started. Give "
            "create_perfetto_trace=True, and open perfetto_trace.json.gz at ui.perfetto.dev."
        )
    profiler = _profiler("start_trace")
    find_backend().devices()  # what starts with the runtime is no part of the trace
    options = attrs.asdict(profiler_options or ProfileOptions())
    with _state.lock:
        if _state.session is not None:
            raise RuntimeError(
                f"a trace is being recorded already, for {_state.directory}; there is one at a "
                f"time. Call stop_trace first."
            )
        _state.session = profiler.start(options)
        _state.directory, _state.perfetto = Path(log_dir), create_perfetto_trace


@api_boundary
def stop_trace() -> Path:
    """End the recording, and write it.

    Returns:
        The directory of this trace, below ``log_dir``.

    Raises:
        RuntimeError: when no trace is being recorded.

    >>> import tempfile
    >>> from bindax_core.errors import BackendError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         start_trace(folder)
    ...         files = stop_trace()
    ...     except BackendError:
    ...         pass  # no compiler is installed
    """
    with _state.lock:
        session, _state.session = _state.session, None
        if session is None:
            raise RuntimeError("no trace is being recorded; call start_trace first.")
        session.stop_and_export(str(_state.directory))
        written = _state.directory / "plugins" / "profile"
        newest = max(written.iterdir(), key=lambda path: path.stat().st_mtime)
        if _state.perfetto:
            _write_perfetto(newest)
        return newest


def _write_perfetto(directory: Path) -> None:
    """Write the trace again as Perfetto reads it: without what it does not know."""
    source = max(directory.glob("*.trace.json.gz"), key=lambda path: path.stat().st_mtime)
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        recorded = json.load(stream)
    recorded.pop("metadata", None)
    with gzip.open(directory / "perfetto_trace.json.gz", "wt", encoding="utf-8") as stream:
        json.dump(recorded, stream)


@contextmanager
def trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: ProfileOptions | None = None,
) -> Iterator[None]:
    """Record what runs inside a ``with`` block; arguments as for ``start_trace``.

    Wait for results inside the block, with ``block_until_ready()``: what is computed after it is
    not recorded.

    >>> import tempfile
    >>> from bindax_core.errors import BackendError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         with trace(folder):
    ...             pass
    ...     except BackendError:
    ...         pass  # no compiler is installed
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


class TraceAnnotation:
    """A mark in traces, from the start to the end of a ``with`` block.

    Does nothing where there is no compiler.

    Args:
        name: its name.
        metadata: numbers and strings that are shown with it.

    >>> from bindax_transforms.compilation.profiler import TraceAnnotation
    >>> with TraceAnnotation("load", batch=3):
    ...     batch = [1.0, 2.0]
    """

    def __init__(self, name: str, **metadata: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a mark in traces takes its name as a string, but got {name!r:.80}.")
        self._arguments = (name, metadata)
        self._mark: Any = None

    def __enter__(self) -> TraceAnnotation:
        make = _mark_type(config.backend)
        if make is not None:
            name, metadata = self._arguments
            self._mark = make(name, **metadata)
            self._mark.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        mark, self._mark = self._mark, None
        if mark is not None:
            mark.__exit__(*error)


@functools.cache
def _mark_type(name: str | None) -> Any:
    profiler = getattr(find_backend(name), "profiler", None)
    return None if profiler is None else profiler.Mark


class StepTraceAnnotation(TraceAnnotation):
    """A mark for one step of a training, which tools then compare; give it ``step_num``.

    >>> from bindax_transforms.compilation.profiler import StepTraceAnnotation
    >>> for step in range(2):
    ...     with StepTraceAnnotation("train", step_num=step):
    ...         pass
    """

    def __init__(self, name: str, **metadata: Any) -> None:
        super().__init__(name, _r=1, **metadata)


def annotate_function(func: F, name: str | None = None, **metadata: Any) -> F:
    """The function with a mark in traces around each call.

    Args:
        func: the function.
        name: the name of the mark; that of the function when omitted.
        metadata: as for ``TraceAnnotation``.

    >>> from bindax_transforms.compilation.profiler import annotate_function
    >>> @annotate_function
    ... def load():
    ...     return 3
    >>> load()
    3
    """
    if not callable(func):
        raise TypeError(f"annotate_function takes a function, but got {func!r:.80}.")
    shown = name or getattr(func, "__qualname__", None) or type(func).__name__

    @functools.wraps(func)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(shown, **metadata):
            return func(*args, **kwargs)

    return annotated  # type: ignore[return-value]


@api_boundary
def device_memory_profile(backend: str | None = None) -> bytes:
    """A snapshot of the arrays and programs in the memory of devices, compressed, for ``pprof``.

    Args:
        backend: the name of a backend; the one in use when omitted.

    Raises:
        BackendError: when it is no compiler.

    >>> from bindax_core.errors import BackendError
    >>> try:
    ...     snapshot = device_memory_profile()
    ... except BackendError:
    ...     snapshot = b""  # no compiler is installed
    >>> type(snapshot).__name__
    'bytes'
    """
    profiler: Any = _profiler("device_memory_profile", backend)
    client: Any = getattr(find_backend(backend), "client")  # noqa: B009 -- not of every backend
    return gzip.compress(profiler.heap_profile(client()))


@api_boundary
def save_device_memory_profile(
    filename: str | os.PathLike[str], backend: str | None = None
) -> None:
    """Write ``device_memory_profile(backend)`` to a file.

    >>> import tempfile
    >>> from bindax_core.errors import BackendError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         save_device_memory_profile(f"{folder}/memory.prof")
    ...     except BackendError:
    ...         pass  # no compiler is installed
    """
    if not isinstance(filename, (str, os.PathLike)):
        raise TypeError(
            f"save_device_memory_profile: filename must be a path, but it is {filename!r:.60}."
        )
    Path(filename).write_bytes(device_memory_profile(backend))


@api_boundary
def start_server(port: int) -> None:
    """Let TensorBoard and XProf ask this process for traces.

    Args:
        port: where it listens.

    Raises:
        ValueError: when it was started before.
        BackendError: when there is no compiler.
    """
    profiler = _profiler("start_server")
    with _state.lock:
        if _state.server is not None:
            raise ValueError("the server of the profiler is running already; stop_server ends it.")
        _state.server = profiler.start_server(port)


@api_boundary
def stop_server() -> None:
    """End the server of ``start_server``.

    Raises:
        ValueError: when none is running.
    """
    with _state.lock:
        if _state.server is None:
            raise ValueError("no server of the profiler is running; start_server starts one.")
        _state.server = None


def __getattr__(name: str) -> Any:
    if name == "ProfileData":  # reads the files that are written; the compiler brings it
        return _profiler("ProfileData", "xla").ProfileData
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
