"""The softsign function: the function that users call, and its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    LoweringContext,
    ShapedArray,
    primitive,
    rules,
)


def softsign(x: Any) -> Any:
    """Elementwise softsign, ``x / (1 + |x|)``.

    Args:
        x: an array of a real floating dtype, of any shape, or a Python float.

    Returns:
        An array of the same shape and dtype, with values between -1 and 1.

    Raises:
        TypeError: when the dtype of ``x`` is not a real floating one.

    >>> float(softsign(3.0))
    0.75
    """
    return softsign_p.bind(x)


def _impl(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(x / (1 + np.abs(x)), dtype=x.dtype)


def _abstract_eval(x: ShapedArray) -> ShapedArray:
    if not np.issubdtype(x.dtype, np.floating):
        raise TypeError(
            f"softsign takes an array of a real floating dtype, but got {x.str_short()}. Convert "
            f"it first, for example with x.astype('float32')."
        )
    return x


def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    (x,), (x_dot,) = primals, tangents
    # The derivative is 1 / (1 + |x|)**2, which is (1 - |y|)**2 in terms of the result y.
    y = softsign(x)
    slope = 1.0 - abs(y)
    return y, lax.mul(x_dot, slope * slope)


def _vmap(
    axis_size: int, operands: Sequence[Any], batch_dims: Sequence[int | None]
) -> tuple[Any, int | None]:
    (x,), (batch_dim,) = operands, batch_dims
    return softsign(x), batch_dim


def _lowering(ctx: LoweringContext, x: Any) -> Any:
    (aval,) = ctx.avals_in
    one = ctx.constant(np.ones((), aval.dtype))
    ones = ctx.broadcast(one, ShapedArray((), aval.dtype), aval, ())
    (magnitude,) = ctx.op("stablehlo.abs", [x])
    (denominator,) = ctx.op("stablehlo.add", [magnitude, ones])
    (result,) = ctx.op("stablehlo.divide", [x, denominator])
    return result


softsign_p = primitive(
    "example.softsign",
    rules.impl(_impl),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp),
    rules.vmap(_vmap),
    rules.transpose.absent("softsign is not linear"),
    rules.lowering["stablehlo"](_lowering),
)
