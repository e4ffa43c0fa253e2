"""The trace stack: which interpreters are active, and which of them handles an operation.

The stack is thread-local. At the bottom stands evaluation. The dynamic trace, if there is one, also
handles the operations on values that no trace has boxed, so that functions are staged completely.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

from bindax_core._extension_points import runtime
from bindax_core.errors import UnexpectedTracerError
from bindax_core.kernel._aval import find_value_type, plain_types
from bindax_core.kernel._source_info import DebugInfo, escaped_message
from bindax_core.kernel._trace import MainTrace, Trace, Tracer

_bottoms: WeakSet[MainTrace] = WeakSet()
"""The lowest entries of the trace stacks of all threads."""
_bottoms_lock = threading.RLock()


class TraceState(threading.local):
    """The trace stack of a thread, and its dynamic trace."""

    evaluation: type[Trace] = Trace
    """The interpreter at the bottom; the package that computes sets it with ``evaluate_with``."""

    def __init__(self) -> None:
        self.stack: list[MainTrace] = []
        self.stack.append(MainTrace(0, self.evaluation, None, DebugInfo("evaluation"), self.stack))
        with _bottoms_lock:
            _bottoms.add(self.stack[0])
        self.dynamic: MainTrace | None = None


trace_state: TraceState = TraceState()


def evaluate_with(trace_type: type[Trace]) -> None:
    """Make an interpreter the bottom of the trace stack, in every thread.

    Args:
        trace_type: the class of the trace, whose ``process_primitive`` computes.
    """
    TraceState.evaluation = trace_type
    with _bottoms_lock:
        bottoms = list(_bottoms)
    for bottom in bottoms:
        bottom.trace_type, bottom.trace = trace_type, trace_type(bottom)


class new_main:
    """Push an interpreter on the trace stack inside a ``with`` block.

    Args:
        trace_type: the class of the trace.
        global_data: what the interpreter keeps.
        origin: the transformation and function, for messages.
        dynamic: whether the trace also becomes the dynamic trace, so that everything is staged.
    """

    __slots__ = ("dynamic", "main", "previous", "state")

    def __init__(
        self,
        trace_type: type[Trace],
        global_data: Any = None,
        *,
        origin: DebugInfo | None = None,
        dynamic: bool = False,
    ) -> None:
        self.state: TraceState = trace_state
        stack = self.state.stack
        self.main: MainTrace = MainTrace(len(stack), trace_type, global_data, origin, stack)
        self.dynamic: bool = dynamic
        self.previous: MainTrace | None = None

    def __enter__(self) -> MainTrace:
        main = self.main
        main.level = len(self.state.stack)
        self.state.stack.append(main)
        if self.dynamic:
            self.previous, self.state.dynamic = self.state.dynamic, main
        return main

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        main = self.main
        main.alive = False
        del main.trace  # which refers to it: without the cycle, what was traced is freed at once
        # Not a plain pop: a generator that was left half-way may have entries above this one.
        del self.state.stack[main.level :]
        if self.dynamic:
            self.state.dynamic = self.previous
        if runtime.trace_ended is not None and kind is None:
            runtime.trace_ended(main)


class eval_context:
    """Evaluate inside a ``with`` block even while something is being staged.

    Plugins are loaded so, or a constant that a module makes at import would be traced.
    """

    __slots__ = ("previous",)

    def __enter__(self) -> None:
        self.previous: MainTrace | None = trace_state.dynamic
        trace_state.dynamic = None

    def __exit__(self, *error: object) -> None:
        trace_state.dynamic = self.previous


def find_top_trace(operands: Sequence[Any]) -> Trace | None:
    """Find the trace that handles an operation: the highest of its operands', or the dynamic one.

    Returns:
        The trace; None where an operand is of no registered type.
    """
    state = trace_state
    stack = state.stack
    top = stack[0]
    for x in operands:
        if type(x) in plain_types:
            continue
        if isinstance(x, Tracer):
            main = x._trace.main
            if not main.alive or main.stack is not stack:
                raise UnexpectedTracerError(escaped_message(x, stack))
            if main.level > top.level:
                top = main
        elif find_value_type(type(x)) is None:
            return None
    dynamic = state.dynamic
    if dynamic is not None and dynamic.level > top.level:
        top = dynamic
    return top.trace


def is_active(main: MainTrace) -> bool:
    """Tell whether a trace is on the stack of this thread."""
    return main.alive and main.stack is trace_state.stack


def next_trace(operands: Sequence[Any], below: MainTrace | None) -> Trace:
    """Find the trace that handles a call next.

    Args:
        operands: the operands of the call.
        below: the trace that has done its part; None, or one that has ended, for the whole stack.
    """
    stack = trace_state.stack
    level = below.level if below is not None and is_active(below) else len(stack)
    return next(main.trace for main in reversed(stack[:level]) if main.trace.takes(operands))


def full_lower(x: Any) -> Any:
    """Unwrap tracers that carry no information."""
    return x if type(x) in plain_types or not isinstance(x, Tracer) else x.full_lower()
