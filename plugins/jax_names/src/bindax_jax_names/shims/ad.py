"""``jax.interpreters.ad``: rules of derivatives and transposes, and symbolic zeros."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from bindax.experimental.hijax import GradAccum as GradAccum
from bindax.experimental.hijax import NullAccum as NullAccum
from bindax.experimental.hijax import ValAccum as ValAccum
from bindax.tree_util import register_pytree_node
from bindax_core.extend import Primitive, rules
from bindax_core.extend import zeros_like_aval as zeros_like_aval
from bindax_jax_names.shims._tables import RuleMapping, single
from bindax_transforms.autodiff.jvp import JVPTrace as JVPTrace
from bindax_transforms.autodiff.jvp import JVPTracer as JVPTracer
from bindax_transforms.zeros import UndefPrimal, Zero
from bindax_transforms.zeros import add_tangents as add_tangents
from bindax_transforms.zeros import instantiate_zeros as instantiate_zeros
from bindax_transforms.zeros import is_undef_primal as is_undefined_primal

__all__ = [
    "GradAccum",
    "JVPTrace",
    "JVPTracer",
    "NullAccum",
    "UndefinedPrimal",
    "ValAccum",
    "Zero",
    "add_jaxvals",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

Function = Callable[..., Any]
UndefinedPrimal = UndefPrimal
add_jaxvals = add_tangents

# Rules of packages return symbolic zeros out of mapped functions, as nodes without leaves.
register_pytree_node(Zero, lambda zero: ((), zero.aval), lambda aval, _: Zero(aval))


def _jvp_of(primitive: Primitive, rule: Function) -> Any:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        outs, out_tangents = rule(tuple(primals), tuple(tangents), **params)
        if not primitive.multiple_results:
            return outs, _zero_of(out_tangents, outs)
        return outs, [_zero_of(t, x) for t, x in zip(out_tangents, outs, strict=True)]

    return rules.jvp(jvp, symbolic_zeros=True)


def _zero_of(tangent: Any, x: Any) -> Any:
    """A tangent; a symbolic zero, which may come out of a mapped function, with the type of x."""
    return Zero.like(x) if type(tangent) is Zero else tangent


def _jvp_for_jax(primitive: Primitive, function: Function) -> Function:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        outs, out_tangents = function(primals, tangents, **params)
        return single(primitive, outs), single(primitive, out_tangents)

    return jvp


def _transpose_of(primitive: Primitive, rule: Function) -> Any:
    def transpose(cotangents: Any, *operands: Any, **params: Any) -> Any:
        found = rule(cotangents, *operands, **params)
        return [None if type(x) is Zero else x for x in found]

    return rules.transpose(transpose, symbolic_zeros=True)


def _transpose_for_jax(primitive: Primitive, function: Function) -> Function:
    def transpose(cotangents: Any, *operands: Any, **params: Any) -> Any:
        each = cotangents if primitive.multiple_results else [cotangents]
        return function(each, *operands, **params)

    return transpose


primitive_jvps: Final = RuleMapping(rules.jvp, _jvp_of, _jvp_for_jax)
primitive_transposes: Final = RuleMapping(rules.transpose, _transpose_of, _transpose_for_jax)


def get_primitive_transpose(primitive: Primitive) -> Function:
    """The transpose rule of a primitive.

    Raises:
        NotImplementedError: when it has none.
    """
    try:
        return primitive_transposes[primitive]
    except KeyError:
        raise NotImplementedError(
            f"Transpose rule (for reverse-mode differentiation) for {primitive.name!r} "
            f"not implemented"
        ) from None


def defjvp(primitive: Primitive, *jvps: Function | None) -> None:
    """Give the derivative with respect to each operand: ``jvp(tangent, *primals)``."""
    with_answer = [f and partial(_without_answer, f) for f in jvps]
    defjvp2(primitive, *with_answer)


def _without_answer(jvp: Function, tangent: Any, answer: Any, *primals: Any, **params: Any) -> Any:
    return jvp(tangent, *primals, **params)


def defjvp2(primitive: Primitive, *jvps: Function | None) -> None:
    """Give the derivative with respect to each operand: ``jvp(tangent, answer, *primals)``."""

    def rule(primals: Any, tangents: Any, **params: Any) -> Any:
        answer = primitive.bind(*primals, **params)
        total: Any = Zero.like(answer)
        for jvp, tangent in zip(jvps, tangents, strict=True):
            if jvp is not None and type(tangent) is not Zero:
                total = add_tangents(total, jvp(tangent, answer, *primals, **params))
        return answer, total

    primitive_jvps[primitive] = rule


def deflinear2(primitive: Primitive, transpose_rule: Function) -> None:
    """Say that a primitive is linear, with ``transpose(cotangent, *operands, **params)``."""

    def rule(primals: Any, tangents: Any, **params: Any) -> Any:
        answer = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            zeros = [Zero.like(x) for x in (answer if primitive.multiple_results else [answer])]
            return answer, single(primitive, zeros)
        return answer, primitive.bind(*map(instantiate_zeros, tangents), **params)

    primitive_jvps[primitive] = rule
    primitive_transposes[primitive] = transpose_rule


def deflinear(primitive: Primitive, transpose_rule: Function) -> None:
    """Say that a primitive is linear, with ``transpose(cotangent, **params)``."""
    deflinear2(
        primitive, lambda cotangent, *operands, **params: transpose_rule(cotangent, **params)
    )


def defbilinear(primitive: Primitive, lhs_rule: Function, rhs_rule: Function) -> None:
    """Say that a primitive is linear in each of two operands, with the two transposes."""

    def transpose(cotangent: Any, x: Any, y: Any, **params: Any) -> Any:
        if is_undefined_primal(x):
            return lhs_rule(cotangent, x, y, **params), None
        return None, rhs_rule(cotangent, x, y, **params)

    defjvp(
        primitive,
        lambda tangent, x, y, **params: primitive.bind(tangent, y, **params),
        lambda tangent, x, y, **params: primitive.bind(x, tangent, **params),
    )
    primitive_transposes[primitive] = transpose
