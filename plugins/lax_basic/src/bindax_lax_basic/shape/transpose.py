"""Permuting the axes of an array, and reversing the order of elements along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, linear
from bindax_lax_basic.rules.types import axes_argument, static_ints

__all__ = ["rev", "rev_p", "transpose", "transpose_p"]


def transpose(
    operand: Any, permutation: Sequence[int] | None = None, *, perm: Sequence[int] | None = None
) -> Array:
    """Permute the axes of an array.

    Args:
        operand: an array of any dtype.
        permutation: for each axis of the result the axis of ``operand`` it is.
        perm: another name for ``permutation``.

    Raises:
        ValueError: when ``permutation`` is no permutation of the axes.

    >>> import numpy as np
    >>> transpose(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    order = permutation if perm is None else perm
    if order is None:
        raise TypeError("transpose needs a permutation of the axes; for the reverse use x.T.")
    axes = static_ints("transpose", "permutation", order)
    return transpose_p.bind(operand, permutation=axes)


def _transpose_type(x: ShapedArray, *, permutation: tuple[int, ...]) -> ShapedArray:
    if sorted(permutation) != list(range(x.ndim)):
        raise ValueError(
            f"transpose: {permutation} is not a permutation of the {x.ndim} axes of "
            f"{x.str_short()}; each of 0 to {x.ndim - 1} must appear once."
            if x.ndim
            else f"transpose: the scalar {x.str_short()} has no axes to permute by {permutation}."
        )
    return x.update(shape=tuple([x.shape[i] for i in permutation]))


def _transpose_vmap(
    size: int, operands: Values, dims: BatchDims, *, permutation: tuple[int, ...]
) -> Batched:
    (x,), (d,) = operands, dims
    lifted = (d, *(i + (i >= d) for i in permutation))
    return transpose_p.bind(x, permutation=lifted), 0


def _transpose_transpose(ct: Any, x: Any, *, permutation: tuple[int, ...]) -> list[Any]:
    inverse = tuple(sorted(range(len(permutation)), key=permutation.__getitem__))
    return [transpose_p.bind(ct, permutation=inverse)]


transpose_p: Primitive = primitive(
    "transpose",
    rules.impl(lambda x, *, permutation: x.transpose(permutation)),
    rules.abstract_eval(_transpose_type),
    linear(),
    rules.vmap(_transpose_vmap),
    rules.transpose(_transpose_transpose),
    rules.lowering["stablehlo"](lower.as_one("stablehlo.transpose", permutation=lower.integers)),
)


def moveaxis(x: Any, source: int, destination: int) -> Any:
    """Move one axis of an array, given by non-negative numbers, to another place."""
    if source == destination:
        return x
    order = [i for i in range(typeof(x).ndim) if i != source]
    order.insert(destination, source)
    return transpose_p.bind(x, permutation=tuple(order))


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
)
