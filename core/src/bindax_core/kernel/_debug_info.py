"""Texts about traces for messages: what started one, and how a value of it got out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._functions import describe_function


class DebugInfo(NamedTuple):
    """The transformation that started a trace, and the user's function, for messages."""

    transformation: str
    function: Callable[..., Any] | None = None

    def __str__(self) -> str:
        if self.function is None:
            return self.transformation
        return f"{self.transformation} of {describe_function(self.function)}"


def escaped_message(x: Any, stack: Any) -> str:
    """Describe the use of a tracer where its trace is not active."""
    main = x._trace.main
    history = x.history()
    made = f"; {history}" if history else ""
    keeper = "" if main.alive else runtime.keeper_of(main)
    if main.alive and main.stack is not stack:
        how = "is used in another thread than the one that traces it"
    else:
        how = "escaped from it and is used after it ended"
    return (
        f"Encountered an unexpected tracer, {x.aval.str_short()}, made in {main.origin}{made}, "
        f"{how}.{keeper} Return it from the function instead of keeping it in a variable, "
        f"attribute or container outside."
    )
