"""References: variables that hold an array, which functions read and write.

A jaxpr is a function of values, so it holds no references. While a function is staged, its reads
and writes act on values: the first use of a reference from outside makes its value an argument of
the jaxpr, and what it holds in the end is a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from bindax_core.extend import (
    DebugInfo,
    MainTrace,
    Tracer,
    Var,
    describe_function,
    full_lower,
    full_raise,
    operations_for,
    trace_state,
    typeof,
)
from bindax_transforms._typed import Typed
from bindax_transforms.manual_axes import same_on_devices, varying_along, varying_of
from bindax_transforms.staging.jaxpr_trace import JaxprBuilder, JaxprTrace, JaxprTracer


class Reference(Typed):
    """A variable that holds a value of one type; base of the references that packages define.

    Transformations carry references: ``jit``, loops and branches take what a reference holds as an
    operand, and return what it holds then. A subclass gives users the operations. It may override
    ``load`` and ``store``, to refer to a part of another reference, and has no equality but
    identity.

    Attributes:
        aval: the type of the values.
        is_kept: whether a rule of a custom function has it, which runs when the function that it
            was passed to has ended.

    >>> from bindax_transforms import jit
    >>> counter = Reference(1.0)
    >>> @jit
    ... def double():
    ...     counter.store(counter.load() * 2.0)
    >>> double()
    >>> double()
    >>> float(counter.load())
    4.0
    """

    __bindax_remedy__ = "It is a mutable array reference: read its value with ref[...]."

    def __init__(self, value: Any) -> None:
        value = strong(full_lower(value))
        self.aval: Any = typeof(value)
        self._main: MainTrace = trace_state.stack[-1]
        self._builder: JaxprBuilder | None = _staging()[1]
        self._value: Any = value
        self._ended: str = ""
        self.is_kept: bool = False

    def load(self) -> Any:
        """Return the value that it holds.

        Raises:
            ValueError: when it was freed, the transformation that it was made in has ended, or it
                is used where no program can carry its value.
        """
        builder = self._checked()
        while builder is not self._builder and builder is not None and builder.around is not None:
            builder = builder.around  # what stands in another jaxpr may use the values of that
        return self._value if builder is self._builder else _values_in(builder, self)[self]

    def store(self, value: Any) -> None:
        """Replace the value that it holds by one of the same type.

        Raises:
            ValueError: as of ``load``, and when the value belongs to a transformation inside of
                the one that the reference was made in, or is of another type.
        """
        builder = self._checked()
        value = strong(full_lower(value))
        if typeof(value) != self.aval:
            value = varying_along(value, varying_of([self.aval]))
        aval = typeof(value)
        if builder is self._builder and same_on_devices(aval) == same_on_devices(self.aval):
            self.aval = aval
        if aval != self.aval:
            advice = "Convert the value to the type of the reference"
            if varying_of([aval]) > varying_of([self.aval]):
                advice += ", or begin with one that is cast by pcast(..., to='varying')"
            raise ValueError(
                f"a mutable array reference of type {self.aval.str_short()} cannot hold a value "
                f"of type {aval.str_short()}. {advice}."
            )
        if builder is self._builder:
            _check_level(value, self._main)
            self._value = value
            return
        main = _staging()[0]
        if builder is not None and builder.around is not None:
            raise ValueError(
                f"a mutable array reference from outside was written in a function with rules of "
                f"its own, which is traced for {main.origin} and has no effects but its results. "
                f"Write to it before or after the call."
            )
        values = _values_in(builder, self)
        _check_level(value, main)
        values[self] = full_raise(main.trace, value)

    def end(self, why: str) -> Any:
        """Return the value, and make each later use an error that says why.

        Raises:
            ValueError: when the reference belongs to a function around the one that is traced.
        """
        value = self.load()
        if _staging()[1] is not self._builder:
            raise ValueError(
                f"a mutable array reference was {why} in {_staging()[0].origin}, which it was not "
                f"made in. Do it in the function that made the reference."
            )
        self._ended, self._value = why, None
        return value

    @property
    def origin(self) -> DebugInfo:
        """The transformation and the function that it was made in."""
        return self._main.origin

    @property
    def is_lasting(self) -> bool:
        """True if it outlives all transformations that run."""
        return self._main.level == 0

    @classmethod
    def stand_in(cls, value: Any) -> Self:
        """A reference for a function that is staged or batched, in place of an argument."""
        return cls(value)

    @property
    def kind(self) -> type[Reference]:
        """The class of references in place of this one."""
        return type(self)

    def element(self, index: Any) -> Reference:
        """The part that a step of a loop along the first axis gets."""
        raise TypeError(f"{type(self).__name__} must define element")

    def _checked(self) -> Any:
        """The builder of the jaxpr that uses are part of, if the reference can be used."""
        if self._ended:
            raise ValueError(
                f"a mutable array reference of type {self.aval.str_short()} was used after it was "
                f"{self._ended}. Use it before, or make a new one."
            )
        if not self._main.alive:
            raise ValueError(
                f"a mutable array reference of type {self.aval.str_short()} was used after the end "
                f"of {self.origin}, which it was made in or passed to. Make it outside, or return "
                f"its value."
            )
        return _staging()[1]

    def __deepcopy__(self, memo: Any) -> Self:
        return self.stand_in(self.load())

    def __reduce__(self) -> Any:
        raise TypeError("a mutable array reference cannot be pickled. Store its value: ref[...].")


def strong(value: Any) -> Any:
    """The value, with a type that is not weak: a reference keeps one type."""
    aval = typeof(value)
    if not getattr(aval, "weak_type", False):
        return value
    return operations_for(aval).convert(value, aval.dtype, False)


def _staging() -> tuple[Any, Any]:
    """The trace that stages now, and the builder of its jaxpr; None each in evaluation."""
    if trace_state.dynamic is None:
        return None, None
    for main in reversed(trace_state.stack):
        if main.trace_type is JaxprTrace:
            return main, main.global_data
    return None, None


def _values_in(builder: Any, reference: Reference) -> dict[Any, Any]:
    """The values of references in a jaxpr, with that of one which is from outside of it."""
    kind = reference.aval.str_short()
    if builder is None:
        raise ValueError(
            f"a mutable array reference of type {kind}, which was made in {reference.origin}, was "
            f"used where nothing is traced. Read its value before."
        )
    main = _staging()[0]
    if not builder.carries_references:
        raise ValueError(
            f"a mutable array reference of type {kind} was used in a function that is traced for "
            f"{main.origin}, which carries no references. Read it before and pass its value. The "
            f"rules of a custom function use references where its derivative is not traced apart: "
            f"jit(grad(f)) in place of grad(jit(f))."
        )
    if builder.references is None:
        builder.references, builder.values_of = {}, {}
    values = builder.values_of
    if reference not in values:
        values[reference] = JaxprTracer(main.trace, reference.aval, Var(reference.aval))
        builder.references[reference] = values[reference].atom
    return values  # type: ignore[no-any-return]


def _check_level(value: Any, main: MainTrace) -> None:
    """Raise when a value belongs to a transformation inside of the trace of a reference."""
    if not isinstance(value, Tracer) or value._trace.main.level <= main.level:
        return
    inner = value._trace.main
    if inner.trace_type.__name__ == "BatchTrace":
        raise ValueError(
            f"a batch of {inner.origin} was written to an unbatched array reference, which was "
            f"made outside. Move the array reference into the function, or pass it as an argument "
            f"that is mapped."
        )
    raise ValueError(
        f"a value of {inner.origin} was written to a mutable array reference that was made "
        f"outside and cannot hold its derivative. Move the array reference into the function, or "
        f"write the value after stop_gradient."
    )


def has_references(values: Iterable[Any]) -> bool:
    """Tell whether there is a reference among values."""
    for x in values:  # noqa: SIM110  # half as long as any() of a generator
        if isinstance(x, Reference):
            return True
    return False


def check_distinct(references: Iterable[Any], names: Callable[[], list[str]]) -> None:
    """Raise when two arguments are one reference.

    Args:
        references: for each argument it, or what is no reference.
        names: gives the names of the arguments.
    """
    seen: dict[int, int] = {}
    for i, x in enumerate(references):
        if isinstance(x, Reference) and i != seen.setdefault(id(x), i):
            first, second = names()[seen[id(x)]], names()[i]
            raise ValueError(
                f"the same mutable array reference appeared at both {first} and {second}: only one "
                f"reference to a mutable array may be passed as an argument. Pass it once."
            )


def returned_error(reference: Reference, origin: DebugInfo, path: str) -> ValueError:
    """The error for a function that returns a reference at a path of its output."""
    function = "a function" if origin.function is None else describe_function(origin.function)
    return ValueError(
        f"{function} traced for {origin.transformation} returned a mutable array reference of "
        f"type {reference.aval.str_short()} at {path}. Return its value, ref[...]; what is written "
        f"to a reference from outside stays there."
    )


def argument_error(reference: Reference, place: str) -> ValueError:
    """The error for a reference where only values can be."""
    return ValueError(
        f"{place} is a mutable array reference of type {reference.aval.str_short()}, which cannot "
        f"be passed there. Pass its value, ref[...], or let the function close over the reference."
    )
