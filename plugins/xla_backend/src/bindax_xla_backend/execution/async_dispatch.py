"""Executions that have not ended, where others must wait for them.

An interpreter that ends while XLA is about to call into it aborts: so the process does not end
before host callbacks have run. Of two programs whose devices exchange values, CPUs can start one
on some of their threads and the other on the rest, and XLA aborts when neither gets on: so the
second starts when the first has ended.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from bindax_xla_backend import _jaxlib
from bindax_xla_backend.lowering.callbacks import this_thread

_MOST_PENDING = 64

_tokens: deque[Any] = deque()
_running: list[Any] = []
_turn = threading.RLock()


def tracked(loaded: Any, *, wait: bool) -> Callable[[Sequence[Any]], Any]:
    """A function that starts executions of a program and remembers those that are not done.

    With ``wait`` an execution has ended when it returns. Programs with effects do so: their effects
    come before those of the next program, and an error that a host function raises is raised by the
    call, whether the results are looked at or not.
    """

    def run(buffers: Sequence[Any]) -> Any:
        results, token = _jaxlib.run_with_token(loaded, buffers)
        if wait:
            token.block_until_ready()
            return results
        _tokens.append(token)
        # A callback may itself run programs. It must not wait for the program that called it.
        while len(_tokens) > _MOST_PENDING and not this_thread.callbacks:
            _wait(_tokens.popleft())
        return results

    return run


def in_turn(loaded: Any) -> Callable[[Sequence[Any]], Any]:
    """A function that starts executions of a program, each when those before have ended."""

    def run(buffers: Sequence[Any]) -> Any:
        results, token = _jaxlib.run_with_token(loaded, buffers)
        _running.append(token)
        return results

    return after_others(run)


def after_others(run: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """A function that runs a program when those that were started ``in_turn`` have ended.

    In a host callback it runs at once: the program that called that has not ended.
    """

    def waiting(buffers: Sequence[Any]) -> Any:
        if this_thread.callbacks:
            return run(buffers)
        with _turn:
            while _running:
                _wait(_running.pop())
            return run(buffers)

    return waiting


def barrier() -> None:
    """Wait until all host callbacks of the programs started so far have run.

    Inside of a host callback nothing is waited for, as its own program waits for it.
    """
    while _tokens and not this_thread.callbacks:
        try:
            token = _tokens.popleft()
        except IndexError:  # another thread was faster
            return
        _wait(token)


def _wait(token: Any) -> None:
    # Whoever looks at the results gets the error.
    with contextlib.suppress(_jaxlib.RuntimeFailure):
        token.block_until_ready()


atexit.register(barrier)
