"""A time limit for code that may never end."""

from __future__ import annotations

import ctypes
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from types import CodeType
from typing import TypeVar

import numpy as np

T = TypeVar("T")


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

    A loop in Python is stopped; a call into C that does not return is left behind in its thread,
    which does not keep the process from ending.

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
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        codes = [one.f_code for one, _ in traceback.walk_stack(frame)] if frame else []
        _interrupt(thread)
        raise TimeLimitExceeded(f"did not end within {seconds:g} s", codes)
    return outcome.result()


def _interrupt(thread: threading.Thread) -> None:
    for _ in range(3):  # code that handles the exception and goes on is asked again
        if not thread.is_alive() or thread.ident is None:
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_Stop)
        )
        thread.join(0.5)
