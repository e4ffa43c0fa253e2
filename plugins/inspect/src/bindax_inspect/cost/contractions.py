"""Costs of matrix products and convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any


def dot_general(operands: Any, results: Any, *, dimension_numbers: Any, **params: Any) -> Any:
    """Return a multiplication and an addition for each product of two elements."""
    (contracted, _), _ = dimension_numbers
    return 2 * results[0].size * math.prod(operands[0].shape[axis] for axis in contracted)


def conv_general_dilated(
    operands: Any,
    results: Any,
    *,
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    dimension_numbers: Any,
    **params: Any,
) -> Any:
    """Return a multiplication and an addition for each pair of elements that meet.

    Elements of the kernel that meet padding, or the holes of a dilated operand, are not counted.
    """
    x, kernel = operands
    x_spec, kernel_spec, out_spec = _specs(dimension_numbers)
    pairs = 1
    for i, stride in enumerate(window_strides):
        pairs *= _meetings(
            size=x.shape[x_spec[2 + i]],
            window=kernel.shape[kernel_spec[2 + i]],
            results=results[0].shape[out_spec[2 + i]],
            stride=stride,
            before=padding[i][0],
            dilation=lhs_dilation[i],
            window_dilation=rhs_dilation[i],
        )
    batch, features = results[0].shape[out_spec[0]], results[0].shape[out_spec[1]]
    return 2 * pairs * batch * features * kernel.shape[kernel_spec[1]]


def _specs(dimension_numbers: Any) -> tuple[Any, Any, Any]:
    x, kernel, out = tuple(dimension_numbers)
    return x, kernel, out


def _meetings(
    *,
    size: int,
    window: int,
    results: int,
    stride: int,
    before: int,
    dilation: int,
    window_dilation: int,
) -> int:
    """The pairs of a result and an element of the window, along one axis, that meet an element."""
    last = (size - 1) * dilation
    return sum(
        1
        for result in range(results)
        for k in range(window)
        if 0 <= (place := result * stride - before + k * window_dilation) <= last
        and place % dilation == 0
    )


RULES: dict[str, Callable[..., Any]] = {
    "conv_general_dilated": conv_general_dilated,
    "dot_general": dot_general,
}
