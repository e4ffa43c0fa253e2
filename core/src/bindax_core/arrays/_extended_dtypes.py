"""Extended dtypes: dtypes that a plugin defines, such as that of random keys.

An extended dtype is a NumPy dtype of one field: the field's name is the dtype's, its type the
physical dtype, its shape that of one element. So an array of them on the host is a NumPy array,
which NumPy's structural functions take as it is; a type says by itself what it is made of; and no
operation needs code for it. Compilers are given physical arrays; the axes of elements come last.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

NumPyArray = np.ndarray[Any, Any]


class extended(np.generic):
    """The kind of all extended dtypes, for ``issubdtype``.

    >>> issubclass(extended, np.generic)
    True
    """


class ExtendedDType:
    """A dtype that a plugin defines; arrays of it hide the arrays that represent them.

    Made by ``extended_dtype``. It stands wherever a dtype is asked for, and equals the NumPy dtype
    that represents it.

    Attributes:
        dtype: the NumPy dtype of one field that represents it.
        name: what arrays and programs print.
        base: the physical dtype.
        element_shape: the shape of the physical array of one element.
        type: its kind, a subclass of ``extended``.
    """

    __slots__ = ("base", "dtype", "element_shape", "name", "type")

    kind = "V"
    isnative = True

    name: str

    def __init__(self, dtype: np.dtype[Any], type: type[Any] = extended) -> None:
        (self.name,) = dtype.names or ("",)
        field = dtype[0]
        self.dtype: np.dtype[Any] = dtype
        self.base: np.dtype[Any] = field.base
        self.element_shape: tuple[int, ...] = field.shape
        self.type: builtins.type[Any] = type

    @property
    def itemsize(self) -> int:
        """The size of one element, in bytes."""
        return self.dtype.itemsize

    @property
    def names(self) -> tuple[str, ...] | None:
        """The field, as of NumPy's dtypes."""
        return self.dtype.names

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExtendedDType):
            return self.dtype == other.dtype
        return isinstance(other, np.dtype) and self.dtype == other

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_extended, (self.dtype,))


_KNOWN: dict[np.dtype[Any], ExtendedDType] = {}


def extended_dtype(
    name: str, base: Any, element_shape: tuple[int, ...], type: type[Any] = extended
) -> ExtendedDType:
    """Define a dtype whose elements are represented by small arrays.

    Args:
        name: what arrays and programs print, such as ``"key<fry>"``.
        base: the dtype of the arrays that represent elements.
        element_shape: their shape; no size is zero.
        type: its kind, a subclass of ``extended``, for ``issubdtype``.

    Raises:
        ValueError: when the shape is wrong, or the dtype is defined with another kind.

    >>> point = extended_dtype("point", np.float32, (3,))
    >>> point, point.itemsize
    (point, 12)
    """
    physical = np.dtype(base)
    if not element_shape or min(element_shape) < 1 or physical.names is not None:
        raise ValueError(
            f"the extended dtype {name!r} must be represented by arrays of numbers with at least "
            f"one axis, none of size 0, but it was given {physical} of shape {element_shape}."
        )
    dtype = np.dtype([(name, physical, tuple(element_shape))])
    found = _KNOWN.setdefault(dtype, ExtendedDType(dtype, type))
    if found.type is extended:
        found.type = type  # arrays of it were met before it was defined, in a pickle perhaps
    elif found.type is not type:
        raise ValueError(
            f"the extended dtype {name!r} is defined already, with the kind {found.type.__name__} "
            f"in place of {type.__name__}."
        )
    return found


def is_extended(dtype: Any) -> bool:
    """Tell whether a dtype is extended."""
    if isinstance(dtype, ExtendedDType):
        return True
    return dtype.names is not None and len(dtype.names) == 1 and dtype[0].shape not in ((), (0,))


def as_extended(dtype: Any) -> Any:
    """Return the extended dtype that a NumPy dtype represents, or the dtype itself."""
    if dtype.names is None or isinstance(dtype, ExtendedDType) or not is_extended(dtype):
        return dtype
    found = _KNOWN.get(dtype)
    return _KNOWN.setdefault(dtype, ExtendedDType(dtype)) if found is None else found


def physical_array(array: NumPyArray) -> NumPyArray:
    """The array that represents an array of an extended dtype, sharing its memory."""
    (name,) = array.dtype.names or ("",)
    physical: NumPyArray = array[name]
    return physical


def logical_array(array: NumPyArray, dtype: np.dtype[Any]) -> NumPyArray:
    """The array of an extended dtype that a physical array represents."""
    element_shape = dtype[0].shape
    ndim = array.ndim - len(element_shape)
    shape = array.shape[:ndim]
    flat = np.ascontiguousarray(array).reshape(*shape, math.prod(element_shape))
    logical: NumPyArray = flat.view(dtype)[..., 0]
    logical.flags.writeable = array.flags.writeable
    return logical
