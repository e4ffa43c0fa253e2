"""The trace stack: which interpreters are active, and which of them handles an operation.

A ``MainTrace`` is one active interpreter with its level; a ``Trace`` boxes values for it into
``Tracer`` objects and interprets primitives; the stack is thread-local. At the bottom stands
evaluation. The dynamic trace, when there is one, handles every operation that no tracer of a
higher level takes part in, so that functions are staged completely.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from bindax_core.errors import (
    AbstractionError,
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from bindax_core.kernel._aval import ValueType, is_value, register_value_type, unknown_type_message
from bindax_core.kernel._extended import as_extended
from bindax_core.kernel._source_info import describe_function
from bindax_core.runtime._operators import ArrayOperators

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class Origin:
    """What a trace was started for: a transformation and the user's function."""

    __slots__ = ("function", "transformation")

    def __init__(self, transformation: str, function: Callable[..., Any] | None = None) -> None:
        self.transformation = transformation
        self.function = function

    def __str__(self) -> str:
        if self.function is None:
            return self.transformation
        return f"{self.transformation} of {describe_function(self.function)}"


class MainTrace:
    """One active interpreter: an entry of the trace stack.

    Attributes:
        level: its height in the stack; higher levels handle operations first.
        trace_type: the class of its trace.
        global_data: whatever the interpreter needs to keep, such as the size of a batch axis.
        origin: what it was started for, for messages.
        alive: whether it is still on the stack.
        trace: its trace, which boxes values and interprets primitives.
    """

    __slots__ = ("alive", "global_data", "level", "origin", "stack", "trace", "trace_type")

    def __init__(
        self,
        level: int,
        trace_type: type[Trace],
        global_data: Any = None,
        origin: Origin | None = None,
        stack: list[MainTrace] | None = None,
    ) -> None:
        self.level = level
        self.trace_type = trace_type
        self.global_data = global_data
        self.origin = origin or Origin(trace_type.__name__)
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

    def lift(self, tracer: Tracer) -> Any:
        """Box a tracer of a lower level."""
        return self.pure(tracer)

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Sequence[Any]:
        """Interpret a primitive applied to tracers of this trace; returns its results."""
        raise TypeError(f"{type(self).__name__} must define process_primitive")


class Tracer(ArrayOperators):
    """A value boxed by a trace. It has the operators and methods of arrays."""

    __slots__ = ("__weakref__", "_trace")

    _trace: Trace

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        register_value_type(ValueType(cls, lambda tracer: tracer.aval))

    @property
    def aval(self) -> Any:
        """The abstract value: shape, dtype and weak type."""
        raise TypeError(f"{type(self).__name__} must define aval")

    def full_lower(self) -> Any:
        """The value without this box, when the box tells nothing."""
        return self

    def concrete(self) -> Any:
        """The concrete value behind the box, or None when there is none."""
        return None

    def history(self) -> str:
        """Where the value comes from, for messages; may be empty."""
        return ""

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.aval.shape
        return shape

    @property
    def dtype(self) -> Any:
        dtype = self.aval.dtype
        return dtype if getattr(dtype, "names", None) is None else as_extended(dtype)

    @property
    def weak_type(self) -> bool:
        return bool(self.aval.weak_type)

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        return int(self.aval.size)

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of a traced value without axes.")
        return int(self.aval.shape[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval.str_short()}>"

    def _require_concrete(self, error: type[Exception], use: str, remedy: str) -> Any:
        value = self.concrete()
        if value is None:
            history = self.history()
            raise error(
                f"{use}, which needs a concrete value, but this one is traced: "
                f"{self.aval.str_short()} in {self._trace.main.origin}"
                f"{'; ' + history if history else ''}. {remedy}"
            )
        return value

    def __bool__(self) -> bool:
        value = self._require_concrete(
            TracerBoolConversionError,
            "a traced value was used as a truth value (in if, while, and, or, not)",
            "Use cond, while_loop or select_n, or make the argument static with static_argnums.",
        )
        return bool(value)

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def _number(self, name: str) -> Any:
        return self._require_concrete(
            ConcretizationTypeError,
            f"{name}() was called on a traced value",
            "Use .astype to change the dtype inside a traced function, or make the argument "
            "static with static_argnums.",
        )

    def item(self, *index: int) -> Any:
        """One element as a Python scalar; possible only while the value is concrete."""
        return self._number("item").item(*index)

    def __index__(self) -> int:
        value = self._require_concrete(
            TracerIntegerConversionError,
            "a traced value was used as a Python integer (an index, a size, an axis)",
            "Sizes and axes must be known while tracing: make the argument static with "
            "static_argnums, or index an array instead of a list.",
        )
        return int(value.__index__())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        history = self.history()
        raise TracerArrayConversionError(
            f"a traced value was handed to NumPy: {self.aval.str_short()} in "
            f"{self._trace.main.origin}{'; ' + history if history else ''}. Use the function of "
            f"bindax with the same name, or move the NumPy call out of the traced function."
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "arrays are immutable, so x[i] = y is not possible; make a changed copy with "
            "x.at[i].set(y)."
        )


class EvalTrace(Trace):
    """The interpreter at the bottom: evaluation, which boxes nothing."""

    __slots__ = ()

    def pure(self, value: Any) -> Any:
        return value

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Sequence[Any]:
        return primitive.evaluate(tracers, params)


class TraceState(threading.local):
    """The trace stack of a thread, and its dynamic trace."""

    def __init__(self) -> None:
        self.stack: list[MainTrace] = []
        self.stack.append(MainTrace(0, EvalTrace, None, Origin("evaluation"), self.stack))
        self.dynamic: MainTrace | None = None


trace_state = TraceState()

staging: list[MainTrace] = []
"""The dynamic traces of all threads: while there are none, none need be looked for."""


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
        origin: Origin | None = None,
        dynamic: bool = False,
    ) -> None:
        self.state = trace_state
        stack = self.state.stack
        self.main = MainTrace(len(stack), trace_type, global_data, origin, stack)
        self.dynamic = dynamic
        self.previous: MainTrace | None = None

    def __enter__(self) -> MainTrace:
        main = self.main
        main.level = len(self.state.stack)
        self.state.stack.append(main)
        if self.dynamic:
            staging.append(main)
            self.previous, self.state.dynamic = self.state.dynamic, main
        return main

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        main = self.main
        main.alive = False
        # Not a plain pop: a generator that was left half-way may have entries above this one.
        del self.state.stack[main.level :]
        if self.dynamic:
            self.state.dynamic = self.previous
            staging.remove(main)


class new_base:
    """Evaluate inside a ``with`` block even while something is being staged.

    Plugins are loaded so, or a constant that a module makes at import would be traced.
    """

    __slots__ = ("previous",)

    def __enter__(self) -> None:
        self.previous, trace_state.dynamic = trace_state.dynamic, None

    def __exit__(self, *error: object) -> None:
        trace_state.dynamic = self.previous


def find_top_trace(operands: Sequence[Any]) -> Trace:
    """The trace that handles an operation: the highest of its operands', or the dynamic one."""
    state = trace_state
    stack = state.stack
    top = stack[0]
    for x in operands:
        if isinstance(x, Tracer):
            main = x._trace.main
            if not main.alive or main.stack is not stack:
                raise UnexpectedTracerError(escaped_message(x))
            if main.level > top.level:
                top = main
    dynamic = state.dynamic
    if dynamic is not None and dynamic.level > top.level:
        top = dynamic
    return top.trace


def full_raise(trace: Trace, x: Any) -> Any:
    """Box a value for a trace, unless it is boxed for it already."""
    if not isinstance(x, Tracer):
        if not is_value(x):
            raise AbstractionError(unknown_type_message(x))
        return trace.pure(x)
    main = x._trace.main
    if main is trace.main:
        return x
    if not main.alive or main.stack is not trace.main.stack:
        raise UnexpectedTracerError(escaped_message(x))
    if main.level < trace.main.level:
        return trace.lift(x)
    raise UnexpectedTracerError(escaped_message(x))


def full_lower(x: Any) -> Any:
    """Take a value out of the boxes that tell nothing."""
    return x.full_lower() if isinstance(x, Tracer) else x


def escaped_message(x: Tracer) -> str:
    """The text of the error for a tracer that is used where its trace is not active."""
    main = x._trace.main
    history = x.history()
    made = f"; {history}" if history else ""
    if main.alive and main.stack is not trace_state.stack:
        how = "is used in another thread than the one that traces it"
    else:
        how = "escaped from it and is used after it ended"
    return (
        f"a traced value {x.aval.str_short()}, made in {main.origin}{made}, {how}. Return it from "
        f"the function instead of keeping it in a variable, attribute or container outside."
    )
