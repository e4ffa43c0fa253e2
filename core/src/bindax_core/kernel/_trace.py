"""Traces and tracers: what an interpreter is made of.

A ``MainTrace`` is one active interpreter with its level; a ``Trace`` boxes values for it into
``Tracer`` objects and interprets primitives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, Self

from bindax_core.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from bindax_core.kernel._aval import ValueType, find_value_type, register_value_type, value_types
from bindax_core.kernel._extended import as_extended
from bindax_core.runtime._functions import describe_function
from bindax_core.runtime._operators import ArrayOperators
from bindax_core.runtime._rule_keeps import keeper_of
from bindax_core.runtime._wrapped import content

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class Origin:
    """The origin of a trace: a transformation and the user's function."""

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

    def boxed(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Box the operands of a primitive."""
        main = self.main
        return [
            x if isinstance(x, Tracer) and x._trace.main is main else full_raise(self, x)
            for x in operands
        ]

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
        register_value_type(ValueType(cls, attrgetter("aval")))

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
        return self.aval.size  # type: ignore[no-any-return]

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
            "Use bindax.lax.cond, bindax.lax.while_loop or bindax.numpy.where, or make the "
            "argument static with static_argnums.",
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
            f"bindax.numpy with the same name, or move the NumPy call out of the traced function."
        )

    def __copy__(self, memo: Any = None) -> Self:
        return self  # values do not change, so one that is traced is its own copy

    __deepcopy__ = __copy__

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "arrays are immutable, so x[i] = y is not possible; make a changed copy with "
            "x.at[i].set(y)."
        )


def full_raise(trace: Trace, x: Any) -> Any:
    """Box a value for a trace, unless it is boxed for it already."""
    if not isinstance(x, Tracer):
        if type(x) in value_types or find_value_type(type(x)) is not None:
            return trace.pure(x)
        return full_raise(trace, content(x))
    main = x._trace.main
    if main is trace.main:
        return x
    if not main.alive or main.stack is not trace.main.stack:
        raise UnexpectedTracerError(escaped_message(x, trace.main.stack))
    if main.level < trace.main.level:
        return trace.lift(x)
    raise UnexpectedTracerError(escaped_message(x, trace.main.stack))


def escaped_message(x: Tracer, stack: Any) -> str:
    """The text of the error for a tracer that a thread uses where its trace is not active."""
    main = x._trace.main
    history = x.history()
    made = f"; {history}" if history else ""
    keeper = "" if main.alive else keeper_of(main)
    if main.alive and main.stack is not stack:
        how = "is used in another thread than the one that traces it"
    else:
        how = "escaped from it and is used after it ended"
    return (
        f"a traced value {x.aval.str_short()}, made in {main.origin}{made}, {how}."
        f"{keeper} Return it from the function instead of keeping it in a variable, "
        f"attribute or container outside."
    )
