"""Numbers of Python and NumPy as operands: which dtype they have, and whether it is weak.

``config.enable_x64`` decides that, for the thread that asks.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from bindax_core.arrays._settings import config
from bindax_core.arrays._shaped_array import ShapedArray, float0
from bindax_core.errors import AbstractionError
from bindax_core.kernel._aval import AbstractValue, ValueType, register_value_type

DType = np.dtype[Any]

_NARROWED: Final[dict[DType, DType]] = {
    np.dtype(wide): np.dtype(narrow)
    for wide, narrow in (
        (np.int64, np.int32),
        (np.uint64, np.uint32),
        (np.float64, np.float32),
        (np.complex128, np.complex64),
    )
}

_PYTHON: Final[dict[type, type]] = {
    bool: np.bool_,
    int: np.int64,
    float: np.float64,
    complex: np.complex128,
}
"""Python's numbers, and the NumPy scalars that have their precision."""


def canonicalize_dtype(dtype: DType) -> DType:
    """The dtype that values of a dtype have inside: with 64 bits disabled, one of 32 bits."""
    return dtype if config.enable_x64 is not False else _NARROWED.get(dtype, dtype)


def canonicalize_aval(aval: AbstractValue) -> AbstractValue:
    """The type that values of a type have inside: with 64 bits disabled, one of 32 bits."""
    if not isinstance(aval, ShapedArray):
        return aval
    if aval.placement is not None:
        aval = aval.lying(aval.placement)
    return aval.update(dtype=canonicalize_dtype(aval.dtype))


def canonicalize_array(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that a NumPy array is inside: with 64 bits disabled, one of 32 bits."""
    dtype = canonicalize_dtype(x.dtype.newbyteorder("="))
    if dtype == x.dtype:
        return x
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        return x.astype(dtype)


@cache  # types of the NumPy arrays that were met live as long as the process anyway
def _array_type(shape: tuple[int, ...], dtype: DType) -> ShapedArray:
    if dtype.hasobject or dtype.kind in "SUMm" or (dtype.names is not None and dtype != float0):
        raise AbstractionError(
            f"a NumPy array of dtype {dtype} and shape {shape} is not a legal operand: only "
            f"booleans and numbers are. Convert it with .astype, or pass it as static."
        )
    return ShapedArray(shape, dtype if dtype.isnative else dtype.newbyteorder("="))


def _admitted_array_type(x: np.ndarray[Any, Any]) -> ShapedArray:
    aval = _array_type(x.shape, x.dtype)
    if config.enable_x64 is False:
        return ShapedArray(aval.shape, _NARROWED.get(aval.dtype, aval.dtype))
    return aval


def _narrow(x: Any, aval: Any) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        return np.asarray(x, aval.dtype)


def _of_numpy(x: Any, aval: Any) -> np.ndarray[Any, Any]:
    return _narrow(x, aval) if config.enable_x64 is False else np.asarray(x, aval.dtype)


def _python_number(x: Any, aval: Any) -> np.ndarray[Any, Any]:
    try:
        return _narrow(x, aval)
    except OverflowError:
        bits = 8 * aval.dtype.itemsize
        raise OverflowError(
            f"the Python integer {x} does not fit into {aval.dtype.name}; use a float, or "
            f"reduce it modulo 2**{bits} first."
        ) from None


def _covers(type_: type) -> bool:
    """Tell whether instances of a subclass are legal operands: all but masked arrays."""
    return not (issubclass(type_, np.ndarray) and hasattr(type_, "mask"))


def _register(type_: type, wide: DType) -> None:
    """Register a type of Python's numbers, and the NumPy scalars that have its precision."""
    weak, narrowed = wide != np.bool_, _NARROWED.get(wide, wide)
    wide_type, narrow_type = ShapedArray((), wide, weak), ShapedArray((), narrowed, weak)

    def of_python(x: Any) -> ShapedArray:
        return narrow_type if config.enable_x64 is False else wide_type

    def of_numpy(x: Any) -> ShapedArray:  # as weak as Python's numbers in the explicit mode
        return wide_type if config.enable_x64 == "explicit" else _admitted_array_type(x)

    register_value_type(ValueType(type_, of_python, _python_number, _covers))
    register_value_type(ValueType(wide.type, of_numpy, _of_numpy, _covers))


for _type, _wide in _PYTHON.items():
    _register(_type, np.dtype(_wide))
# np.generic stands for every NumPy scalar type, ml_dtypes' included, through the fallback of
# find_value_type; the common ones are named to make them one dict lookup.
for _type in (np.ndarray, np.generic, np.int32, np.float32):
    register_value_type(ValueType(_type, _admitted_array_type, _of_numpy, _covers))
