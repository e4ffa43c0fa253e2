"""Tracebacks without the frames of bindax and its plugins, and warnings at the user's line."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from bindax_core._config import config
from bindax_core._settings import Setting
from bindax_core._site import is_internal
from bindax_core.errors import name_function

P = ParamSpec("P")
R = TypeVar("R")

traceback = Setting(
    "traceback",
    "filtered",
    """``"filtered"`` hides the frames of bindax and its plugins in tracebacks, ``"full"`` shows
    them""",
    choices=("filtered", "full"),
)


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
    """Drop the internal frames from an error's traceback, unless ``config.traceback`` is full.

    >>> import traceback
    >>> from bindax_core.extend import typeof
    >>> try:
    ...     typeof("a text")
    ... except TypeError as error:
    ...     hide_internal_frames(error)
    ...     len(traceback.extract_tb(error.__traceback__))  # the line above alone
    1
    """
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

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("the scale is 0, so all results are 0.", RuntimeWarning)
    >>> print(caught[0].category.__name__, caught[0].message)
    RuntimeWarning the scale is 0, so all results are 0.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    file, module = frame.f_code.co_filename, names.get("__name__", "<string>")
    warnings.warn_explicit(message, category, file, frame.f_lineno, module, registry)


def _hide(error: BaseException | None, traceback: TracebackType | None) -> TracebackType | None:
    seen: set[int] = set()
    one = error
    while isinstance(one, Exception) and id(one) not in seen:
        seen.add(id(one))
        hide_internal_frames(one)
        one = one.__cause__ or one.__context__
    return error.__traceback__ if isinstance(error, Exception) else traceback
