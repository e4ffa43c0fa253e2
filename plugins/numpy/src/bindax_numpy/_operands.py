"""Operands of functions: those that are no arrays are refused, others promoted and broadcast.

Python scalars carry double precision among themselves, as under the operators of arrays. Where a
function makes an array of them, or chooses or reduces, they *settle*: they take the default dtype.
A weak number without axes is taken for the Python scalar that it was before it was traced or
computed with. Arrays with axes keep their dtype, weak or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core import device_put
from bindax_core.errors import ConcretizationTypeError, TracerArrayConversionError
from bindax_core.extend import is_masked, is_value, typeof, unknown_type_error
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    ComplexOperandError,
    axis_argument,
    broadcast_arrays,
    convert,
    promote_dtypes,
    promote_inexact,
    static_ints,
)
from bindax_lax_basic.extend import as_operand as as_operand
from bindax_lax_basic.extend import constant as constant
from bindax_lax_basic.extend import settled as settled


def require_values(name: str, *operands: Any) -> None:
    """Raise unless all operands are arrays or scalars; lists are made arrays by ``array`` alone."""
    for position, x in enumerate(operands):
        if not is_value(x):
            if is_masked(x):
                raise unknown_type_error(x, f"{name}, argument {position}: ")
            own = getattr(type(x), "__bindax_remedy__", None)
            remedy = f". {own}" if own else "; make an array of it first with bindax.numpy.asarray."
            raise TypeError(
                f"{name} takes arrays and scalars, but argument {position} is {x!r:.60} of type "
                f"{type(x).__name__}{remedy}"
            )


def values(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands, each of which must be an array or a scalar."""
    if not all(map(is_value, operands)):
        require_values(name, *operands)
    return operands


def checked(name: str, x: Any) -> Any:
    """The one operand of a function, which must be an array or a scalar."""
    if not is_value(x):
        require_values(name, x)
    return x


def known(name: str, argument: str, x: Any, remedy: str) -> np.ndarray[Any, Any]:
    """A value that decides a shape, as a NumPy array; it must not be traced."""
    try:
        return np.asarray(x)
    except TracerArrayConversionError:
        raise ConcretizationTypeError(
            f"{name}: {argument} must be known while tracing, but it is a traced "
            f"{typeof(x).str_short()}; {remedy}."
        ) from None


def listed_axes(name: str, axes: Any, ndim: int, argument: str = "axis") -> tuple[int, ...]:
    """Axes in the order in which they are given, counted from the first one."""
    given = static_ints(name, argument, axes)
    return tuple([axis_argument(name, i, ndim, argument) for i in given])


def placed(name: str, x: Any, device: Any) -> Any:
    """An array on the device that was asked for; where none was, as it is."""
    if device is None:
        return x
    if isinstance(device, (str, bytes, int, float)):
        raise ValueError(
            f"{name}: device must be one of bindax.devices(), but it is {device!r}; for the first "
            f"one give bindax.devices()[0]."
        )
    return device_put(x, device)


def operand(name: str, x: Any) -> Any:
    """The one operand of an elementwise function, with the operators of arrays."""
    return as_operand(checked(name, x))


def array_operand(name: str, x: Any) -> Any:
    """The operand of a function that rearranges: checked, settled, with the operators of arrays."""
    return settled(checked(name, x))


def strong_operand(name: str, x: Any) -> Any:
    """The operand of a reduction: settled, and its weak type forgotten."""
    x = array_operand(name, x)
    aval = typeof(x)
    return convert(x, aval.dtype, False) if aval.weak_type else x


def promoted(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands of an elementwise function in one dtype and one shape; scalars stay scalars."""
    return broadcast_arrays(*promote_dtypes(*values(name, *operands)))


def together(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands of a function that rearranges, in one dtype: numbers take that of the arrays."""
    made = promote_dtypes(*values(name, *operands))
    arrays = [aval for aval in map(typeof, made) if aval.shape or not aval.weak_type]
    if not arrays:
        return tuple(map(settled, made))
    wanted, weak = arrays[0].dtype, all(aval.weak_type for aval in arrays)
    return tuple([as_operand(convert(x, wanted, weak)) for x in made])


def put_into(name: str, x: Any, dtype: Any) -> Any:
    """An operand that becomes elements of an array of a dtype."""
    return as_operand(convert(checked(name, x), dtype, False))


def inexact(name: str, *operands: Any) -> tuple[Any, ...]:
    """Like ``promoted``, and booleans and integers as floats; the results have operators."""
    made = broadcast_arrays(*promote_inexact(*values(name, *operands)))
    return tuple([as_operand(x) for x in made])


def inexact_operand(name: str, x: Any) -> Any:
    """The one operand of a function of floats, booleans and integers as floats."""
    aval = typeof(checked(name, x))
    if dtypes.is_inexact(aval.dtype):
        return x
    return convert(x, dtypes.inexact_dtype(aval.dtype), aval.weak_type)


def require_real(name: str, *operands: Any) -> None:
    """Raise for complex operands."""
    for x in operands:
        aval = typeof(x)
        if dtypes.is_complex(aval.dtype):
            raise ComplexOperandError(
                f"{name} is not defined for complex numbers, but an operand is "
                f"{aval.str_short()}; take its real, imag or abs first."
            )


def floats(name: str, *operands: Any) -> tuple[Any, ...]:
    """Like ``inexact``, of real numbers alone."""
    made = inexact(name, *operands)
    require_real(name, *made)
    return made
