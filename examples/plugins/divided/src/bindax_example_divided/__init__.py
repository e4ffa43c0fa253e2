"""A primitive with a sharding rule, one without, and a rule for the primitive of another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_example_softsign.function import softsign_p

from bindax_core.extend import (
    Extension,
    LoweringContext,
    Primitive,
    extend,
    hookimpl,
    primitive,
    rules,
)


def mirrored(x: Any) -> Any:
    """The rows of an array in reverse order of their elements.

    Args:
        x: an array of at least one axis, whose last one is whole on each device.

    >>> import numpy as np
    >>> mirrored(np.arange(3.0))
    Array([2., 1., 0.], dtype=float64)
    """
    return mirrored_p.bind(x)


def halved(x: Any) -> Any:
    """Half of an array of floats, which is whole on each device.

    >>> import numpy as np
    >>> halved(np.arange(3.0))
    Array([0. , 0.5, 1. ], dtype=float64)
    """
    return halved_p.bind(x)


def _reverse(ctx: LoweringContext, x: Any) -> Any:
    last = ctx.avals_in[0].ndim - 1
    return ctx.op("stablehlo.reverse", [x], attributes={"dimensions": f"array<i64: {last}>"})[0]


def _half(ctx: LoweringContext, x: Any) -> Any:
    (aval,) = ctx.avals_in
    one = ctx.constant(aval.dtype.type(0.5))
    return ctx.op("stablehlo.multiply", [x, ctx.broadcast(one, aval.update(shape=()), aval, ())])[0]


def _linear(name: str, function: Any, lowering: Any, *more: Any) -> Primitive:
    """A linear primitive that does the same to each row, and is its own transpose."""

    def batch(size: int, operands: Any, dims: Any) -> Any:
        (x,), (axis,) = operands, dims
        front = x.transpose(axis, *[i for i in range(x.ndim) if i != axis])
        return made.bind(front), 0

    made = primitive(
        name,
        rules.impl(function),
        rules.abstract_eval(lambda x: x),
        rules.jvp(lambda primals, tangents: (made.bind(*primals), made.bind(*tangents))),
        rules.vmap(batch),
        rules.transpose(lambda cotangent, x: [made.bind(cotangent)]),
        rules.lowering["stablehlo"](lowering),
        *more,
    )
    return made


mirrored_p = _linear(
    "example.mirrored", lambda x: x[..., ::-1].copy(), _reverse, rules.sharding("...N->...N")
)
halved_p = _linear("example.halved", lambda x: x * x.dtype.type(0.5), _half)


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """The rule for the primitive of another package: each axis lies as that of the operand."""
    yield extend(softsign_p, rules.sharding("elementwise"))


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Sample inputs for the conformance suite, with axes that can be divided."""
    from bindax_testing import array, sample

    for one in (mirrored_p, halved_p):
        yield sample(one, array((4, 3)))
        yield sample(one, array((2, 4), "float64"))
