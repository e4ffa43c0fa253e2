"""The operators of variables: those of the value, and the ones that change it in place."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from bindax_nnx._operator_types import OperatorTypes
else:
    OperatorTypes = object

F = TypeVar("F", bound=Callable[..., Any])


def _value(x: Any) -> Any:
    return x.value if isinstance(x, VariableOperators) else x


def _named(method: F, operation: Callable[..., Any], prefix: str = "") -> F:
    method.__name__ = f"__{prefix}{operation.__name__.strip('_')}__"
    method.__qualname__ = f"VariableOperators.{method.__name__}"
    return method


def _unary(operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return operation(self.value)

    return _named(method, operation)


def _binary(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return operation(self.value, _value(other))

    return _named(method, operation)


def _reflected(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return operation(other, self.value)

    return _named(method, operation, "r")


def _in_place(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        self.value = operation(self.value, _value(other))
        return self

    return _named(method, operation, "i")


class VariableOperators(OperatorTypes):
    """Base of ``Variable``: each operator is applied to the value."""

    __slots__ = ()
    # NumPy arrays on the left leave the operation to the variable.
    __array_ufunc__ = None

    value: Any

    if not TYPE_CHECKING:  # they see what the stub says
        __neg__ = _unary(operator.neg)
        __pos__ = _unary(operator.pos)
        __abs__ = _unary(operator.abs)
        __invert__ = _unary(operator.invert)

        __add__ = _binary(operator.add)
        __sub__ = _binary(operator.sub)
        __mul__ = _binary(operator.mul)
        __matmul__ = _binary(operator.matmul)
        __truediv__ = _binary(operator.truediv)
        __floordiv__ = _binary(operator.floordiv)
        __mod__ = _binary(operator.mod)
        __divmod__ = _binary(divmod)
        __pow__ = _binary(operator.pow)
        __and__ = _binary(operator.and_)
        __or__ = _binary(operator.or_)
        __xor__ = _binary(operator.xor)
        __lshift__ = _binary(operator.lshift)
        __rshift__ = _binary(operator.rshift)
        __lt__ = _binary(operator.lt)
        __le__ = _binary(operator.le)
        __gt__ = _binary(operator.gt)
        __ge__ = _binary(operator.ge)
        __eq__ = _binary(operator.eq)
        __ne__ = _binary(operator.ne)

        __radd__ = _reflected(operator.add)
        __rsub__ = _reflected(operator.sub)
        __rmul__ = _reflected(operator.mul)
        __rmatmul__ = _reflected(operator.matmul)
        __rtruediv__ = _reflected(operator.truediv)
        __rfloordiv__ = _reflected(operator.floordiv)
        __rmod__ = _reflected(operator.mod)
        __rdivmod__ = _reflected(divmod)
        __rpow__ = _reflected(operator.pow)
        __rand__ = _reflected(operator.and_)
        __ror__ = _reflected(operator.or_)
        __rxor__ = _reflected(operator.xor)
        __rlshift__ = _reflected(operator.lshift)
        __rrshift__ = _reflected(operator.rshift)

        __iadd__ = _in_place(operator.add)
        __isub__ = _in_place(operator.sub)
        __imul__ = _in_place(operator.mul)
        __imatmul__ = _in_place(operator.matmul)
        __itruediv__ = _in_place(operator.truediv)
        __ifloordiv__ = _in_place(operator.floordiv)
        __imod__ = _in_place(operator.mod)
        __ipow__ = _in_place(operator.pow)
        __iand__ = _in_place(operator.and_)
        __ior__ = _in_place(operator.or_)
        __ixor__ = _in_place(operator.xor)
        __ilshift__ = _in_place(operator.lshift)
        __irshift__ = _in_place(operator.rshift)

    # Two variables are one only if they are the same object, whatever `==` says of their values.
    __hash__ = object.__hash__

    def __round__(self, digits: int = 0) -> Any:
        return round(self.value, digits)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)

    def __index__(self) -> int:
        index: int = self.value.__index__()
        return index

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __contains__(self, item: Any) -> bool:
        return item in self.value

    def __bindax_array__(self) -> Any:
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.value, dtype) if copy else np.asarray(self.value, dtype)
