"""``jvp`` rules made from partial derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import Primitive, Rule, Zero, add_tangents, rules, typeof
from bindax_lax_basic.elementwise.arithmetic import mul_p
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to

Function = Callable[..., Any]


def derivative(partial: Function) -> Rule:
    """The ``jvp`` rule of an elementwise primitive of one operand.

    Args:
        partial: ``(x, out, **params) -> factor``, the derivative at ``x``, where ``out`` is the
            function's value there; a Python number when it is constant.

    The tangent is ``factor * t``; nothing is computed when the tangent is zero.
    """

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        if type(t) is Zero:
            return out, zero_tangent(out)
        return out, mul_p.bind(*adopt_dtype(partial(x, out, **params), t))

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)


def partials(*factors: Function | None) -> Rule:
    """The ``jvp`` rule of an elementwise primitive of several operands.

    Args:
        factors: for each operand ``(*operands, out, **params) -> factor``, the partial derivative,
            or None when the function does not depend on it differentiably.

    Only the terms of operands whose tangents are not zero are computed.
    """

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        out = primitive.bind(*primals, **params)
        total: Any = None
        shape = typeof(out).shape
        for factor, t in zip(factors, tangents, strict=True):
            if type(t) is Zero or factor is None:
                continue
            term = mul_p.bind(*adopt_dtype(factor(*primals, out, **params), t))
            term = broadcast_to(term, shape)
            total = term if total is None else add_tangents(total, term)
        return out, zero_tangent(out) if total is None else total

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)
