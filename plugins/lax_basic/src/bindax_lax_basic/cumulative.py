"""Cumulative sums."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    Primitive,
    ShapedArray,
    abstract_eval,
    impl,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic._elementwise import composition
from bindax_lax_basic._linear import linear
from bindax_lax_basic._numpy import NumPyArray, quiet
from bindax_lax_basic._operands import constant
from bindax_lax_basic._types import axis_argument, require_kind
from bindax_lax_basic.arithmetic import add_p
from bindax_lax_basic.slicing import pad_p


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Sums of the elements up to and including each, along an axis.

    Args:
        operand: an array of numbers.
        axis: the axis to sum along.
        reverse: whether to sum from the end.

    >>> cumsum(np.array([1.0, 2.0, 3.0]))
    Array([1., 3., 6.], dtype=float64)
    >>> cumsum(np.array([1.0, 2.0, 3.0]), reverse=True)
    Array([6., 5., 3.], dtype=float64)
    """
    axis = axis_argument("cumsum", axis, typeof(operand).ndim)
    return cumsum_p.bind(operand, axis=axis, reverse=bool(reverse))


def _cumsum_type(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
    require_kind("cumsum", x, dtypes.NUMBER)
    if not 0 <= axis < x.ndim:
        raise ValueError(f"cumsum: {axis} is not an axis of {x.str_short()}.")
    return x


@quiet
def _cumsum_impl(x: NumPyArray, *, axis: int, reverse: bool) -> Any:
    wide = dtypes.accumulator_dtype(x.dtype)
    source = np.flip(x, axis) if reverse else x
    out = np.add.accumulate(source.astype(wide, copy=False), axis=axis, dtype=wide)
    out = out.astype(x.dtype, copy=False)
    return np.flip(out, axis) if reverse else out


def _cumsum_vmap(
    size: int, operands: Sequence[Any], dims: Sequence[int], *, axis: int, reverse: bool
) -> tuple[Any, int]:
    (x,), (d,) = operands, dims
    return cumsum_p.bind(x, axis=axis + (axis >= d), reverse=reverse), d


def _by_doubling(x: Any, *, axis: int, reverse: bool) -> Any:
    """The same made of additions: after each step the sums reach twice as far back."""
    shape = typeof(x).shape
    reach = 1
    while reach < shape[axis]:
        edges = (-reach, reach, 0) if reverse else (reach, -reach, 0)
        config = tuple([edges if i == axis else (0, 0, 0) for i in range(len(shape))])
        x = add_p.bind(x, pad_p.bind(x, constant(0, x), padding_config=config))
        reach *= 2
    return x


cumsum_p: Primitive = primitive(
    "cumsum",
    impl(_cumsum_impl),
    abstract_eval(_cumsum_type),
    linear(lambda t, **params: cumsum_p.bind(t, **params)),
    vmap(_cumsum_vmap),
    transpose(lambda ct, x, *, axis, reverse: [cumsum_p.bind(ct, axis=axis, reverse=not reverse)]),
    lowering["stablehlo"](composition(_by_doubling)),
)
