"""The type that users ask for: arrays, traced ones included."""

from __future__ import annotations

from typing import Any, NoReturn

from bindax_core._extension_points import runtime
from bindax_core.arrays._array import Array
from bindax_core.kernel._trace import Tracer


class _ArrayType(type):
    """Makes the class below answer for arrays, traced or not."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (Array, Tracer))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, (Array, Tracer)) or super().__subclasscheck__(subclass)

    def __getattr__(cls, name: str) -> Any:
        # Methods of arrays, as functions of an array; plugins supply them.
        if not name.startswith("__") and not hasattr(Array, name):
            runtime.plugins.load_for_operations(name)
        return getattr(Array, name)


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
