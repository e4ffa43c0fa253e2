"""The ring operations: negation, addition, subtraction, multiplication. All are multilinear."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, rules, typeof
from bindax_lax_basic.dtypes import NUMBER
from bindax_lax_basic.elementwise.conversion import convert_element_type, same_dims
from bindax_lax_basic.rules.batching import elementwise_batch
from bindax_lax_basic.rules.evaluation import exact
from bindax_lax_basic.rules.linear import Dual, Values, linear, multilinear, zero_tangent
from bindax_lax_basic.rules.lowering import operation
from bindax_lax_basic.rules.operands import adopt_type
from bindax_lax_basic.rules.types import elementwise_type
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to, sum_axes
from bindax_transforms.zeros import UndefPrimal, Zero

__all__ = ["add", "add_p", "mul", "mul_p", "neg", "neg_p", "sub", "sub_p"]


def neg(x: Any) -> Array:
    """Elementwise negation.

    Args:
        x: an array of numbers.

    >>> neg(np.array([1.0, -2.0]))
    Array([-1.,  2.], dtype=float64)
    """
    return neg_p.bind(x)


neg_p: Primitive = primitive(
    "neg",
    rules.impl(exact(np.negative)),
    rules.abstract_eval(elementwise_type("neg", NUMBER)),
    linear(),
    same_dims(),
    rules.transpose(lambda ct, x: [neg_p.bind(ct)]),
    rules.lowering["stablehlo"](operation("stablehlo.negate")),
    rules.sharding("elementwise", linear=True),
)


def add(x: Any, y: Any) -> Array:
    """Elementwise sum of two arrays.

    Args:
        x: an array of numbers.
        y: an array of the same dtype and shape, but that axes of size 1 are repeated; or a scalar,
            as ``x`` may be one.

    Raises:
        TypeError: when dtypes or shapes differ. A Python scalar takes the dtype of the other.

    >>> add(np.array([1.0, 2.0]), 0.5)
    Array([1.5, 2.5], dtype=float64)
    """
    return add_p.bind(*adopt_type(x, y))


def unbroadcast(ct: Any, x: UndefPrimal) -> Any:
    """The cotangent of an operand that may have been a scalar beside larger ones.

    >>> from bindax_core.extend import ShapedArray
    >>> unbroadcast(np.array([1.0, 2.0]), UndefPrimal(ShapedArray((), np.float64)))
    Array(3., dtype=float64)
    """
    shape = x.aval.shape
    present = typeof(ct).shape
    return ct if present == shape else sum_axes(ct, tuple(range(len(present))))


def _sum_jvp(primitive: Primitive, primals: Values, tangents: Values) -> Dual:
    """The rule of sums and differences; what a scalar operand adds is repeated."""
    (x, y), (tx, ty) = primals, tangents
    out = primitive.bind(x, y)
    if type(tx) is not Zero and type(ty) is not Zero:
        return out, primitive.bind(tx, ty)
    if type(tx) is not Zero:
        return out, broadcast_to(tx, typeof(out).shape)
    if type(ty) is Zero:
        return out, zero_tangent(out)
    t = broadcast_to(ty, typeof(out).shape)
    return out, neg_p.bind(t) if primitive is sub_p else t


def _add_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    return [unbroadcast(ct, z) if type(z) is UndefPrimal else None for z in (x, y)]


add_p: Primitive = primitive(
    "add",
    rules.impl(np.add),
    rules.abstract_eval(elementwise_type("add", NUMBER, NUMBER)),
    rules.jvp(_sum_jvp, symbolic_zeros=True, takes_primitive=True),
    elementwise_batch(),
    rules.transpose(_add_transpose),
    rules.lowering["stablehlo"](operation("stablehlo.add")),
    rules.sharding("elementwise", linear=True),
)


def sub(x: Any, y: Any) -> Array:
    """Elementwise difference of two arrays; operands as for ``add``.

    >>> sub(np.array([1.0, 2.0]), 0.5)
    Array([0.5, 1.5], dtype=float64)
    """
    return sub_p.bind(*adopt_type(x, y))


def _sub_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    return [
        unbroadcast(ct, x) if type(x) is UndefPrimal else None,
        neg_p.bind(unbroadcast(ct, y)) if type(y) is UndefPrimal else None,
    ]


sub_p: Primitive = primitive(
    "sub",
    rules.impl(np.subtract),
    rules.abstract_eval(elementwise_type("sub", NUMBER, NUMBER)),
    rules.jvp(_sum_jvp, symbolic_zeros=True, takes_primitive=True),
    elementwise_batch(),
    rules.transpose(_sub_transpose),
    rules.lowering["stablehlo"](operation("stablehlo.subtract")),
    rules.sharding("elementwise", linear=True),
)


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Array:
    """Elementwise product of two arrays; operands as for ``add``.

    Args:
        x: one factor.
        y: the other factor.
        out_dtype: what both are converted to first; by default their own dtype.

    >>> mul(2.0, np.array([1.0, 2.0]))
    Array([2., 4.], dtype=float64)
    >>> mul(np.uint8(200), np.uint8(2), out_dtype="uint16")
    Array(400, dtype=uint16)
    """
    x, y = adopt_type(x, y)
    if out_dtype is not None:
        x, y = convert_element_type(x, out_dtype), convert_element_type(y, out_dtype)
    return mul_p.bind(x, y)


def _mul_transpose(ct: Any, x: Any, y: Any) -> list[Any]:
    if type(x) is UndefPrimal and type(y) is UndefPrimal:
        raise TypeError("mul is linear in each operand by itself, not in both at once.")
    if type(x) is UndefPrimal:
        return [unbroadcast(mul_p.bind(ct, y), x), None]
    return [None, unbroadcast(mul_p.bind(x, ct), y)]


mul_p: Primitive = primitive(
    "mul",
    rules.impl(np.multiply),
    rules.abstract_eval(elementwise_type("mul", NUMBER, NUMBER)),
    multilinear(),
    elementwise_batch(),
    rules.transpose(_mul_transpose),
    rules.lowering["stablehlo"](operation("stablehlo.multiply")),
    rules.sharding("elementwise", linear="each"),
)
