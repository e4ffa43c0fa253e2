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


class MutationCounter:
    """Marks that are replaced whenever what is known of structures may no longer hold.

    Attributes:
        now: replaced when an attribute of an object changes.
        variables: replaced when the metadata of a variable change, or a tree may be put in one.
    """

    __slots__ = ("now", "variables")

    def __init__(self) -> None:
        self.now = object()
        self.variables = object()

    def advance(self) -> None:
        """Forget that the attributes of objects are known."""
        self.now = object()

    def advance_variables(self) -> None:
        """Forget that the metadata of variables are known, and which hold trees."""
        self.variables = object()


mutation_counter = MutationCounter()
"""The marks of the process."""
