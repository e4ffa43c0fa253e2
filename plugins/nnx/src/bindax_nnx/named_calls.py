"""Calls of modules, whose operations have the path of the module in their stacks of names."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

from bindax_core.extend import trace_state
from bindax_nnx._paths import names_below
from bindax_transforms import named_scope


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
        # All else is in a function that pickles of classes by value refer to by its name.
        return _call_by_name(call, module, args, kwargs)

    return called


def _call_by_name(call: Callable[..., Any], module: Any, args: Any, kwargs: Any) -> Any:
    if len(trace_state.stack) == 1:
        return call(module, *args, **kwargs)
    outer = _calls.module
    names = names_below(module, outer)
    _calls.module = module
    try:
        if not names:
            return call(module, *args, **kwargs)
        with named_scope("/".join(names)):
            return call(module, *args, **kwargs)
    finally:
        _calls.module = outer
