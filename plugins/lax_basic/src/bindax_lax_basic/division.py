"""Division, remainder, powers, and what else takes two floats and is not multilinear."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    UndefPrimal,
    Zero,
    add_tangents,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic._batching import elementwise_batch
from bindax_lax_basic._derivatives import partials
from bindax_lax_basic._elementwise import elementwise
from bindax_lax_basic._linear import zero_tangent
from bindax_lax_basic._lowering import operation, same_shape
from bindax_lax_basic._numpy import NumPyArray, exact
from bindax_lax_basic._operands import adopt_type, constant
from bindax_lax_basic._types import elementwise_type
from bindax_lax_basic.arithmetic import add_p, mul_p, neg_p, unbroadcast
from bindax_lax_basic.axes import broadcast_to
from bindax_lax_basic.dtypes import FLOAT, INEXACT, NUMBER
from bindax_lax_basic.rounding import abs_p, floor_p, sign_p

# ---------------------------------------------------------------------------------- division


def div(x: Any, y: Any) -> Array:
    """Elementwise quotient of two arrays.

    Args:
        x: an array of numbers.
        y: an array of the same dtype and shape, but that axes of size 1 are repeated; or a scalar,
            as ``x`` may be one.

    Integers are divided towards zero; division of an integer by zero gives -1 (all bits set).

    >>> div(np.array([7.0, 1.0]), 2.0)
    Array([3.5, 0.5], dtype=float64)
    >>> div(np.array([7, -7]), 2)
    Array([ 3, -3], dtype=int64)
    """
    return div_p.bind(*adopt_type(x, y))


def _div_impl(x: NumPyArray, y: NumPyArray) -> Any:
    if x.dtype.kind in "fc" or not dtypes.is_integer(x.dtype):
        return np.true_divide(x, y)
    x, y = _widen(x, y)
    out = np.floor_divide(x, y)
    if dtypes.kind_of(x.dtype) == "signed integer":
        out = np.where((out < 0) & (out * y != x), out + out.dtype.type(1), out)
    if not np.all(y):
        out = np.where(y == 0, ~np.zeros((), out.dtype), out)
    return out


def _widen(x: NumPyArray, y: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """The narrow integers of ml_dtypes in 32 bits: their own division is not complete."""
    wide = dtypes.accumulator_dtype(x.dtype)
    return (x, y) if wide == x.dtype else (x.astype(wide), y.astype(wide))


def _div_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    (x, y), (tx, ty) = primals, tangents
    out = div_p.bind(x, y)
    total: Any = zero_tangent(out)
    shape = typeof(out).shape
    if type(tx) is not Zero:
        total = broadcast_to(div_p.bind(tx, y), shape)
    if type(ty) is not Zero:
        term = mul_p.bind(neg_p.bind(div_p.bind(out, y)), ty)
        total = add_tangents(total, term)
    return out, total


def _div_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    if type(y) is UndefPrimal:
        raise TypeError("div is linear in its first operand only, not in the divisor.")
    return [unbroadcast(div_p.bind(ct, y), x), None]


div_p: Primitive = primitive(
    "div",
    rules.impl(exact(_div_impl)),
    rules.abstract_eval(elementwise_type("div", NUMBER, NUMBER)),
    rules.jvp(_div_jvp, symbolic_zeros=True),
    elementwise_batch(lambda x, y: div_p.bind(x, y)),
    rules.transpose(_div_transpose),
    rules.lowering["stablehlo"](operation("stablehlo.divide")),
)


def rem(x: Any, y: Any) -> Array:
    """Elementwise remainder of division towards zero; it has the sign of ``x``.

    Operands are as for ``div``. The remainder of an integer by zero is the integer.

    >>> rem(np.array([7.0, -7.0]), 4.0)
    Array([ 3., -3.], dtype=float64)
    """
    return rem_p.bind(*adopt_type(x, y))


def _rem_impl(x: NumPyArray, y: NumPyArray) -> Any:
    if not dtypes.is_integer(x.dtype):
        return np.fmod(x, y)
    x, y = _widen(x, y)
    out = np.fmod(x, y)
    return out if np.all(y) else np.where(y == 0, x, out)


def _truncated_quotient(x: Any, y: Any) -> Any:
    quotient = div_p.bind(x, y)
    return mul_p.bind(sign_p.bind(quotient), floor_p.bind(abs_p.bind(quotient)))


rem_p: Primitive = primitive(
    "rem",
    *elementwise("rem", lambda x, y: rem_p.bind(x, y), _rem_impl, dtypes.INTEGER | FLOAT, NUMBER),
    partials(
        lambda x, y: rem_p.bind(x, y),
        lambda x, y, out: constant(1.0, x),
        lambda x, y, out: neg_p.bind(_truncated_quotient(x, y)),
    ),
    rules.transpose.absent("its derivative is made of linear primitives"),
    rules.lowering["stablehlo"](operation("stablehlo.remainder")),
)

# ------------------------------------------------------------------------------------ others


def atan2(x: Any, y: Any) -> Array:
    """Elementwise angle of the point ``(y, x)``: the arc tangent of ``x / y`` in all quadrants.

    Args:
        x: an array of floats, the ordinate.
        y: an array of the same dtype, the abscissa.

    Of complex numbers it is ``-i log((y + i x) / sqrt(x^2 + y^2))``.

    >>> atan2(np.array([1.0, -1.0]), 1.0)
    Array([ 0.78539816, -0.78539816], dtype=float64)
    """
    return atan2_p.bind(*adopt_type(x, y))


def _atan2_impl(x: NumPyArray, y: NumPyArray) -> Any:
    if x.dtype.kind != "c":
        return np.arctan2(x, y)
    a, b = x.astype(np.complex128), y.astype(np.complex128)
    return (-1j * np.log((b + 1j * a) / np.sqrt(a * a + b * b))).astype(x.dtype)


def _over_square_norm(z: Any, x: Any, y: Any) -> Any:
    norm = add_p.bind(mul_p.bind(x, x), mul_p.bind(y, y))
    return div_p.bind(z, norm)


atan2_p: Primitive = primitive(
    "atan2",
    *elementwise("atan2", lambda x, y: atan2_p.bind(x, y), _atan2_impl, INEXACT, INEXACT),
    partials(
        lambda x, y: atan2_p.bind(x, y),
        lambda x, y, out: _over_square_norm(y, x, y),
        lambda x, y, out: neg_p.bind(_over_square_norm(x, x, y)),
    ),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](operation("stablehlo.atan2")),
)


def nextafter(x1: Any, x2: Any) -> Array:
    """Elementwise next float after ``x1`` in the direction of ``x2``.

    Args:
        x1: an array of real floats.
        x2: an array of the same dtype.

    The derivative is one with respect to ``x1``, zero with respect to ``x2``.

    >>> nextafter(np.array([1.0]), 2.0) - 1.0 == np.finfo(np.float64).eps
    Array([ True], dtype=bool)
    """
    return nextafter_p.bind(*adopt_type(x1, x2))


def _nextafter_lowering(ctx: LoweringContext, *values: Any) -> Any:
    return ctx.op("chlo.next_after", same_shape(ctx, values))[0]


nextafter_p: Primitive = primitive(
    "nextafter",
    *elementwise("nextafter", lambda x, y: nextafter_p.bind(x, y), np.nextafter, FLOAT, FLOAT),
    partials(
        lambda x, y: nextafter_p.bind(x, y),
        lambda x, y, out: constant(1.0, x),
        None,
    ),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](_nextafter_lowering),
)
