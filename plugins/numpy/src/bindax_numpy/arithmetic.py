"""Arithmetic, rounding and the parts of complex numbers, elementwise."""

from __future__ import annotations

import math
from typing import Any

from ml_dtypes import finfo

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import RoundingMethod, dtypes
from bindax_lax_basic.extend import broadcast_to, convert, operators, refuse_out, static_int
from bindax_numpy._operands import (
    array_operand,
    as_operand,
    checked,
    constant,
    inexact_operand,
    operand,
    promoted,
    require_real,
    values,
)


def add(x1: Any, x2: Any, /) -> Array:
    """``x1 + x2``; of booleans, whether either holds.

    >>> jnp.add(jnp.arange(3), 0.5)
    Array([0.5, 1.5, 2.5], dtype=float32, weak_type=True)
    """
    return operators.add(*values("add", x1, x2))


def subtract(x1: Any, x2: Any, /) -> Array:
    """``x1 - x2``.

    >>> jnp.subtract(jnp.arange(3), 1)
    Array([-1,  0,  1], dtype=int32)
    """
    return operators.subtract(*values("subtract", x1, x2))


def multiply(x1: Any, x2: Any, /) -> Array:
    """``x1 * x2``; of booleans, whether both hold.

    >>> jnp.multiply(jnp.arange(3), 2)
    Array([0, 2, 4], dtype=int32)
    """
    return operators.multiply(*values("multiply", x1, x2))


def divide(x1: Any, x2: Any, /) -> Array:
    """``x1 / x2``, a float also for integers.

    >>> jnp.divide(jnp.arange(3), 2)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return operators.true_divide(*values("divide", x1, x2))


def true_divide(x1: Any, x2: Any, /) -> Array:
    """``x1 / x2``, a float also for integers.

    >>> jnp.true_divide(1, jnp.array([2, 4]))
    Array([0.5 , 0.25], dtype=float32)
    """
    return operators.true_divide(*values("true_divide", x1, x2))


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """``x1 // x2``, rounded towards minus infinity.

    >>> jnp.floor_divide(jnp.array([7, -7]), 2)
    Array([ 3, -4], dtype=int32)
    """
    return operators.floor_divide(*values("floor_divide", x1, x2))


def remainder(x1: Any, x2: Any, /) -> Array:
    """``x1 % x2``, with the sign of ``x2``.

    >>> jnp.remainder(jnp.array([7, -7]), 4)
    Array([3, 1], dtype=int32)
    """
    return operators.remainder(*values("remainder", x1, x2))


def mod(x1: Any, x2: Any, /) -> Array:
    """``x1 % x2``, with the sign of ``x2``.

    >>> jnp.mod(jnp.array([7.5, -7.5]), 4)
    Array([3.5, 0.5], dtype=float32)
    """
    return operators.remainder(*values("mod", x1, x2))


def fmod(x1: Any, x2: Any, /) -> Array:
    """The remainder of a division, with the sign of ``x1``.

    >>> jnp.fmod(jnp.array([7, -7]), 4)
    Array([ 3, -3], dtype=int32)
    """
    return operators.truncated_remainder(*promoted("fmod", x1, x2))


def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """``x1 // x2`` and ``x1 % x2``.

    >>> jnp.divmod(jnp.array([7, -7]), 4)
    (Array([ 1, -2], dtype=int32), Array([3, 1], dtype=int32))
    """
    return operators.divide_with_remainder(*values("divmod", x1, x2))


def power(x1: Any, x2: Any, /) -> Array:
    """``x1 ** x2``. An integer as ``x2`` that is known is a fixed exponent, with exact derivatives.

    An integer is known when it is Python's, NumPy's, or an array without axes that is not traced.
    Fixed powers are made of multiplications, others of logarithms: they differ by rounding.
    Integers to traced negative powers, and to those in arrays, are ``1 / x1**-x2`` without the
    fraction.

    Raises:
        TypeError: when integers are raised to a negative integer that is known.

    >>> jnp.power(jnp.array([2.0, 3.0]), 2)
    Array([4., 9.], dtype=float32)
    """
    return operators.power(*values("power", x1, x2))


def square(x: Any, /) -> Array:
    """``x * x``.

    >>> jnp.square(jnp.array([1, -3]))
    Array([1, 9], dtype=int32)
    """
    is_bool = typeof(checked("square", x)).dtype == dtypes.bool_
    return lax.square(convert(x, dtypes.default_dtype("int"), False) if is_bool else x)


def negative(x: Any, /) -> Array:
    """``-x``.

    >>> jnp.negative(jnp.array([1, -3]))
    Array([-1,  3], dtype=int32)
    """
    return lax.neg(checked("negative", x))


def positive(x: Any, /) -> Array:
    """``+x``: the elements as they are.

    >>> jnp.positive(jnp.array([1, -3]))
    Array([ 1, -3], dtype=int32)
    """
    return operand("positive", x)


def absolute(x: Any, /) -> Array:
    """The absolute value; of complex numbers, their length.

    >>> jnp.absolute(jnp.array([1.5, -3]))
    Array([1.5, 3. ], dtype=float32)
    """
    x = operand("absolute", x)
    unsigned = dtypes.kind_of(typeof(x).dtype) in ("bool", "unsigned integer")
    return x if unsigned else lax.abs(x)


def abs(x: Any, /) -> Array:
    """The absolute value; of complex numbers, their length.

    >>> jnp.abs(jnp.array([1, -3]))
    Array([1, 3], dtype=int32)
    """
    return absolute(x)


def sign(x: Any, /) -> Array:
    """-1, 0 or 1, by the sign of each element; of complex numbers ``x / abs(x)``.

    >>> jnp.sign(jnp.array([1.5, 0, -3]))
    Array([ 1.,  0., -1.], dtype=float32)
    """
    return lax.sign(checked("sign", x))


def maximum(x1: Any, x2: Any, /) -> Array:
    """The larger of two elements; nan if either is.

    >>> jnp.maximum(jnp.array([1.0, 5.0]), 3)
    Array([3., 5.], dtype=float32)
    """
    return lax.max(*promoted("maximum", x1, x2))


def minimum(x1: Any, x2: Any, /) -> Array:
    """The smaller of two elements; nan if either is.

    >>> jnp.minimum(jnp.array([1.0, 5.0]), 3)
    Array([1., 3.], dtype=float32)
    """
    return lax.min(*promoted("minimum", x1, x2))


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Array:
    """The elements limited to between two bounds.

    Args:
        arr: an array of real numbers.
        min: the lower bound, which broadcasts; None is no bound.
        max: the upper bound, likewise; it wins where the lower one is larger.

    >>> jnp.clip(jnp.arange(5), 1, 3)
    Array([1, 1, 2, 3, 3], dtype=int32)
    """
    given = [arr, *(x for x in (min, max) if x is not None)]
    require_real("clip", *values("clip", *given))
    out = as_operand(arr)
    if min is not None:
        out = maximum(out, min)
    return out if max is None else minimum(out, max)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    """Numbers in the place of nan and the infinities.

    Args:
        x: an array.
        copy: accepted for compatibility; arrays are immutable.
        nan: what stands for nan.
        posinf: what stands for infinity; by default the greatest finite number of the dtype.
        neginf: what stands for minus infinity; by default the least finite number.

    >>> jnp.nan_to_num(jnp.array([1.0, jnp.nan, -jnp.inf]), neginf=-5.0)
    Array([ 1.,  0., -5.], dtype=float32)
    """
    x = array_operand("nan_to_num", x)
    dtype = typeof(x).dtype
    if not dtypes.is_inexact(dtype):
        return x
    x = convert(x, dtype, False)
    if dtypes.is_complex(dtype):
        parts = (nan_to_num(part, copy, nan, posinf, neginf) for part in (x.real, x.imag))
        return lax.complex(*parts)
    info: Any = finfo(dtype)  # type: ignore[no-untyped-call]
    high = info.max if posinf is None else posinf
    low = info.min if neginf is None else neginf
    out = _replace(lax.ne(x, x), nan, x)
    out = _replace(lax.eq(x, math.inf), high, out)
    return _replace(lax.eq(x, -math.inf), low, out)


def _replace(where: Any, value: Any, x: Any) -> Any:
    aval = typeof(x)
    filler = convert(value, aval.dtype, aval.weak_type)
    return lax.select(where, broadcast_to(filler, aval.shape), x)


pow = power


def floor(x: Any, /) -> Array:
    """The greatest integer that is not above each element.

    >>> jnp.floor(jnp.array([1.5, -1.5]))
    Array([ 1., -2.], dtype=float32)
    """
    x = _real("floor", x)
    return lax.floor(x) if dtypes.is_inexact(typeof(x).dtype) else x


def ceil(x: Any, /) -> Array:
    """The least integer that is not below each element.

    >>> jnp.ceil(jnp.array([1.5, -1.5]))
    Array([ 2., -1.], dtype=float32)
    """
    x = _real("ceil", x)
    return lax.ceil(x) if dtypes.is_inexact(typeof(x).dtype) else x


def trunc(x: Any) -> Array:
    """The elements without their fractions.

    >>> jnp.trunc(jnp.array([1.5, -1.5]))
    Array([ 1., -1.], dtype=float32)
    """
    x = _real("trunc", x)
    if not dtypes.is_inexact(typeof(x).dtype):
        return x
    return lax.select(lax.lt(x, constant(0, x)), lax.ceil(x), lax.floor(x))


def rint(x: Any, /) -> Array:
    """The nearest integers, halves to the even one, as floats.

    >>> jnp.rint(jnp.array([0.5, 1.5, 2.4]))
    Array([0., 2., 2.], dtype=float32)
    """
    x = inexact_operand("rint", x)
    if dtypes.is_complex(typeof(x).dtype):
        return lax.complex(rint(as_operand(x).real), rint(as_operand(x).imag))
    return lax.round(x, RoundingMethod.TO_NEAREST_EVEN)


def round(a: Any, decimals: int = 0, out: None = None) -> Array:
    """The elements rounded to a number of decimals, halves to the even digit.

    Args:
        a: an array of numbers.
        decimals: how many; negative ones count digits before the point, for floats alone.
        out: None.

    >>> jnp.round(jnp.array([1.25, 3.75]), 1)
    Array([1.2, 3.8], dtype=float32)
    """
    refuse_out("round", out)
    return operators.rounded(array_operand("round", a), static_int("round", "decimals", decimals))


def real(val: Any, /) -> Array:
    """The real parts.

    >>> jnp.real(jnp.array([1 + 2j]))
    Array([1.], dtype=float32)
    """
    x = operand("real", val)
    return lax.real(x) if dtypes.is_complex(typeof(x).dtype) else x


def imag(val: Any, /) -> Array:
    """The imaginary parts; zeros for real numbers.

    >>> jnp.imag(jnp.array([1 + 2j]))
    Array([2.], dtype=float32)
    """
    x = operand("imag", val)
    return lax.imag(x) if dtypes.is_complex(typeof(x).dtype) else lax.zeros_like(x)


def conjugate(x: Any, /) -> Array:
    """The complex conjugates.

    >>> jnp.conjugate(jnp.array([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    x = operand("conjugate", x)
    return lax.conj(x) if dtypes.is_complex(typeof(x).dtype) else x


def conj(x: Any, /) -> Array:
    """The complex conjugates.

    >>> jnp.conj(jnp.array([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    return conjugate(x)


def absolute_squares(x: Any) -> Any:
    """The squares of the sizes of elements."""
    if dtypes.is_complex(typeof(x).dtype):
        return lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return lax.square(x)


def angle(z: Any, deg: bool = False) -> Array:
    """The angles of complex numbers with the positive real axis; ``deg`` for degrees.

    >>> jnp.angle(jnp.array([1j, -1.0])).round(4)
    Array([1.5708, 3.1416], dtype=float32)
    """
    x = as_operand(inexact_operand("angle", z))
    found = lax.atan2(imag(x), real(x))
    return found * (180.0 / math.pi) if deg else found


def _real(name: str, x: Any) -> Any:
    require_real(name, checked(name, x))
    return as_operand(x)


around = round
