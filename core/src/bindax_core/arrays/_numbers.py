"""Numbers of Python and NumPy as operands: which dtype they have, and whether it is weak.

``config.enable_x64`` decides that: each of its values has a table of value types, so that asking
for the type of an operand costs the same in all of them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bindax_core.arrays._shaped_array import ShapedArray, float0
from bindax_core.errors import AbstractionError
from bindax_core.kernel._aval import AbstractValue, ValueType, register_value_type, value_types
from bindax_core.kernel._settings import config

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


def admitted_dtype(dtype: DType) -> DType:
    """The dtype that values of a dtype have inside: with 64 bits disabled, one of 32 bits."""
    return dtype if config.enable_x64 is not False else _NARROWED.get(dtype, dtype)


def admitted_type(aval: AbstractValue) -> AbstractValue:
    """The type that values of a type have inside: with 64 bits disabled, one of 32 bits."""
    if not isinstance(aval, ShapedArray):
        return aval
    if aval.placement is not None:
        aval = aval.update(sharding=None)
    return aval.update(dtype=admitted_dtype(aval.dtype))


def admitted_array(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that a NumPy array is inside: with 64 bits disabled, one of 32 bits."""
    dtype = admitted_dtype(x.dtype.newbyteorder("="))
    if dtype == x.dtype:
        return x
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        return x.astype(dtype)


def _array_type(x: np.ndarray[Any, Any]) -> ShapedArray:
    dtype = x.dtype
    if dtype.hasobject or dtype.kind in "SUMm" or (dtype.names is not None and dtype != float0):
        raise AbstractionError(
            f"a NumPy array of dtype {dtype} and shape {x.shape} is not a legal operand: only "
            f"booleans and numbers are. Convert it with .astype, or pass it as static."
        )
    if not dtype.isnative:
        dtype = dtype.newbyteorder("=")
    return ShapedArray(x.shape, dtype)


def _narrow_array_type(x: np.ndarray[Any, Any]) -> ShapedArray:
    aval = _array_type(x)
    return ShapedArray(aval.shape, _NARROWED.get(aval.dtype, aval.dtype))


def _native(x: Any, aval: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x, aval.dtype)


def _narrow(x: Any, aval: Any) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        return np.asarray(x, aval.dtype)


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


def _scalar(type_: type, dtype: DType, to_numpy: Any) -> ValueType:
    aval = ShapedArray((), dtype, weak_type=dtype != np.bool_)
    return ValueType(type_, lambda x: aval, to_numpy, _covers)


# np.generic stands for every NumPy scalar type, ml_dtypes' included, through the fallback of
# find_value_type; the common ones are named to make them one dict lookup.
_NUMPY: Final = (np.ndarray, np.generic, np.bool_, np.int32, np.int64, np.float32, np.float64)


def _types(mode: Any) -> dict[type, ValueType]:
    """The types of operands, by what ``config.enable_x64`` is."""
    narrowed = _NARROWED if mode is False else {}
    numbers = [(type_, np.dtype(wide)) for type_, wide in _PYTHON.items()]
    found = [_scalar(type_, narrowed.get(wide, wide), _python_number) for type_, wide in numbers]
    of_numpy = (_narrow_array_type, _narrow) if mode is False else (_array_type, _native)
    found += [ValueType(type_, *of_numpy, _covers) for type_ in (*_NUMPY, np.complex128)]
    if mode == "explicit":  # NumPy's scalars of Python's precision are as weak as Python's numbers
        found += [_scalar(wide.type, wide, _native) for _, wide in numbers]
    return {value_type.type: value_type for value_type in found}


_TABLES: Final = {mode: _types(mode) for mode in ("explicit", True, False)}


def _use_types(mode: Any) -> None:
    value_types.update(_TABLES[mode])


for _value_type in _TABLES[config.enable_x64].values():
    register_value_type(_value_type)
config.observe("enable_x64", _use_types)
