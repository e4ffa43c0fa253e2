"""Comparisons, and the bitwise and logical operations. None has a derivative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Rule,
    ShapedArray,
    physical_array,
    primitive,
    rules,
)
from bindax_lax_basic.dtypes import ANY, BITS, EXTENDED, FLOAT, ORDERED, bool_
from bindax_lax_basic.elementwise.conversion import compare, convert
from bindax_lax_basic.rules.elementwise import elementwise, lowers_to
from bindax_lax_basic.rules.evaluation import NumPyArray, NumPyFunction
from bindax_lax_basic.rules.linear import no_derivative
from bindax_lax_basic.rules.lowering import Lowering, same_shape
from bindax_lax_basic.rules.operands import adopt_type
from bindax_lax_basic.rules.types import Kinds
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_in_dim_p, reduce_sum_p

__all__ = [
    "and_p",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "eq_p",
    "ge",
    "ge_p",
    "greater",
    "gt",
    "gt_p",
    "is_finite",
    "is_finite_p",
    "le",
    "le_p",
    "less",
    "lt",
    "lt_p",
    "ne",
    "ne_p",
    "not_p",
    "or_p",
    "xor_p",
]


_COMPARED = ANY | EXTENDED

DISCRETE = rules.transpose.absent("its result is discrete, so nothing linear reaches it")


def discrete(lowering: str | Lowering, transpose: Rule = DISCRETE) -> tuple[Rule, Rule, Rule]:
    """The ``jvp``, ``transpose`` and lowering rules of an elementwise primitive of steps."""
    return no_derivative(), transpose, lowers_to(lowering)


def _comparison(name: str, function: NumPyFunction, accepts: Kinds) -> tuple[Rule, ...]:
    def lowering(ctx: LoweringContext, *values: Any) -> Any:
        x, y = same_shape(ctx, values)
        aval = ctx.avals_in[0].update(shape=ctx.avals_out[0].shape)
        return compare(ctx, name.upper(), x, y, aval)

    evaluated = elementwise(name, function, accepts, accepts, result=bool_)
    return *evaluated, *discrete(lowering)


def _bitwise(name: str, ufunc: np.ufunc) -> tuple[Rule, ...]:
    return *elementwise(name, ufunc, *[BITS] * ufunc.nin), *discrete(f"stablehlo.{name}")


def _equal(x: NumPyArray, y: NumPyArray) -> Any:
    if x.dtype.names is None:
        return np.equal(x, y)
    # Elements of an extended dtype are equal if all that represents them is.
    same = np.equal(*[physical_array(v) for v in np.broadcast_arrays(x, y)])
    return same.all(tuple(range(max(x.ndim, y.ndim), same.ndim)))


def _not_equal(x: NumPyArray, y: NumPyArray) -> Any:
    return np.not_equal(x, y) if x.dtype.names is None else np.logical_not(_equal(x, y))


def _physical_equal(avals: Sequence[ShapedArray], *operands: Any) -> list[Any]:
    """Tell whether all parts of elements of an extended dtype are equal, given the parts."""
    shape = max(avals, key=lambda aval: aval.ndim).shape
    element = avals[0].dtype[0].shape
    axes = tuple(range(len(shape), len(shape) + len(element)))
    x, y = [
        x
        if aval.shape == shape
        else broadcast_in_dim_p.bind(x, shape=(*shape, *element), broadcast_dimensions=axes)
        for x, aval in zip(operands, avals, strict=True)
    ]
    same = convert(eq_p.bind(x, y), np.dtype(np.int32), False)
    count = reduce_sum_p.bind(same, axes=axes)
    return [eq_p.bind(count, np.int32(math.prod(element)))]


def _physical_unequal(avals: Sequence[ShapedArray], *operands: Any) -> list[Any]:
    return [not_p.bind(*_physical_equal(avals, *operands))]


def eq(x: Any, y: Any) -> Array:
    """Elementwise equality of two arrays.

    Args:
        x: an array of any dtype.
        y: an array of the same dtype and shape, but that axes of size 1 are repeated; or a scalar,
            as ``x`` may be one.

    Returns:
        An array of booleans.

    Raises:
        TypeError: when dtypes or shapes differ.

    >>> eq(np.array([1, 2]), 1)
    Array([ True, False], dtype=bool)
    """
    return eq_p.bind(*adopt_type(x, y))


eq_p: Primitive = primitive(
    "eq", *_comparison("eq", _equal, _COMPARED), rules.physical(_physical_equal)
)


def ne(x: Any, y: Any) -> Array:
    """Elementwise inequality of two arrays; operands as for ``eq``.

    >>> ne(np.array([1, 2]), 1)
    Array([False,  True], dtype=bool)
    """
    return ne_p.bind(*adopt_type(x, y))


ne_p: Primitive = primitive(
    "ne", *_comparison("ne", _not_equal, _COMPARED), rules.physical(_physical_unequal)
)


def lt(x: Any, y: Any) -> Array:
    """Elementwise less-than comparison of two arrays; operands as for ``eq``, not complex.

    >>> lt(np.array([1, 2]), 1)
    Array([False, False], dtype=bool)
    """
    return lt_p.bind(*adopt_type(x, y))


lt_p: Primitive = primitive("lt", *_comparison("lt", np.less, ORDERED))


def le(x: Any, y: Any) -> Array:
    """Elementwise less-or-equal comparison of two arrays; operands as for ``eq``, not complex.

    >>> le(np.array([1, 2]), 1)
    Array([ True, False], dtype=bool)
    """
    return le_p.bind(*adopt_type(x, y))


le_p: Primitive = primitive("le", *_comparison("le", np.less_equal, ORDERED))


def gt(x: Any, y: Any) -> Array:
    """Elementwise greater-than comparison of two arrays; operands as for ``eq``, not complex.

    >>> gt(np.array([1, 2]), 1)
    Array([False,  True], dtype=bool)
    """
    return gt_p.bind(*adopt_type(x, y))


gt_p: Primitive = primitive("gt", *_comparison("gt", np.greater, ORDERED))


def ge(x: Any, y: Any) -> Array:
    """Elementwise greater-or-equal comparison of two arrays; operands as for ``eq``, not complex.

    >>> ge(np.array([1, 2]), 1)
    Array([ True,  True], dtype=bool)
    """
    return ge_p.bind(*adopt_type(x, y))


ge_p: Primitive = primitive("ge", *_comparison("ge", np.greater_equal, ORDERED))


greater = gt
less = lt


def is_finite(x: Any) -> Array:
    """Elementwise whether a float is neither infinite nor nan.

    >>> is_finite(np.array([1.0, np.inf, np.nan]))
    Array([ True, False, False], dtype=bool)
    """
    return is_finite_p.bind(x)


is_finite_p: Primitive = primitive(
    "is_finite",
    *elementwise("is_finite", np.isfinite, FLOAT, result=bool_),
    *discrete("stablehlo.is_finite"),
)


def bitwise_not(x: Any) -> Array:
    """Elementwise complement: logical for booleans, of each bit for integers.

    >>> bitwise_not(np.array([True, False]))
    Array([False,  True], dtype=bool)
    """
    return not_p.bind(x)


not_p: Primitive = primitive("not", *_bitwise("not", np.invert))


def bitwise_and(x: Any, y: Any) -> Array:
    """Elementwise conjunction: logical for booleans, of each bit for integers.

    Args:
        x: an array of booleans or integers.
        y: an array of the same dtype and shape, but that axes of size 1 are repeated; or a scalar,
            as ``x`` may be one.

    >>> bitwise_and(np.array([1, 3]), 2)
    Array([0, 2], dtype=int64)
    """
    return and_p.bind(*adopt_type(x, y))


and_p: Primitive = primitive("and", *_bitwise("and", np.bitwise_and))


def bitwise_or(x: Any, y: Any) -> Array:
    """Elementwise disjunction: logical for booleans, of each bit for integers.

    >>> bitwise_or(np.array([1, 3]), 2)
    Array([3, 3], dtype=int64)
    """
    return or_p.bind(*adopt_type(x, y))


or_p: Primitive = primitive("or", *_bitwise("or", np.bitwise_or))


def bitwise_xor(x: Any, y: Any) -> Array:
    """Elementwise exclusive disjunction: logical for booleans, of each bit for integers.

    >>> bitwise_xor(np.array([1, 3]), 2)
    Array([3, 1], dtype=int64)
    """
    return xor_p.bind(*adopt_type(x, y))


xor_p: Primitive = primitive("xor", *_bitwise("xor", np.bitwise_xor))
