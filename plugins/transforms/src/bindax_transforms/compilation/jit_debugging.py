"""Settings that look into ``jit``: without it, with checked results, with a log of what it does.

Each exchanges a method of ``JittedFunction`` while it is on, so that calls have nothing to ask
while it is off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bindax_core.extend import (
    config,
    describe_function,
    executable_cache,
    hide_internal_frames,
    tree_unflatten,
    user_source_info,
)
from bindax_transforms.compilation.call_differences import differences
from bindax_transforms.compilation.jit_function import JittedFunction
from bindax_transforms.compilation.jit_primitive import jit_p
from bindax_transforms.compilation.recompilation import thrown_away
from bindax_transforms.staging.evaluated import forget_evaluated
from bindax_transforms.staging.trace_cache import forget_traces


def _log(text: str, *values: Any) -> None:
    import logging  # loaded when the first message is written

    logging.getLogger("bindax").warning(text, *values, stacklevel=3)


_plain: dict[str, Callable[..., Any]] = {
    name: vars(JittedFunction)[name] for name in ("__call__", "_compile", "_trace")
}


_DEBUGGED = ("debug_nans", "debug_infs", "disable_jit", "no_execution")
_WATCHED = ("log_compiles", "explain_cache_misses", "no_tracing")


def _exchange(name: str, method: Callable[..., Any] | None) -> None:
    setattr(JittedFunction, name, _plain[name] if method is None else method)


def _watch_calls(_: bool) -> None:
    debugged = any(map(config.is_on, _DEBUGGED))
    _exchange("__call__", _debugged_call if debugged else None)


def _watch_results(_: bool) -> None:
    from bindax_transforms.compilation import debug_nans  # loaded when it is wanted

    debug_nans.watch()


def _debugged_call(jitted: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function itself, or its jaxpr in the way that looks at the results."""
    try:
        if config.disable_jit:
            return jitted._fun(*args, **kwargs)
        if not any(getattr(config, name) for name in _DEBUGGED):  # but in another thread
            return _plain["__call__"](jitted, *args, **kwargs)
        entry, leaves, traced = jitted._lookup(args, kwargs)
        if config.no_execution and not traced:
            function = describe_function(jitted._fun)
            raise RuntimeError(f"jit of {function} was called to run, but no_execution is set.")
        if traced or entry.closes_over_tracers or entry.references is not None:
            return jitted._call(args, kwargs)
        outs = jit_p.bind(*entry.consts, *leaves, **entry.params)
        return tree_unflatten(entry.out_tree, outs)
    except Exception as error:
        hide_internal_frames(error)
        raise


def _watch_traces(_: bool) -> None:
    _exchange("_trace", _watched_trace if any(map(config.is_on, _WATCHED)) else None)
    _exchange("_compile", _logged_compile if config.is_on("log_compiles") else None)


def _watched_trace(
    jitted: Any, key: Any, args: Any, kwargs: Any, tree: Any, avals: list[Any]
) -> Any:
    function = describe_function(jitted._fun)
    if config.no_tracing:
        raise RuntimeError(
            f"jit of {function} would be traced, because {_reason(jitted, key)}, but no_tracing is "
            f"set."
        )
    if config.explain_cache_misses:
        why = _reason(jitted, key)
        _log("jit of %s, called at %s, is traced: %s.", function, user_source_info(1), why)
    start = time.perf_counter()
    entry = _plain["_trace"](jitted, key, args, kwargs, tree, avals)
    if config.log_compiles:
        types = ", ".join(aval.str_short() for aval in avals)
        seconds = time.perf_counter() - start
        _log("jit of %s was traced for (%s) in %.3f s.", function, types, seconds)
    return entry


def _logged_compile(jitted: Any, entry: Any, operands: Any) -> Any:
    if not config.log_compiles:  # but in another thread
        return _plain["_compile"](jitted, entry, operands)
    start = time.perf_counter()
    run = _plain["_compile"](jitted, entry, operands)
    seconds = time.perf_counter() - start
    _log("jit of %s was compiled in %.3f s.", describe_function(jitted._fun), seconds)
    return run


def _reason(jitted: Any, key: Any) -> str:
    """The difference of a call from the most similar one that is known."""
    known = list(jitted._shared.entries)
    if not known:
        gone = thrown_away(jitted._fun)
        new = f"; it is a new function, and {gone} that were made there are gone" if gone else ""
        return f"no call of it is known{new}"
    last_first = [differences(jitted, key, other) for other in reversed(known)]
    fewest = min(last_first, key=len)
    return "; ".join(fewest)


def clear_caches() -> None:
    """Forget all traces and compiled programs of ``jit``, of loops and of single operations.

    >>> from bindax_transforms import clear_caches, jit
    >>> f = jit(lambda x: x)
    >>> f(1.0), f.cache_info().size
    (Array(1., dtype=float64, weak_type=True), 1)
    >>> clear_caches()
    >>> f.cache_info().size
    0
    """
    executable_cache.clear()
    forget_traces()
    forget_evaluated()


for _name in _DEBUGGED:
    config.observe(_name, _watch_calls)
for _name in ("debug_nans", "debug_infs"):
    config.observe(_name, _watch_results)
for _name in _WATCHED:
    config.observe(_name, _watch_traces)
