"""Lines of the user's program, found cheaply and formatted late.

A frame is internal when its file belongs to a package that registered itself here; the user's line
is the innermost frame that is not internal.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType
from typing import NamedTuple

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


scopes: _Scopes = _Scopes()


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
    """Return the innermost line on the stack that is not internal, or None."""
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
