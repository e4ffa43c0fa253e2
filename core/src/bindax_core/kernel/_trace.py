"""Traces and tracers: what an interpreter is made of.

A ``MainTrace`` is one active interpreter with its level; a ``Trace`` boxes values for it into
``Tracer`` objects and interprets primitives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from bindax_core._extension_points import runtime
from bindax_core._functions import describe_function
from bindax_core.errors import UnexpectedTracerError
from bindax_core.kernel._aval import ValueType, as_operand, plain_types, register_value_type

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class DebugInfo(NamedTuple):
    """The transformation that started a trace, and the user's function, for messages."""

    transformation: str
    function: Callable[..., Any] | None = None

    def __str__(self) -> str:
        if self.function is None:
            return self.transformation
        return f"{self.transformation} of {describe_function(self.function)}"


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
        self.origin = origin or DebugInfo(trace_type.__name__)
        self.stack = stack
        self.alive = True
        self.trace = trace_type(self)

    def __repr__(self) -> str:
        return f"MainTrace(level={self.level}, {self.origin})"


class Trace:
    """An interpreter at work: boxes values into tracers and interprets primitives.

    Subclasses override ``pure``, ``lift`` and ``process_primitive``.
    """

    __slots__ = ("main",)

    def __init__(self, main: MainTrace) -> None:
        self.main = main

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


def escaped_message(x: Tracer, stack: Any) -> str:
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
        f"a traced value {x.aval.str_short()}, made in {main.origin}{made}, {how}."
        f"{keeper} Return it from the function instead of keeping it in a variable, "
        f"attribute or container outside."
    )
