"""Calls of modules, whose operations have the path of the module in their stacks of names."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from bindax_core.extend import SourceInfo, current_source, trace_state
from bindax_nnx._paths import path_below


class _Calls(threading.local):
    """The innermost module of a thread that is being called."""

    module: Any = None


_calls = _Calls()


def named_call(call: Callable[..., Any]) -> Callable[..., Any]:
    """Name what a method of a module stages by the way to it from the module that calls it.

    Where nothing is traced, there is nothing to name.
    """

    @wraps(call)
    def called(module: Any, /, *args: Any, **kwargs: Any) -> Any:
        # What belongs to a thread is in functions that pickles of classes by value refer to.
        outer = _enter(module)
        if outer is None:
            return call(module, *args, **kwargs)
        try:
            return call(module, *args, **kwargs)
        finally:
            _leave(*outer)

    return called


def _enter(module: Any) -> tuple[Any, SourceInfo] | None:
    """Begin a call; gives what ``_leave`` takes, or None where nothing is traced."""
    if len(trace_state.stack) == 1:
        return None
    outer = _calls.module, current_source.info
    path = path_below(module, outer[0])
    _calls.module = module
    if path:
        current_source.info = outer[1].inside(path)
    return outer


def _leave(module: Any, info: SourceInfo) -> None:
    """End a call."""
    _calls.module, current_source.info = module, info
