"""Tracers of arrays, with operators and methods; and the type of arrays, traced ones included."""

from __future__ import annotations

from typing import Any, NoReturn

from bindax_core.arrays._array import Array
from bindax_core.arrays._operators import ArrayOperators
from bindax_core.arrays.sharding._types import ManualAxisType
from bindax_core.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)
from bindax_core.kernel._aval import typeof
from bindax_core.kernel._stack import full_lower
from bindax_core.kernel._trace import Trace, Tracer


class ArrayTracer(ArrayOperators, Tracer):
    """A traced array."""

    __slots__ = ()

    @property
    def mat(self) -> ManualAxisType:
        """The manual axes of a mesh in the type, inside of ``shard_map``."""
        return self.aval.mat  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of a traced value without axes.")
        return int(self.aval.shape[0])

    def _described(self) -> str:
        history = self.history()
        origin = f"{self.aval.str_short()} in {self._trace.main.origin}"
        return f"{origin}; {history}" if history else origin

    def _require_concrete(self, error: type[Exception], use: str, remedy: str) -> Any:
        value = self.concrete()
        if value is None:
            raise error(f"{use}: {self._described()}. {remedy}")
        return value

    def __bool__(self) -> bool:
        size = self.aval.size
        if type(size) is int and size != 1:
            many = "an array with more than one element" if size else "an empty array"
            raise ValueError(
                f"The truth value of {many} is ambiguous: {self._described()}. Use x.any(), "
                f"x.all() or x.size, or choose element by element with bindax.numpy.where."
            )
        value = self._require_concrete(
            TracerBoolConversionError,
            "Attempted boolean conversion of a traced value (by if, while, and, or, not)",
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
        self._require_scalar()
        return self._value_for(name, f"To change the dtype, try using `x.astype({name})`")

    def _value_for(self, name: str, remedy: str) -> Any:
        return self._require_concrete(
            ConcretizationTypeError,
            f"Abstract tracer value encountered where concrete value is expected, by {name}()",
            f"{remedy}, or make the argument static with static_argnums.",
        )

    def item(self, *index: int) -> Any:
        """One element as a Python scalar; possible only while the value is concrete."""
        return self._value_for("item", "Index the array").item(*index)

    def __index__(self) -> int:
        self._require_index()
        value = self._require_concrete(
            TracerIntegerConversionError,
            "The __index__() method was called on traced array, for an index, a size or an axis",
            "Sizes and axes must be known while tracing: make the argument static with "
            "static_argnums, or index an array instead of a list.",
        )
        return int(value.__index__())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TracerArrayConversionError(
            f"The numpy.ndarray conversion of a traced value: {self._described()}. Use the "
            f"function of bindax.numpy of the same name, or move the call of NumPy outside."
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "arrays are immutable, so x[i] = y is not possible; make a changed copy with "
            "x.at[i].set(y)."
        )


class ValueTracer(ArrayTracer):
    """A tracer of an interpreter whose boxes hold a value, and what more is known of it.

    Subclasses override ``is_plain``, or the methods that do not follow from the value.
    """

    __slots__ = ("value",)

    value: Any

    def __init__(self, trace: Trace, value: Any) -> None:
        self._trace = trace
        self.value = value

    @property
    def is_plain(self) -> bool:
        """Tell whether nothing is known beside the value."""
        return False

    @property
    def aval(self) -> Any:
        """The type of the value."""
        return typeof(self.value)

    def full_lower(self) -> Any:
        """The value without this box, when it is plain."""
        return full_lower(self.value) if self.is_plain else self

    def concrete(self) -> Any:
        """The value, where no interpreter below traces it."""
        value = self.value
        return value.concrete() if isinstance(value, Tracer) else value

    def history(self) -> str:
        """Where the interpreter below has the value from."""
        value = self.value
        return value.history() if isinstance(value, Tracer) else ""


class _ArrayType(type):
    """Makes the class below answer for arrays, traced or not."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (Array, Tracer))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, (Array, Tracer)) or super().__subclasscheck__(subclass)

    def __getattr__(cls, name: str) -> Any:
        return getattr(Array, name)  # methods of arrays, as functions of an array


class AnyArray(metaclass=_ArrayType):
    """The type of arrays, to ask for with ``isinstance``; a traced array is an instance, too.

    Public as ``bindax.Array`` and ``bindax.numpy.ndarray``.

    >>> import numpy as np
    >>> isinstance(Array.from_numpy(np.ones(2)), AnyArray), isinstance(np.ones(2), AnyArray)
    (True, False)
    >>> AnyArray.tolist(Array.from_numpy(np.ones(2)))
    [1.0, 1.0]
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise: arrays are made by functions."""
        raise TypeError("Array is a type to ask for; make arrays with array, zeros and the like.")
