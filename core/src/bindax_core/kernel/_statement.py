"""The statement of a module that runs, by which two declarations of one name are told apart."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import NamedTuple


class Statement(NamedTuple):
    """A statement of a module that runs now: the code of one run of the module, and a line of it.

    A reload, and a cell of a notebook that is run again, have code of their own.
    """

    code: CodeType | None
    line: int
    is_main: bool


_IN_FUNCTION = 1  # inspect.CO_OPTIMIZED


def running_statement(depth: int = 1) -> Statement:
    """The innermost statement outside of functions that the caller ``depth`` frames up is in."""
    frame: FrameType | None = sys._getframe(depth + 1)
    while frame is not None and frame.f_code.co_flags & _IN_FUNCTION:
        frame = frame.f_back
    if frame is None:  # in a thread
        return Statement(None, 0, False)
    return Statement(frame.f_code, frame.f_lineno, frame.f_globals.get("__name__") == "__main__")
