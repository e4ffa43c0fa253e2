"""The operators of variables: those of the value, and the ones that change it in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def _value(x: Any) -> Any:
    return x.value if isinstance(x, VariableOperators) else x


class VariableOperators:
    """Base of ``Variable``: each operator is applied to the value."""

    __slots__ = ()
    # NumPy arrays on the left leave the operation to the variable.
    __array_ufunc__ = None

    value: Any

    def __add__(self, other: Any) -> Any:
        return self.value + _value(other)

    def __radd__(self, other: Any) -> Any:
        return other + self.value

    def __sub__(self, other: Any) -> Any:
        return self.value - _value(other)

    def __rsub__(self, other: Any) -> Any:
        return other - self.value

    def __mul__(self, other: Any) -> Any:
        return self.value * _value(other)

    def __rmul__(self, other: Any) -> Any:
        return other * self.value

    def __matmul__(self, other: Any) -> Any:
        return self.value @ _value(other)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.value

    def __truediv__(self, other: Any) -> Any:
        return self.value / _value(other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.value

    def __floordiv__(self, other: Any) -> Any:
        return self.value // _value(other)

    def __rfloordiv__(self, other: Any) -> Any:
        return other // self.value

    def __mod__(self, other: Any) -> Any:
        return self.value % _value(other)

    def __rmod__(self, other: Any) -> Any:
        return other % self.value

    def __divmod__(self, other: Any) -> Any:
        return divmod(self.value, _value(other))

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(other, self.value)

    def __pow__(self, other: Any) -> Any:
        return self.value ** _value(other)

    def __rpow__(self, other: Any) -> Any:
        return other**self.value

    def __and__(self, other: Any) -> Any:
        return self.value & _value(other)

    def __rand__(self, other: Any) -> Any:
        return other & self.value

    def __or__(self, other: Any) -> Any:
        return self.value | _value(other)

    def __ror__(self, other: Any) -> Any:
        return other | self.value

    def __xor__(self, other: Any) -> Any:
        return self.value ^ _value(other)

    def __rxor__(self, other: Any) -> Any:
        return other ^ self.value

    def __lshift__(self, other: Any) -> Any:
        return self.value << _value(other)

    def __rlshift__(self, other: Any) -> Any:
        return other << self.value

    def __rshift__(self, other: Any) -> Any:
        return self.value >> _value(other)

    def __rrshift__(self, other: Any) -> Any:
        return other >> self.value

    def __lt__(self, other: Any) -> Any:
        return self.value < _value(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= _value(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > _value(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= _value(other)

    def __eq__(self, other: object) -> Any:
        return self.value == _value(other)

    def __ne__(self, other: object) -> Any:
        return self.value != _value(other)

    def __neg__(self) -> Any:
        return -self.value

    def __pos__(self) -> Any:
        return +self.value

    def __abs__(self) -> Any:
        return abs(self.value)

    def __invert__(self) -> Any:
        return ~self.value

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

    def __iadd__(self, other: Any) -> Any:
        self.value = self.value + _value(other)
        return self

    def __isub__(self, other: Any) -> Any:
        self.value = self.value - _value(other)
        return self

    def __imul__(self, other: Any) -> Any:
        self.value = self.value * _value(other)
        return self

    def __imatmul__(self, other: Any) -> Any:
        self.value = self.value @ _value(other)
        return self

    def __itruediv__(self, other: Any) -> Any:
        self.value = self.value / _value(other)
        return self

    def __ifloordiv__(self, other: Any) -> Any:
        self.value = self.value // _value(other)
        return self

    def __imod__(self, other: Any) -> Any:
        self.value = self.value % _value(other)
        return self

    def __ipow__(self, other: Any) -> Any:
        self.value = self.value ** _value(other)
        return self

    def __iand__(self, other: Any) -> Any:
        self.value = self.value & _value(other)
        return self

    def __ior__(self, other: Any) -> Any:
        self.value = self.value | _value(other)
        return self

    def __ixor__(self, other: Any) -> Any:
        self.value = self.value ^ _value(other)
        return self

    def __ilshift__(self, other: Any) -> Any:
        self.value = self.value << _value(other)
        return self

    def __irshift__(self, other: Any) -> Any:
        self.value = self.value >> _value(other)
        return self

    # Two variables are one only if they are the same object, whatever `==` says of their values.
    __hash__ = object.__hash__
