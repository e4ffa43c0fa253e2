"""Polynomials in an array, by their coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Array, ShapedArray, typeof
from bindax_lax_basic.dtypes import NUMBER, is_complex, is_inexact
from bindax_lax_basic.elementwise.arithmetic import add, mul
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.types import require_kind
from bindax_lax_basic.shape.creation import full_like

__all__ = ["polynomial"]


def polynomial(x: Any, coeffs: Sequence[Any], *, unroll: int | None = None) -> Array:
    """A polynomial at the elements of an array, by Horner's scheme.

    Args:
        x: an array of numbers.
        coeffs: the coefficients, that of the lowest power first: scalars, or arrays with as many
            axes as ``x``, of its sizes or 1. They take the dtype of ``x``.
        unroll: accepted for compatibility; all terms are written out.

    Returns:
        ``coeffs[0] + coeffs[1] x + coeffs[2] x² + …``, in the dtype of ``x``; zeros where there are
        no coefficients.

    Raises:
        TypeError: when a coefficient does not fit the dtype, or has another number of axes.

    >>> polynomial(np.array([1.0, 3.0]), [1.0, 5.0, 2.0])
    Array([ 8., 34.], dtype=float64)
    """
    aval = typeof(x)
    require_kind("polynomial", aval, NUMBER)
    terms = [_in_dtype_of(aval, c) for c in coeffs]
    if not terms:
        return full_like(x, 0)
    out: Any = full_like(x, 0) if aval.shape else convert(0, aval.dtype, aval.weak_type)
    for term in reversed(terms):
        out = add(mul(out, x), term)
    return out


def _in_dtype_of(aval: ShapedArray, coefficient: Any) -> Any:
    """A coefficient in the dtype of the array, which it does not decide."""
    own = typeof(coefficient)
    fits = is_complex(aval.dtype) or not is_complex(own.dtype)
    if not fits or (is_inexact(own.dtype) and not is_inexact(aval.dtype)):
        raise TypeError(
            f"polynomial: a coefficient of type {own.str_short()} does not fit the dtype of x, "
            f"which is {aval.str_short()}; convert x first."
        )
    if own.ndim not in (0, aval.ndim):
        raise TypeError(
            f"polynomial: a coefficient of type {own.str_short()} has another number of axes than "
            f"x, which is {aval.str_short()}; give it axes of size 1."
        )
    return convert(coefficient, aval.dtype, True)
