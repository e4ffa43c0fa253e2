"""Permuting the axes of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values, linear
from bindax_lax_basic.rules.sharding import by_axes
from bindax_lax_basic.rules.types import static_ints

__all__ = ["transpose", "transpose_p"]


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
    by_axes(lambda ndim, permutation: permutation, linear=True),
)


def moveaxis(x: Any, source: int, destination: int) -> Any:
    """Move one axis of an array, given by non-negative numbers, to another place."""
    if source == destination:
        return x
    order = [i for i in range(typeof(x).ndim) if i != source]
    order.insert(destination, source)
    return transpose_p.bind(x, permutation=tuple(order))
