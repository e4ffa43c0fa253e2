"""Where in the user's program something happened, found cheaply and formatted late.

A frame is internal when its file belongs to a package that registered itself here; the user's line
is the innermost frame that is not internal.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import wraps
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple, ParamSpec, TypeVar

from bindax_core.errors import name_function
from bindax_core.kernel._config import config

P = ParamSpec("P")
R = TypeVar("R")

_internal_directories: list[str] = []
_is_internal: dict[str, bool] = {}  # by file: a code object takes long to hash


def register_internal(file: str) -> None:
    """Hide the frames of a package in tracebacks and source locations.

    Args:
        file: the ``__file__`` of the package's ``__init__`` module.
    """
    directory = os.path.dirname(os.path.abspath(file)) + os.sep
    if directory not in _internal_directories:
        _internal_directories.append(directory)
        _is_internal.clear()


def is_internal(code: CodeType) -> bool:
    """Tell whether a code object belongs to bindax or to a plugin that hides its frames."""
    return is_internal_file(code.co_filename)


def is_internal_file(file: str) -> bool:
    """Tell whether a file belongs to bindax or to a plugin that hides its frames."""
    known = _is_internal.get(file)
    if known is None:
        if len(_is_internal) >= 4096:  # a notebook's cells are files, too
            _is_internal.clear()
        known = _is_internal[file] = file.startswith(tuple(_internal_directories))
    return known


class _Scopes(threading.local):
    """The named scopes that a thread is in, joined by slashes."""

    path: str = ""


scopes = _Scopes()


class SourceInfo(NamedTuple):
    """A line of the user's program: a code object, an instruction in it, and the named scopes."""

    code: CodeType
    instruction: int
    scope: str = ""

    @property
    def line(self) -> int:
        for start, end, line in self.code.co_lines():
            if start <= self.instruction < end and line is not None:
                return line
        return self.code.co_firstlineno

    def __str__(self) -> str:
        scope = f", scope {self.scope}" if self.scope else ""
        return f"{self.code.co_filename}:{self.line} ({self.code.co_name}{scope})"


def user_source_info(depth: int = 1) -> SourceInfo | None:
    """The innermost line on the stack that is not internal, or None."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        internal = _is_internal.get(code.co_filename)
        if internal is None:
            internal = is_internal(code)
        if not internal:
            return SourceInfo(code, frame.f_lasti, scopes.path)
        frame = frame.f_back
    return None


def _filtered(traceback: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while traceback is not None:
        if not is_internal(traceback.tb_frame.f_code):
            kept.append(traceback)
        traceback = traceback.tb_next
    head: TracebackType | None = None
    for entry in reversed(kept):
        head = TracebackType(head, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return head


def hide_internal_frames(error: BaseException) -> None:
    """Drop the internal frames from an error's traceback, unless ``config.traceback`` is full."""
    if config.traceback == "filtered":
        error.__traceback__ = _filtered(error.__traceback__)


def api_boundary(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that users call: errors leaving it show only the user's own frames."""

    @wraps(function)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            # An empty dictionary takes longer to pass than few numbers to add.
            return function(*args, **kwargs) if kwargs else function(*args)  # type: ignore[call-arg]
        except Exception as error:
            hide_internal_frames(error)
            # It comes from the function itself, which is not called by another one of bindax.
            if error.__traceback__ is None and not is_internal(sys._getframe(1).f_code):
                name_function(error, function)
            raise

    return bounded
