"""Comparisons of arrays; those with Python integers are exact, whatever dtype the array has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from bindax_core.extend import Primitive, ShapedArray, config, float0, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.comparison import (
    and_p,
    eq_p,
    ge_p,
    gt_p,
    le_p,
    lt_p,
    ne_p,
    or_p,
)
from bindax_lax_basic.elementwise.complex_numbers import imag_p, real_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.rules.operands import (
    broadcast_arrays,
    broadcast_shapes,
    operator_operands,
    scalar_array,
)
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to

_INT8, _INT64 = np.dtype(np.int8), np.dtype(np.int64)
Comparison = Callable[[Any, Any], Any]


def _operands(x: Any, y: Any) -> tuple[Any, Any, DType]:
    """Operands of one dtype in which the comparison has the result that the numbers have.

    With ``config.conventions = "jax"`` an integer takes the dtype of the array, modulo its range.
    """
    if config.conventions != "jax":
        if type(y) is int:
            x, y = _within_range(x, y)
        elif type(x) is int:
            y, x = _within_range(y, x)
        else:
            x, y = _widened(x, y)
    return operator_operands(x, y)


def _within_range(x: Any, number: int) -> tuple[Any, Any]:
    """An array and an integer; one that the dtype does not hold is beyond zero as it is beyond all.

    So both are replaced: ``x < 300`` is ``0 < 1`` for elements of eight bits.
    """
    aval = typeof(x)
    if not dtypes.is_integer(aval.dtype) and aval.dtype != dtypes.bool_:
        return x, number
    # Booleans become integers of 64 bits, as Python's do.
    least, most = dtypes.integer_limits(_INT64 if aval.dtype == dtypes.bool_ else aval.dtype)
    if least <= number <= most:
        return x, number
    zeros = broadcast_to(scalar_array(0, _INT8), aval.shape)
    return zeros, scalar_array(1 if number > 0 else -1, _INT8)


def _widened(x: Any, y: Any) -> tuple[Any, Any]:
    """A narrow integer beside a weak one that is wider, which is traced or computed, as wide."""
    a, b = typeof(x), typeof(y)
    if a.weak_type is b.weak_type or a.dtype is b.dtype:
        return x, y
    if _is_wider(b, a):
        x = convert(x, b.dtype, False)
    elif _is_wider(a, b):
        y = convert(y, a.dtype, False)
    return x, y


def _is_wider(weak: ShapedArray, strong: ShapedArray) -> bool:
    integers = dtypes.is_integer(weak.dtype) and dtypes.is_integer(strong.dtype)
    return weak.weak_type and integers and weak.dtype.itemsize > strong.dtype.itemsize


def _equality(primitive: Primitive, all_equal: bool) -> Comparison:
    """``==`` and ``!=``; arrays of float0 hold nothing, so that all their elements are equal."""

    def compare(x: Any, y: Any) -> Any:
        x, y, dtype = _operands(x, y)
        try:
            return primitive.bind(x, y)
        except TypeError:
            if dtype != float0:
                raise
            a, b = typeof(x), typeof(y)
            return broadcast_to(
                scalar_array(all_equal, dtypes.bool_), broadcast_shapes(a.shape, b.shape)
            )

    return compare


def _ordered(primitive: Primitive, strict: Primitive) -> Comparison:
    """An order of numbers; complex ones are ordered by their real parts, then the imaginary."""

    def compare(x: Any, y: Any) -> Any:
        x, y, dtype = _operands(x, y)
        if dtype.kind != "c":
            return primitive.bind(x, y)
        x, y = broadcast_arrays(x, y)
        a, b = real_p.bind(x), real_p.bind(y)
        later = primitive.bind(imag_p.bind(x), imag_p.bind(y))
        return or_p.bind(strict.bind(a, b), and_p.bind(eq_p.bind(a, b), later))

    return compare


equal: Final = _equality(eq_p, True)
not_equal: Final = _equality(ne_p, False)
less: Final = _ordered(lt_p, lt_p)
less_equal: Final = _ordered(le_p, lt_p)
greater: Final = _ordered(gt_p, gt_p)
greater_equal: Final = _ordered(ge_p, gt_p)
