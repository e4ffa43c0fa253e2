"""The remainder of division."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, primitive, rules
from bindax_lax_basic.dtypes import FLOAT, INTEGER, NUMBER, is_integer
from bindax_lax_basic.elementwise.arithmetic import mul_p, neg_p
from bindax_lax_basic.elementwise.division import _widen, div_p
from bindax_lax_basic.elementwise.rounding import floor_p
from bindax_lax_basic.elementwise.sign import abs_p, sign_p
from bindax_lax_basic.rules.elementwise import elementwise, partials
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.lowering import operation
from bindax_lax_basic.rules.operands import adopt_type, constant

__all__ = ["rem", "rem_p"]


def rem(x: Any, y: Any) -> Array:
    """Elementwise remainder of division towards zero; it has the sign of ``x``.

    Operands are as for ``div``. The remainder of an integer by zero is the integer.

    >>> rem(np.array([7.0, -7.0]), 4.0)
    Array([ 3., -3.], dtype=float64)
    """
    return rem_p.bind(*adopt_type(x, y))


def _rem_impl(x: NumPyArray, y: NumPyArray) -> Any:
    if not is_integer(x.dtype):
        return np.fmod(x, y)
    x, y = _widen(x, y)
    out = np.fmod(x, y)
    return out if np.all(y) else np.where(y == 0, x, out)


def _truncated_quotient(x: Any, y: Any) -> Any:
    quotient = div_p.bind(x, y)
    return mul_p.bind(sign_p.bind(quotient), floor_p.bind(abs_p.bind(quotient)))


rem_p: Primitive = primitive(
    "rem",
    *elementwise("rem", _rem_impl, INTEGER | FLOAT, NUMBER),
    partials(
        lambda x, y, out: constant(1.0, x), lambda x, y, out: neg_p.bind(_truncated_quotient(x, y))
    ),
    rules.transpose.absent("its derivative is made of linear primitives"),
    rules.lowering["stablehlo"](operation("stablehlo.remainder")),
)
