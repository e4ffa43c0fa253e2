"""Errors that nobody catches: they are shown without the internal frames, in threads, too."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from bindax_core.kernel._source_info import hide_internal_frames


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


def _hide(error: BaseException | None, traceback: TracebackType | None) -> TracebackType | None:
    seen: set[int] = set()
    one = error
    while isinstance(one, Exception) and id(one) not in seen:
        seen.add(id(one))
        hide_internal_frames(one)
        one = one.__cause__ or one.__context__
    return error.__traceback__ if isinstance(error, Exception) else traceback
