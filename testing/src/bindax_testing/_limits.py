"""A time limit for code that may never end."""

from __future__ import annotations

import atexit
import ctypes
import gc
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import copy_context
from types import CodeType
from typing import TypeVar

import numpy as np

T = TypeVar("T")

_GRACE = 5.0  # seconds that a thread has to end before the process does
_COLLECTION = 0.02  # seconds that a collection of garbage has to end


class TimeLimitExceeded(Exception):
    """Code ran for longer than it may: ``codes``, the innermost function first."""

    def __init__(self, message: str, codes: list[CodeType]) -> None:
        super().__init__(message)
        self.codes = codes


class _Stop(BaseException):
    """Raised inside a thread that ran out of time; no ``except Exception`` catches it."""


def run_limited(function: Callable[[], T], seconds: float) -> T:
    """Call a function in a thread of its own, for some seconds; what it raises is raised here.

    Settings of blocks around the call hold in the thread, too.

    A loop in Python is stopped, by Ctrl-C too; a call into C that does not return is left behind in
    its thread, which keeps the process from ending for a few seconds at most.

    >>> run_limited(lambda: 1 + 1, 1.0)
    2
    """
    outcome: Future[T] = Future()

    def target() -> None:
        try:
            # Infinities and invalid operations are results like others here.
            with np.errstate(all="ignore"):
                outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    inside = copy_context().run
    name = "bindax conformance check"
    thread = threading.Thread(target=inside, args=(target,), daemon=True, name=name)
    # Not with Thread.join: an interrupted join counts the thread as ended, though it goes on.
    try:
        thread.start()
        wait([outcome], seconds)
    except KeyboardInterrupt:
        _interrupt(thread, outcome)
        raise
    if not outcome.done():
        frame = sys._current_frames().get(thread.ident or 0)
        codes = [one.f_code for one, _ in traceback.walk_stack(frame)] if frame else []
        _interrupt(thread, outcome)
        raise TimeLimitExceeded(f"did not end within {seconds:g} s", codes)
    return outcome.result()


def _interrupt(thread: threading.Thread, outcome: Future[T]) -> None:
    for _ in range(3):  # code that handles the exception and goes on is asked again
        if outcome.done() or thread.ident is None:
            return
        with _no_collections():  # what is raised in what they call goes nowhere
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(_Stop)
            )
            wait([outcome], 0.5)
    # A thread that is inside a compiler when the interpreter ends would abort the process.
    atexit.register(wait, [outcome], _GRACE)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Collect no garbage meanwhile, and let a collection that has begun end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        time.sleep(_COLLECTION)
        yield
    finally:
        if enabled:
            gc.enable()
