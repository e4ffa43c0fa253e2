"""The family of elementwise primitives: the rules that all of them share, or many."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, Primitive, Rule, rules, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import mul_p
from bindax_lax_basic.elementwise.conversion import same_dims
from bindax_lax_basic.rules.batching import elementwise_batch
from bindax_lax_basic.rules.evaluation import exact
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangent
from bindax_lax_basic.rules.lowering import Lowering, inlined, operation
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import Kinds, ResultDType, elementwise_type
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_transforms.zeros import Zero, add_tangents

Function = Callable[..., Any]


def elementwise(
    name: str,
    numpy_function: Function,
    *accepts: Kinds,
    result: ResultDType = None,
    same_dtype: bool = True,
    slow: bool = False,
    linear: Any = None,
) -> tuple[Rule, Rule, Rule, Rule]:
    """The ``impl``, ``abstract_eval``, ``vmap`` and ``sharding`` rules of an elementwise primitive.

    Args:
        name: the primitive's name, for messages.
        numpy_function: computes it on NumPy arrays. Where the result has the dtype of the first
            operand, a wider result is cast back to it.
        accepts: for each operand the kinds of dtypes it may have (``dtypes.FLOAT`` and so on).
        result: the dtype of the result: that of the first operand, a fixed one, or a function of
            the first operand's.
        same_dtype: whether all operands must have the same dtype.
        slow: whether NumPy has no fast form of it, so that a compiler is preferred where there is
            one.
        linear: in which operands it is linear, as ``rules.sharding`` has it.
    """
    # A ufunc keeps the dtype of floats; it is narrow integers that it computes wider.
    keeps = isinstance(numpy_function, np.ufunc) and accepts[0] <= dtypes.INEXACT
    computed = numpy_function if result is not None or keeps else exact(numpy_function)
    return (
        rules.impl(computed, slow=slow),
        rules.abstract_eval(elementwise_type(name, *accepts, result=result, same_dtype=same_dtype)),
        same_dims() if len(accepts) == 1 else elementwise_batch(),
        rules.sharding("elementwise", linear=linear),
    )


def derivative(partial: Function) -> Rule:
    """The ``jvp`` rule of an elementwise primitive of one operand.

    Args:
        partial: ``(x, out, **params) -> factor``, the derivative at ``x``, where ``out`` is the
            function's value there; a Python number when it is constant.

    The tangent is ``factor * t``; nothing is computed when the tangent is zero.
    """

    # Most operations are such ones: the general rule below takes half as long again.
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


def nonlinear(
    lowering: str | Lowering | Rule, *factors: Function | None
) -> tuple[Rule, Rule, Rule]:
    """The ``jvp``, ``transpose`` and lowering rules of an elementwise primitive that is not linear.

    Args:
        lowering: the name of the one operation that it is, or what lowers it otherwise.
        factors: for each operand the partial derivative, as for ``derivative`` and ``partials``.
    """
    return (
        derivative(factors[0]) if len(factors) == 1 and factors[0] else partials(*factors),
        rules.transpose.absent("not linear"),
        lowers_to(lowering),
    )


def lowers_to(lowering: str | Lowering | Rule) -> Rule:
    """The lowering rule from the name of one elementwise operation, or from a function."""
    if isinstance(lowering, Rule):
        return lowering
    return rules.lowering["stablehlo"](
        operation(lowering) if isinstance(lowering, str) else lowering
    )


def composition(function: Function) -> Lowering:
    """A lowering rule from a traceable function: what it is made of is lowered in its place.

    Args:
        function: takes the operands, and the parameters by keyword; returns one result.
    """

    def rule(ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        @wraps(function)  # messages name it
        def program(*xs: Any) -> list[Any]:
            return [function(*xs, **params)]

        return inlined(ctx, program, values, ctx.avals_in)[0]

    return rule


def of_real(
    function: Function, otherwise: str, dtypes: tuple[str, ...] = ("float32", "float64")
) -> Lowering:
    """A lowering rule from a traceable function for some dtypes, and from an operation for others.

    Args:
        function: takes the operands and returns one result, more accurately than the operation.
        otherwise: the name of the operation.
        dtypes: those that the function is for.

    >>> from bindax_lax_basic.elementwise.arithmetic import mul_p
    >>> callable(of_real(lambda x: mul_p.bind(x, x), "chlo.square"))
    True
    """
    accurate, plain = composition(function), operation(otherwise)

    def rule(ctx: LoweringContext, *values: Any) -> Any:
        chosen = accurate if ctx.avals_in[0].dtype.name in dtypes else plain
        return chosen(ctx, *values)

    return rule
