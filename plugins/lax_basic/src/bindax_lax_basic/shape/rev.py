"""Reversing the order of elements along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, linear
from bindax_lax_basic.rules.types import axes_argument

__all__ = ["rev", "rev_p"]


def rev(operand: Any, dimensions: Any) -> Array:
    """Reverse the order of the elements along some axes.

    >>> rev(np.arange(3), (0,))
    Array([2, 1, 0], dtype=int64)
    """
    axes = axes_argument("rev", dimensions, typeof(operand).ndim, "dimensions")
    return rev_p.bind(operand, dimensions=axes)


def _rev_type(x: ShapedArray, *, dimensions: tuple[int, ...]) -> ShapedArray:
    axes_argument("rev", dimensions, x.ndim, "dimensions")
    return x


def _rev_vmap(
    size: int, operands: Values, dims: BatchDims, *, dimensions: tuple[int, ...]
) -> Batched:
    (x,), (d,) = operands, dims
    return rev_p.bind(x, dimensions=tuple([axis + (axis >= d) for axis in dimensions])), d


def _rev_impl(x: NumPyArray, *, dimensions: tuple[int, ...]) -> NumPyArray:
    return np.flip(x, dimensions)


rev_p: Primitive = primitive(
    "rev",
    rules.impl(_rev_impl),
    rules.abstract_eval(_rev_type),
    linear(),
    rules.vmap(_rev_vmap),
    rules.transpose(lambda p, ct, x, **params: [p.bind(ct, **params)], takes_primitive=True),
    rules.lowering["stablehlo"](lower.as_one("stablehlo.reverse", dimensions=lower.integers)),
    rules.sharding("elementwise", linear=True),
)
