"""Errors that nobody catches are shown without internal frames; warnings are of the user's line."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from bindax_core.kernel._source_info import hide_internal_frames, is_internal


def hide_frames_of_uncaught() -> None:
    """Have the hooks that show errors drop the internal frames first, and do what they did."""
    show = sys.excepthook
    show_of_thread: Callable[[Any], Any] = threading.excepthook

    def shown(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        show(kind, error, _hide(error, traceback))

    def shown_of_thread(args: Any) -> None:
        found = (args.exc_type, args.exc_value, _hide(args.exc_value, args.exc_traceback))
        show_of_thread(threading.ExceptHookArgs((*found, args.thread)))

    sys.excepthook = shown
    threading.excepthook = shown_of_thread


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line, so that each line of a program is warned of once.

    Args:
        message: the text.
        category: the class of the warning.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    file, module = frame.f_code.co_filename, names.get("__name__")
    warnings.warn_explicit(message, category, file, frame.f_lineno, module, registry)


def _hide(error: BaseException | None, traceback: TracebackType | None) -> TracebackType | None:
    seen: set[int] = set()
    one = error
    while isinstance(one, Exception) and id(one) not in seen:
        seen.add(id(one))
        hide_internal_frames(one)
        one = one.__cause__ or one.__context__
    return error.__traceback__ if isinstance(error, Exception) else traceback
