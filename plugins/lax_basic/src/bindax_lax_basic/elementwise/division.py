"""Division: true division of floats, division towards zero of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, rules, typeof
from bindax_lax_basic.dtypes import NUMBER, accumulator_dtype, is_integer, kind_of
from bindax_lax_basic.elementwise.arithmetic import mul_p, neg_p, unbroadcast
from bindax_lax_basic.elementwise.complex_corners import quotient
from bindax_lax_basic.rules.elementwise import elementwise
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.lowering import operation
from bindax_lax_basic.rules.operands import adopt_type
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_transforms.zeros import UndefPrimal, Zero, add_tangents

__all__ = ["div", "div_p"]


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
    if x.dtype.kind in "fc" or not is_integer(x.dtype):
        return quotient(x, y)
    x, y = _widen(x, y)
    out = np.floor_divide(x, y)
    if kind_of(x.dtype) == "signed integer":
        out = np.where((out < 0) & (out * y != x), out + out.dtype.type(1), out)
    if not np.all(y):
        out = np.where(y == 0, ~np.zeros((), out.dtype), out)
    return out


def _widen(x: NumPyArray, y: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """The narrow integers of ml_dtypes in 32 bits: their own division is not complete."""
    wide = accumulator_dtype(x.dtype)
    return (x, y) if wide == x.dtype else (x.astype(wide), y.astype(wide))


def _div_jvp(primals: Values, tangents: Values) -> Dual:
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
    *elementwise("div", _div_impl, NUMBER, NUMBER, linear=(0,)),
    rules.jvp(_div_jvp, symbolic_zeros=True),
    rules.transpose(_div_transpose),
    rules.lowering["stablehlo"](operation("stablehlo.divide")),
)
