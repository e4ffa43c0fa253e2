"""``vmap`` rules of operations on several operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import Primitive, Rule, rules, typeof
from bindax_lax_basic.rules.linear import BatchDims, Batched, Values
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_axis, broadcast_in_dim_p
from bindax_lax_basic.shape.transpose import moveaxis

Function = Callable[..., Any]


def elementwise_batch(bind: Function | None = None) -> Rule:
    """The ``vmap`` rule of an elementwise primitive of any number of operands.

    Args:
        bind: binds the primitive to batched operands; by default its ``bind``.

    Operands are arrays of one shape or scalars. Batched operands are brought to one place of the
    batch axis; a scalar that is not batched stays one, everything else is broadcast.
    """

    def rule(
        primitive: Primitive, size: int, operands: Values, dims: Sequence[int | None], **params: Any
    ) -> Batched:
        aligned, destination = align_batch_axes(size, operands, dims)
        return (bind or primitive.bind)(*aligned, **params), destination

    return rules.vmap(rule, takes_primitive=True)


def align_batch_axes(
    size: int, operands: Values, dims: Sequence[int | None]
) -> tuple[Sequence[Any], int]:
    """Operands of an elementwise operation with their batch axes in one place, and that place.

    >>> x, y, z = np.ones((5, 4)), np.ones(4), 2.0
    >>> operands, axis = align_batch_axes(5, [x, y, z], [0, None, None])
    >>> [typeof(operand).shape for operand in operands], axis
    ([(5, 4), (5, 4), ()], 0)
    """
    shapes = [typeof(x).shape for x in operands]
    if len(set(dims)) == 1 and len(set(shapes)) == 1 and dims[0] is not None:
        return operands, dims[0]
    ranks = [len(s) - (d is not None) for s, d in zip(shapes, dims, strict=True)]
    rank = max(ranks)
    leading = [d for d, r in zip(dims, ranks, strict=True) if d is not None and r == rank]
    destination = leading[0] if leading else 0
    whole, dim = shapes[ranks.index(rank)], dims[ranks.index(rank)]
    own = whole if dim is None else whole[:dim] + whole[dim + 1 :]
    full = (*own[:destination], size, *own[destination:])
    aligned = []
    for x, d, r in zip(operands, dims, ranks, strict=True):
        if d is None:
            aligned.append(x if r == 0 else broadcast_axis(x, size, destination))
        elif r == rank:
            aligned.append(moveaxis(x, d, destination))
        else:
            aligned.append(
                broadcast_in_dim_p.bind(x, shape=full, broadcast_dimensions=(destination,))
            )
    return aligned, destination


def batch_first(x: Any, dim: int | None, size: int) -> Any:
    """An operand with its batch axis in front, made by repetition when it has none."""
    return broadcast_axis(x, size, 0) if dim is None else moveaxis(x, dim, 0)


def along_axis() -> Rule:
    """The ``vmap`` rule of a primitive of one operand, along its parameter ``axis``."""

    def rule(
        primitive: Primitive,
        size: int,
        operands: Values,
        dims: BatchDims,
        *,
        axis: int,
        **params: Any,
    ) -> Batched:
        (x,), (d,) = operands, dims
        out = primitive.bind(x, axis=axis + (axis >= d), **params)
        return (out, [d] * len(out)) if primitive.multiple_results else (out, d)

    return rules.vmap(rule, takes_primitive=True)


def leading_batch(*axes: str) -> Rule:
    """The ``vmap`` rule of a primitive whose operands and results share any leading axes.

    Args:
        axes: the parameters that are axes, counted from the first one.
    """

    def rule(
        primitive: Primitive, size: int, operands: Values, dims: Sequence[int | None], **params: Any
    ) -> Batched:
        aligned = [batch_first(x, d, size) for x, d in zip(operands, dims, strict=True)]
        shifted = {name: params[name] + 1 for name in axes}
        out = primitive.bind(*aligned, **{**params, **shifted})
        return (out, [0] * len(out)) if primitive.multiple_results else (out, 0)

    return rules.vmap(rule, takes_primitive=True)
