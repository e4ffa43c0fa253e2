"""Traces and tracers: what an interpreter is made of.

A ``MainTrace`` is one active interpreter with its level; a ``Trace`` boxes values for it into
``Tracer`` objects and interprets primitives.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from bindax_core.errors import UnexpectedTracerError
from bindax_core.kernel._aval import ValueType, as_operand, plain_types, register_value_type
from bindax_core.kernel._source_info import DebugInfo, escaped_message

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class MainTrace:
    """One active interpreter, an entry of the trace stack.

    Attributes:
        level: its height in the stack; higher levels handle operations first.
        trace_type: the class of its trace.
        global_data: whatever the interpreter needs to keep, such as the size of a batch axis.
        origin: what it was started for, for messages.
        alive: whether it is still on the stack.
        trace: its trace, which boxes values and interprets primitives.
    """

    __slots__ = (
        *("__weakref__", "alive", "global_data", "level", "origin", "stack", "trace", "trace_type"),
    )

    def __init__(
        self,
        level: int,
        trace_type: type[Trace],
        global_data: Any = None,
        origin: DebugInfo | None = None,
        stack: list[MainTrace] | None = None,
    ) -> None:
        self.level = level
        self.trace_type = trace_type
        self.global_data = global_data
        self.origin: DebugInfo = origin or DebugInfo(trace_type.__name__)
        self.stack = stack
        self.alive = True
        self.trace: Trace = trace_type(self)

    def __repr__(self) -> str:
        return f"MainTrace(level={self.level}, {self.origin})"


class Trace:
    """An interpreter at work: boxes values into tracers and interprets primitives.

    Subclasses override ``pure``, ``lift`` and ``process_primitive``.
    """

    __slots__ = ("main",)

    def __init__(self, main: MainTrace) -> None:
        self.main: MainTrace = main

    def pure(self, value: Any) -> Any:
        """Box a value that is no tracer."""
        raise TypeError(f"{type(self).__name__} must define pure")

    def boxed(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Box the operands of a primitive, all of them of registered types."""
        main = self.main
        return [
            x if isinstance(x, Tracer) and x._trace.main is main else full_raise(self, x)
            for x in operands
        ]

    def lift(self, tracer: Tracer) -> Any:
        """Box a tracer of a lower level."""
        return self.pure(tracer)

    def takes(self, operands: Sequence[Any]) -> bool:
        """Tell whether a ``CallPrimitive`` applied to these operands is this trace's to handle."""
        return True

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Sequence[Any]:
        """Interpret a primitive applied to tracers of this trace; returns its results."""
        raise TypeError(f"{type(self).__name__} must define process_primitive")


class Tracer:
    """A value boxed by a trace.

    Packages of values give their tracers operators and methods in a subclass.
    """

    __slots__ = ("__weakref__", "_trace")

    _trace: Trace

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        register_value_type(ValueType(cls, attrgetter("aval")))
        plain_types.discard(cls)

    @property
    def aval(self) -> Any:
        """The abstract value."""
        raise TypeError(f"{type(self).__name__} must define aval")

    def full_lower(self) -> Any:
        """Unwrap the value, if this tracer carries no information."""
        return self

    def concrete(self) -> Any:
        """Return the concrete value, or None when there is none."""
        return None

    def history(self) -> str:
        """Tell where the value comes from, for messages; may be empty."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval.str_short()}>"

    def __copy__(self, memo: Any = None) -> Self:
        return self  # values do not change, so one that is traced is its own copy

    __deepcopy__ = __copy__


def full_raise(trace: Trace, x: Any) -> Any:
    """Box a value for a trace, unless it is boxed for it already."""
    if not isinstance(x, Tracer):
        x = as_operand(x)
        if not isinstance(x, Tracer):
            return trace.pure(x)
    main = x._trace.main
    if main is trace.main:
        return x
    if main.alive and main.stack is trace.main.stack and main.level < trace.main.level:
        return trace.lift(x)
    raise UnexpectedTracerError(escaped_message(x, trace.main.stack))
