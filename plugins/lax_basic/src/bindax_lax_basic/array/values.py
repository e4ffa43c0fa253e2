"""Arrays of Python values: of numbers, arrays of other libraries, and nested sequences of them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    Tracer,
    ValueTracer,
    as_array,
    is_extended,
    is_value,
    typeof,
    unwrapped,
)
from bindax_lax_basic.dtypes import (
    DType,
    default_dtype,
    named_dtype,
    result_type,
    settled_dtype,
)
from bindax_lax_basic.elementwise.conversion import convert, copy
from bindax_lax_basic.rules.operands import NUMBERS, scalar_array
from bindax_lax_basic.shape.concatenate import concatenate
from bindax_lax_basic.shape.creation import scalar
from bindax_lax_basic.shape.reshape import expand_dims

PYTHON_SCALARS = (bool, int, float, complex)
_SEQUENCES = (list, tuple, range)


def settled(x: Any) -> Any:
    """An operand as an array; a weak scalar of double precision takes the default dtype.

    >>> settled(1.5), settled(np.float16(1.5))
    (Array(1.5, dtype=float32, weak_type=True), Array(1.5, dtype=float16))
    """
    aval = typeof(x)
    wanted = settled_dtype(aval)
    if wanted != aval.dtype:
        return from_scalar(x, wanted) if type(x) in NUMBERS else convert(x, wanted, True)
    return as_operand(x)


def as_operand(x: Any) -> Any:
    """A legal operand with the operators of arrays, its dtype and weak type unchanged.

    >>> as_operand(1.5), as_operand(np.ones(2))
    (Array(1.5, dtype=float64, weak_type=True), Array([1., 1.], dtype=float64))
    """
    if isinstance(x, (Array, Tracer)):
        return x
    if type(x) in PYTHON_SCALARS:
        return scalar_array(x, typeof(x).dtype)
    return as_array(x)


def from_scalar(value: Any, dtype: Any) -> Any:
    """A Python scalar as a weak array of a dtype of its family, into which it must fit."""
    try:
        return scalar_array(value, dtype)
    except OverflowError:
        raise overflow(value, dtype) from None


def overflow(value: Any, dtype: Any) -> OverflowError:
    """The error for an integer that does not fit into a dtype."""
    return OverflowError(
        f"the integer {value!r:.60} does not fit into {dtype.name}; name a wider dtype, for "
        f"example array(x, dtype='int64')."
    )


def from_value(name: str, value: Any, dtype: DType | None = None) -> Any:
    """An array of a value: of a number, an array, or nested sequences of either.

    Args:
        name: the function that is called, for messages.
        value: what to make an array of.
        dtype: its dtype; None for that of the value.

    >>> from_value("stack", [[1, 2], np.zeros(2, np.int8)])
    Array([[1, 2],
           [0, 0]], dtype=int8)
    """
    if isinstance(value, (Array, Tracer)):
        made = settled(value) if dtype is None else convert(value, dtype, False)
        return copy(made) if made is value and _holds_number(made) else made
    if isinstance(value, np.generic) and typeof(value).weak_type:
        return _from_scalar(name, value.item(), dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(np.array(value), dtype)
    if isinstance(value, PYTHON_SCALARS):
        return _from_scalar(name, value, dtype)
    if isinstance(value, _SEQUENCES):
        return _from_sequence(name, value, dtype)
    inner = unwrapped(value)
    if inner is not value:
        return from_value(name, inner, dtype)
    if is_value(value):
        return value if dtype is None else convert(value, dtype, False)
    if dtype is not None and isinstance(value, Number):  # such as a fraction
        return Array.from_numpy(_held(name, value, dtype))
    host = _foreign(value)
    if host is not None:
        return _from_numpy(host, dtype)
    raise _not_a_number(name, value, "")


def _holds_number(x: Any) -> bool:
    """Tell whether a tracer stands for a Python number, which would be its result outside."""
    while isinstance(x, ValueTracer):
        x = x.value
    return type(x) in PYTHON_SCALARS


def _foreign(value: Any) -> np.ndarray[Any, Any] | None:
    """A copy of the array of another library, or of a buffer; None where it is neither."""
    if hasattr(value, "__array__"):
        return np.array(value)
    if hasattr(value, "__dlpack__"):
        return np.array(np.from_dlpack(value))
    if isinstance(value, bytes):  # a text, and not the numbers of its letters
        return None
    try:
        return np.array(memoryview(value))
    except TypeError:
        return None


def _not_a_number(name: str, value: Any, path: str) -> Exception:
    where = f" at {path}" if path else ""
    # As in JAX: programs may tell None, which is missing, from what is of a wrong type.
    kind = ValueError if value is None else TypeError
    return kind(
        f"{name}: {value!r:.60} of type {type(value).__name__}{where} is no number, array, or "
        f"sequence of them."
    )


def _from_numpy(host: np.ndarray[Any, Any], dtype: DType | None) -> Any:
    made = Array.from_numpy(host.astype(named_dtype(host.dtype.newbyteorder("=")), copy=False))
    return made if dtype is None else convert(made, dtype, False)


def _from_scalar(name: str, value: Any, dtype: DType | None) -> Any:
    family = next(t for t in PYTHON_SCALARS if isinstance(value, t))
    plain = family(value)
    if dtype is None:  # an array of its own, which may be donated or deleted
        return from_scalar(plain, default_dtype(family.__name__)).copy()
    if is_extended(dtype):
        return convert(scalar(plain, dtype, False), dtype, False)
    return Array.from_numpy(_held(name, plain, dtype))


def _held(name: str, value: Any, dtype: DType) -> np.ndarray[Any, Any]:
    """Numbers in a dtype that holds each of them, rounded or cut off after the point."""
    try:
        with np.errstate(over="ignore"):  # floats that are too large become infinite
            return np.array(value, dtype)
    except (OverflowError, TypeError, ValueError) as error:
        numbers = np.ravel(np.array(value, object))
        if isinstance(error, OverflowError) and all(isinstance(x, int) for x in numbers):
            raise overflow(value, dtype) from None
        raise type(error)(
            f"{name}: {value!r:.60} cannot have the dtype {dtype}: {error}; give another dtype, or "
            f"other numbers."
        ) from None


def _from_sequence(name: str, value: Sequence[Any], dtype: DType | None) -> Any:
    leaves: list[Any] = []
    shape = _nested_shape(name, value, "", leaves)
    wanted = _common_dtype(leaves) if dtype is None else dtype
    if any(isinstance(leaf, (Array, Tracer)) or not is_value(leaf) for leaf in leaves):
        return _stacked(name, value, wanted)
    return Array.from_numpy(_held(name, value, wanted) if leaves else np.zeros(shape, wanted))


def _nested_shape(name: str, value: Any, path: str, leaves: list[Any]) -> tuple[int, ...]:
    """The shape of nested sequences; what is no sequence is added to the leaves."""
    if not isinstance(value, _SEQUENCES):
        inner = unwrapped(value)
        if inner is not value:
            value = from_value(name, inner, None)
        elif not is_value(value):
            if not (hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
                raise _not_a_number(name, value, path)
            value = from_value(name, value, None)
        leaves.append(value)
        return () if isinstance(value, PYTHON_SCALARS) else typeof(value).shape
    shapes = [_nested_shape(name, child, f"{path}[{i}]", leaves) for i, child in enumerate(value)]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"{name}: the nested sequences are ragged: {path}[0] has the shape {shapes[0]}, "
                f"and {path}[{i}] has the shape {shape}."
            )
    return (len(value), *(shapes[0] if shapes else ()))


def _common_dtype(leaves: Sequence[Any]) -> DType:
    if not leaves:
        return default_dtype("float")
    kinds: dict[Any, Any] = {}
    for leaf in leaves:
        kinds.setdefault(type(leaf) if isinstance(leaf, PYTHON_SCALARS) else typeof(leaf), leaf)
    return result_type(*kinds.values())


def _stacked(name: str, value: Any, dtype: DType) -> Any:
    if not isinstance(value, _SEQUENCES):
        return from_value(name, value, dtype)
    parts = [expand_dims(_stacked(name, child, dtype), (0,)) for child in value]
    return parts[0] if len(parts) == 1 else concatenate(parts, 0)
