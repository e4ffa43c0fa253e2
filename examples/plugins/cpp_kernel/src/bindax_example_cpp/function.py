"""The function that users call, and the definition of its primitive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray, operations_for, primitive, rules, typeof
from bindax_example_cpp.kernel import TARGET, fading_sum_numpy
from bindax_ffi import ffi_lowering


def fading_sum(x: Any, *, decay: float, reverse: bool = False) -> Any:
    """Sum along the last axis, with what is past fading: ``y[t] = x[t] + decay * y[t - 1]``.

    Args:
        x: an array of float32 or float64 with at least one axis.
        decay: how much of the sum is kept at each step; a number, not a traced value.
        reverse: whether it goes from the end to the start.

    Returns:
        An array of the same shape and dtype.

    Raises:
        TypeError: when ``x`` has another dtype, or no axis.

    >>> import numpy as np
    >>> fading_sum(np.array([1.0, 1.0, 1.0]), decay=0.5)
    Array([1.  , 1.5 , 1.75], dtype=float64)
    """
    return fading_sum_p.bind(x, decay=float(decay), reverse=bool(reverse))


def _abstract_eval(x: ShapedArray, *, decay: float, reverse: bool) -> ShapedArray:
    if x.dtype not in (np.float32, np.float64) or x.ndim == 0:
        raise TypeError(
            f"fading_sum takes an array of float32 or float64 with at least one axis, but got "
            f"{x.str_short()}. Convert it first, for example with x.astype('float32')."
        )
    return x


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    # The function is linear.
    return fading_sum_p.bind(*primals, **params), fading_sum_p.bind(*tangents, **params)


def _transpose(cotangent: Any, x: Any, *, decay: float, reverse: bool) -> list[Any]:
    return [fading_sum_p.bind(cotangent, decay=decay, reverse=not reverse)]


def _vmap(
    axis_size: int, operands: Sequence[Any], batch_dims: Sequence[int | None], **params: Any
) -> tuple[Any, int]:
    (x,), (batch_dim,) = operands, batch_dims
    # The kernel takes any number of leading axes.
    moved = operations_for(typeof(x)).move_axis(x, batch_dim, 0)
    return fading_sum_p.bind(moved, **params), 0


fading_sum_p = primitive(
    "example.fading_sum",
    rules.impl(fading_sum_numpy),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp),
    rules.vmap(_vmap),
    rules.transpose(_transpose),
    rules.lowering["stablehlo"](ffi_lowering(TARGET)),
)
