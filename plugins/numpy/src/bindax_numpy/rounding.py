"""Rounding, and the parts of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import RoundingMethod, dtypes
from bindax_lax_basic.array.reductions import refuse_out
from bindax_lax_basic.extend import operators, static_int
from bindax_numpy._operands import (
    array_operand,
    as_operand,
    checked,
    constant,
    inexact_operand,
    operand,
    require_real,
)


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


def angle(z: Any, deg: bool = False) -> Array:
    """The angles of complex numbers with the positive real axis; ``deg`` for degrees.

    >>> jnp.angle(jnp.array([1j, -1.0]))
    Array([1.5707964, 3.1415927], dtype=float32)
    """
    x = as_operand(inexact_operand("angle", z))
    found = lax.atan2(imag(x), real(x))
    return found * (180.0 / math.pi) if deg else found


def _real(name: str, x: Any) -> Any:
    require_real(name, checked(name, x))
    return as_operand(x)


around = round
