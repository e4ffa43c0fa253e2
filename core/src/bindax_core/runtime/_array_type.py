"""The type that users ask for: arrays, traced ones included."""

from __future__ import annotations

from typing import Any, NoReturn

from bindax_core.kernel._trace import Tracer
from bindax_core.runtime._array import Array


class _ArrayType(type):
    """Makes the class below answer for arrays, traced or not."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (Array, Tracer))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, (Array, Tracer)) or super().__subclasscheck__(subclass)


class AnyArray(metaclass=_ArrayType):
    """The type of arrays, to ask for with ``isinstance``; a traced array is an instance, too.

    Public as ``bindax.Array`` and ``bindax.numpy.ndarray``.

    >>> import numpy as np
    >>> isinstance(Array.from_numpy(np.ones(2)), AnyArray), isinstance(np.ones(2), AnyArray)
    (True, False)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise: arrays are made by functions."""
        raise TypeError("Array is a type to ask for; make arrays with array, zeros and the like.")
