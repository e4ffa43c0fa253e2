"""Parts of ``lowering["stablehlo"]`` rules. No rule here or in a definition imports a compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    DebugInfo,
    Dimension,
    LoweringContext,
    Region,
    ShapedArray,
    describe_function,
)
from bindax_transforms import trace_to_jaxpr

Lowering = Callable[..., Any]


def integers(values: Sequence[int]) -> str:
    """The text of an array attribute: ``array<i64: 0, 1>``.

    >>> integers((0, 1))
    'array<i64: 0, 1>'
    """
    return f"array<i64: {', '.join(map(str, values))}>" if len(values) else "array<i64>"


def booleans(values: Sequence[bool]) -> str:
    """The text of an array attribute of booleans."""
    texts = ", ".join("true" if v else "false" for v in values)
    return f"array<i1: {texts}>" if texts else "array<i1>"


def integer(value: int) -> str:
    """The text of an attribute of 64 bits."""
    return f"{value} : i64"


def sizes(ctx: LoweringContext, values: Sequence[Any], dtype: Any) -> Any:
    """A vector of sizes, some of which can be symbolic, as a constant of a dtype."""
    if not any(isinstance(size, Dimension) for size in values):
        return ctx.constant(np.asarray(values, dtype))
    scalar, row = ShapedArray((), dtype), ShapedArray((1,), dtype)
    parts = []
    for size in values:
        known = ctx.constant(size if isinstance(size, Dimension) else np.int64(size))
        parts += ctx.op("stablehlo.reshape", ctx.op("stablehlo.convert", [known], [scalar]), [row])
    whole = ShapedArray((len(parts),), dtype)
    return ctx.op("stablehlo.concatenate", parts, [whole], {"dimension": "0 : i64"})[0]


def operation(name: str, attributes: Mapping[str, str] | None = None) -> Lowering:
    """Lower an elementwise primitive to one operation of the same operands.

    Args:
        name: the operation, such as ``"stablehlo.sine"`` or ``"chlo.tan"``.
        attributes: its attributes, as MLIR text.

    Scalar operands are broadcast to the shape of the result.
    """
    fixed = attributes or {}

    def rule(ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        return ctx.op(name, same_shape(ctx, values), attributes=fixed)[0]

    return rule


def inlined(
    ctx: LoweringContext, program: Callable[..., list[Any]], values: Sequence[Any], avals: Any
) -> list[Any]:
    """The results of a traceable function of values of some types, lowered in its place."""
    jaxpr = trace_to_jaxpr(program, avals, DebugInfo(f"lowering of {describe_function(program)}"))
    return list(ctx.inline(jaxpr, list(values)))


def as_one(name: str, **texts: Callable[[Any], str]) -> Lowering:
    """Lower a primitive to one operation, of which these parameters are attributes, as text."""

    def rule(ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        attributes = {parameter: text(params[parameter]) for parameter, text in texts.items()}
        return ctx.op(name, values, attributes=attributes)[0]

    return rule


def of_two(combine: str | Callable[..., Any], scalar: ShapedArray) -> Region:
    """The body of a reduction: an operation of two scalars, or a function that adds it.

    The function takes a lowering context, the type of the scalars, and the two.
    """

    def body(inner: LoweringContext, a: Any, b: Any) -> Sequence[Any]:
        if callable(combine):
            return [combine(inner, scalar, a, b)]
        return inner.op(combine, [a, b], result_avals=[scalar])

    return Region((scalar, scalar), body)


def same_shape(ctx: LoweringContext, values: Sequence[Any], skip: Sequence[int] = ()) -> list[Any]:
    """The operands of an elementwise operation, scalars broadcast to the shape of the result.

    Args:
        ctx: the lowering context.
        values: the operands' values.
        skip: the positions of operands that may stay scalars.
    """
    shape = ctx.avals_out[0].shape
    if not shape:
        return list(values)
    return [
        value
        if aval.shape or position in skip
        else ctx.broadcast(value, aval, aval.update(shape=shape), ())
        for position, (value, aval) in enumerate(zip(values, ctx.avals_in, strict=True))
    ]


def full(ctx: LoweringContext, aval: ShapedArray, value: Any) -> Any:
    """A value of a type with all elements equal."""
    scalar = aval.update(shape=(), weak_type=False)
    constant = ctx.constant(np.asarray(value).astype(aval.dtype))
    return constant if not aval.shape else ctx.broadcast(constant, scalar, aval, ())
