"""``jvp`` rules of linear operations; they use no primitive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Primitive, Rule, rules, typeof
from bindax_transforms.zeros import Zero, add_tangents, instantiate_zeros

Values = Sequence[Any]
Dual = tuple[Any, Any]
"""Results and their tangents."""
Batched = tuple[Any, Any]
"""Results and their batch axes."""
BatchDims = Sequence[int]


def zero_tangent(out: Any) -> Zero:
    """The symbolic zero tangent at a result.

    >>> zero_tangent(np.ones(3, np.float32)), zero_tangent(np.ones(3, np.int32))
    (Zero(float32[3]), Zero(float0[3]))
    """
    return Zero(typeof(out).tangent_aval())


def zero_tangents(primitive: Primitive, out: Any) -> Any:
    """The symbolic zero tangent at the one result of a primitive, or at each of several."""
    return [*map(zero_tangent, out)] if primitive.multiple_results else zero_tangent(out)


def linear() -> Rule:
    """The ``jvp`` rule of a linear primitive of one operand: the primitive, of the tangent."""

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        tangent = zero_tangents(primitive, out) if type(t) is Zero else primitive.bind(t, **params)
        return out, tangent

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)


def jointly_linear(positions: slice = slice(None)) -> Rule:
    """The ``jvp`` rule of a primitive that is linear in some operands together; all by default."""

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents[positions]):
            return out, zero_tangent(out)
        operands = list(primals)
        operands[positions] = [instantiate_zeros(t) for t in tangents[positions]]
        return out, primitive.bind(*operands, **params)

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)


def multilinear(*, positions: Sequence[int] | None = None) -> Rule:
    """The ``jvp`` rule of a primitive that is linear in each of some operands by itself.

    Args:
        positions: the operands it is linear in; all by default.
    """

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        out = primitive.bind(*primals, **params)
        total: Any = None
        for i in range(len(primals)) if positions is None else positions:
            if type(tangents[i]) is not Zero:
                operands = [*primals[:i], tangents[i], *primals[i + 1 :]]
                term = primitive.bind(*operands, **params)
                total = term if total is None else add_tangents(total, term)
        return out, zero_tangent(out) if total is None else total

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)


def no_derivative() -> Rule:
    """The ``jvp`` rule of a primitive that is locally constant, or has a discrete result."""

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        out = primitive.bind(*primals, **params)
        return out, zero_tangents(primitive, out)

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)
