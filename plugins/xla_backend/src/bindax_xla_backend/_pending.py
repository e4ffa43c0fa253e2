"""Executions whose host callbacks may still run; the process must not end before they have.

An interpreter that ends while XLA is about to call into it aborts.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from bindax_xla_backend import _jaxlib

_MOST_PENDING = 64

_tokens: deque[Any] = deque()
_state = threading.local()


def tracked(loaded: Any, *, wait: bool) -> Callable[[Sequence[Any]], Any]:
    """A function that starts executions of a program and remembers those that are not done.

    Args:
        loaded: the program.
        wait: whether an execution has ended when the function returns. Programs with effects do:
            so their effects come before those of the next program, and an error that a host
            function raises is raised by the call, whether the results are looked at or not.
    """

    def run(buffers: Sequence[Any]) -> Any:
        results, token = _jaxlib.run_with_token(loaded, buffers)
        if wait:
            token.block_until_ready()
            return results
        _tokens.append(token)
        # A callback may itself run programs. It must not wait for the program that called it.
        while len(_tokens) > _MOST_PENDING and not getattr(_state, "in_callback", 0):
            _wait(_tokens.popleft())
        return results

    return run


def barrier() -> None:
    """Wait until all host callbacks of the programs started so far have run.

    Inside of a host callback nothing is waited for, as its own program waits for it.
    """
    while _tokens and not getattr(_state, "in_callback", 0):
        try:
            token = _tokens.popleft()
        except IndexError:  # another thread was faster
            return
        _wait(token)


def enter_callback() -> None:
    """Note that this thread is inside a host callback."""
    _state.in_callback = getattr(_state, "in_callback", 0) + 1


def leave_callback() -> None:
    """Undo ``enter_callback``."""
    _state.in_callback -= 1


def _wait(token: Any) -> None:
    # Whoever looks at the results gets the error.
    with contextlib.suppress(_jaxlib.RuntimeFailure):
        token.block_until_ready()


atexit.register(barrier)
