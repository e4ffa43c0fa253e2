"""Under which trace an object was made, and when the structure of any object last changed."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import trace_state


def current_trace() -> Any:
    """The innermost active trace of this thread; None outside of transformations."""
    stack = trace_state.stack
    return stack[-1] if len(stack) > 1 else None


def describe_trace(trace: Any) -> str:
    """Name a trace in a message."""
    return "outside of any transformation" if trace is None else f"inside {trace.origin}"


class Clock:
    """A mark that is replaced whenever attributes of objects or metadata of variables change.

    While the mark is the same, what was learned about the structure of an object still holds.
    """

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = object()

    def advance(self) -> None:
        """Forget what was learned about structures."""
        self.now = object()


clock = Clock()
"""The mark of the process."""
