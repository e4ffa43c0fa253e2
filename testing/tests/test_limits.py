"""Checks run in threads of their own, under the settings of the caller."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from typing import Any

import pytest

from bindax_core import config
from bindax_testing._limits import TimeLimitExceeded, run_limited
from bindax_testing._plan import checking


def test_settings_hold_in_the_thread_of_a_check() -> None:
    with checking():
        found = run_limited(lambda: (config.backend, config.derived_rules, config.traceback), 10.0)
    assert found == ("numpy", "silent", "full")


def test_a_check_that_does_not_end_is_stopped() -> None:
    def endless() -> None:
        while True:
            pass

    with pytest.raises(TimeLimitExceeded, match=r"did not end within 0\.2 s"):
        run_limited(endless, 0.2)


def test_a_check_that_collects_garbage_is_stopped_where_it_is_noticed() -> None:
    def endless() -> None:
        while True:
            cycle: list[Any] = []
            cycle.append(cycle)

    def slow(phase: str, info: dict[str, int]) -> None:
        for _ in range(100):
            pass

    threshold = gc.get_threshold()
    gc.set_threshold(2)
    gc.callbacks.append(slow)
    unraised: list[Any] = []
    hook, sys.unraisablehook = sys.unraisablehook, unraised.append
    try:
        for _ in range(5):
            with pytest.raises(TimeLimitExceeded):
                run_limited(endless, 0.02)
    finally:
        gc.callbacks.remove(slow)
        gc.set_threshold(*threshold)
        sys.unraisablehook = hook
    assert not unraised


def test_an_interrupted_check_is_stopped() -> None:
    before = threading.active_count()

    def endless() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # as Ctrl-C does
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        run_limited(endless, 10.0)
    until = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before
