"""The search for traced values that are still kept when their trace has ended."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from bindax_core.errors import UnexpectedTracerError
from bindax_core.extend import Tracer, config, find_keepers_with, is_internal, on_end_of_traces


def keeper_of(main: Any) -> str:
    """A sentence about the rule that keeps a value of a trace; empty when none is found."""
    from bindax_transforms.staging import rule_keeps

    return rule_keeps.keeper_of(main)


find_keepers_with(keeper_of)


@contextmanager
def checking_leaks() -> Iterator[None]:
    """Raise at the end of the block when a value that was traced in it is still kept somewhere.

    Raises:
        UnexpectedTracerError: naming the value, the function whose trace made it, and the line.

    >>> from bindax_core import checking_leaks
    >>> from bindax_transforms import make_jaxpr
    >>> kept = []
    >>> with checking_leaks():
    ...     program = make_jaxpr(kept.append)(1.0)
    Traceback (most recent call last):
    bindax_core.errors.UnexpectedTracerError: 1 traced value outlived its trace. ...
    """
    before = {id(x) for x in _leaked()}
    yield
    leaked = [x for x in _leaked() if id(x) not in before]
    if leaked:
        number = len(leaked)
        values = "traced value outlived its" if number == 1 else "traced values outlived their"
        raise leak(f"{number} {values} trace. The first is", leaked[0])


def _leaked() -> list[Tracer]:
    """The traced values whose traces have ended."""
    gc.collect()
    tracers = [x for x in gc.get_objects() if issubclass(type(x), Tracer)]
    return [x for x in tracers if not x._trace.main.alive]


def leak(what: str, x: Any) -> UnexpectedTracerError:
    """The error about a traced value that is still kept when its trace has ended."""
    history, main = x.history(), x._trace.main
    return UnexpectedTracerError(
        f"{what} {x.aval.str_short()} in {main.origin}"
        f"{'; ' + history if history else ''}.{keeper_of(main)} Return it "
        f"from the function instead of keeping it in global state, such as a variable, an "
        f"attribute or a container outside."
    )


def check_leaks(main: Any) -> None:
    """Raise when a traced value of a trace that has ended is still kept somewhere."""
    if not config.check_tracer_leaks:  # but in another thread
        return
    gc.collect()
    values = [x for x in gc.get_objects() if _trace_of(x) is main]
    own = {id(values), *map(id, values), *_locals_of_interpreters()}
    for x in values:
        if any(id(r) not in own and not isinstance(r, FrameType) for r in gc.get_referrers(x)):
            raise leak("Leaked trace: a value outlived it,", x)


def _watch(on: bool) -> None:
    """Look at what is left of each trace when it ends, while the setting is on in some thread."""
    on_end_of_traces(check_leaks if on else None)


config.observe("check_tracer_leaks", _watch)


def _trace_of(x: Any) -> Any:
    trace = getattr(type(x), "_trace", None) and getattr(x, "_trace", None)
    return getattr(trace, "main", None)


def _locals_of_interpreters() -> Iterator[int]:
    """Names of what running functions of bindax hold, and of its parts: they are about to end."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_internal(frame.f_code):
            for value in list(frame.f_locals.values()):
                yield id(value)
                if isinstance(value, list | tuple):
                    yield from map(id, value)
        frame = frame.f_back
