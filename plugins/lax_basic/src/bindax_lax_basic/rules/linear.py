"""``jvp`` rules of linear operations; they use no primitive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import Rule, Zero, add_tangents, rules, typeof

Function = Callable[..., Any]


def zero_tangent(out: Any) -> Zero:
    """The symbolic zero tangent at a result."""
    return Zero(typeof(out).tangent_aval())


def linear(function: Function) -> Rule:
    """The ``jvp`` rule of a linear function of one operand: the function of the tangent.

    Args:
        function: binds the primitive; takes the operand and the primitive's parameters by keyword.
    """

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        out = function(x, **params)
        if type(t) is Zero:
            return out, zero_tangent(out)
        return out, function(t, **params)

    return rules.jvp(rule, symbolic_zeros=True)


def multilinear(function: Function, *, positions: Sequence[int] | None = None) -> Rule:
    """The ``jvp`` rule of a function that is linear in each of some operands by itself.

    Args:
        function: binds the primitive.
        positions: the operands it is linear in; all by default.
    """

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = function(*primals, **params)
        total: Any = None
        for i in range(len(primals)) if positions is None else positions:
            if type(tangents[i]) is not Zero:
                operands = [*primals[:i], tangents[i], *primals[i + 1 :]]
                term = function(*operands, **params)
                total = term if total is None else add_tangents(total, term)
        return out, zero_tangent(out) if total is None else total

    return rules.jvp(rule, symbolic_zeros=True)


def no_derivative(function: Function) -> Rule:
    """The ``jvp`` rule of a function that is locally constant, or has a discrete result."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = function(*primals, **params)
        return out, zero_tangent(out)

    return rules.jvp(rule, symbolic_zeros=True)
