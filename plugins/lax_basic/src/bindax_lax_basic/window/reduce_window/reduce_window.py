"""Reduction of the windows that slide over an array, by any computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    tree_unflatten,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import add_p
from bindax_lax_basic.elementwise.selection import max_p, min_p
from bindax_lax_basic.reductions import reduction_computations as computations
from bindax_lax_basic.rules.composites import composite_batch, composite_impl, composite_jvp
from bindax_lax_basic.rules.types import static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_lax_basic.shape.slice_and_pad import pad_p
from bindax_lax_basic.window.geometry import Geometry, check_geometry, geometry, window_attributes
from bindax_lax_basic.window.reduce_window.pooling import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
)
from bindax_lax_basic.window.sharding import windowed

__all__ = ["reduce_window", "reduce_window_p", "reduce_window_shape_tuple"]


_POOLS: Mapping[Primitive, Primitive] = {
    add_p: reduce_window_sum_p,
    max_p: reduce_window_max_p,
    min_p: reduce_window_min_p,
}


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """For each of the windows that slide over an array, what its elements combine to.

    Args:
        operand: an array, or a tree of arrays of one shape that are reduced together.
        init_value: for each a neutral scalar of its dtype, which the padding holds too.
        computation: combines what is accumulated with one more element, two scalars (or trees of
            scalars); associative.
        window_dimensions: the size of a window on each axis.
        window_strides: the distance of neighbouring windows; 1 by default.
        padding: ``"VALID"``, ``"SAME"``, ``"SAME_LOWER"``, or for each axis how much is added
            before and after; negative amounts are cut off.
        base_dilation: the distance to which elements of the operand are spread; 1 by default.
        window_dilation: the distance of the elements of a window; 1 by default.

    Raises:
        TypeError: when shapes or dtypes do not fit together, or the computation returns other
            types than it takes.
        ValueError: when a size is not positive, or the padding has no such name.

    A sum from 0 and a maximum or minimum from the least or greatest value are primitives of their
    own. The derivative of an extremum goes to the first of the elements that tie.

    >>> x = np.array([1.0, 5.0, 2.0, 3.0])
    >>> from bindax_lax_basic import add, max
    >>> reduce_window(x, -np.inf, max, (2,), (2,))
    Array([5., 3.], dtype=float64)
    >>> reduce_window(x, 0.0, add, (3,), padding="SAME")
    Array([ 6.,  8., 10.,  5.], dtype=float64)
    """
    values, tree, program = computations.reduction_operands(
        "reduce_window", operand, init_value, computation, _POOLS
    )
    sizes = window_dimensions, window_strides, padding, base_dilation, window_dilation
    window = geometry("reduce_window", typeof(values[0]).shape, *sizes)._asdict()
    which = computations.sole_primitive(program)
    pool = None if which is None else _POOLS.get(which)
    unordered = which is not add_p and dtypes.is_complex(typeof(values[0]).dtype)
    if which and pool and not unordered and computations.is_identity(which, values[1]):
        outs = [pool.bind(values[0], **window)]
    else:
        outs = reduce_window_p.bind(*values, computation=program, **window)
    return tree_unflatten(tree, outs)


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None,
    padding: str | Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of a ``reduce_window``, whose arguments these are.

    >>> reduce_window_shape_tuple((5, 6), (2, 3), (1, 2), "VALID")
    (4, 2)
    """
    name = "reduce_window_shape_tuple"
    shape = static_ints(name, "operand_shape", operand_shape)
    sizes = window_dimensions, window_strides, padding, base_dilation, window_dilation
    return geometry(name, shape, *sizes).out_shape(shape)


def _window_type(*avals: ShapedArray, computation: ClosedJaxpr, **params: Any) -> list[ShapedArray]:
    computations.check_operands("reduce_window", avals)
    window = Geometry(**params)
    check_geometry("reduce_window", avals[0], window)
    shape = window.out_shape(avals[0].shape)
    return [ShapedArray(shape, aval.dtype) for aval in avals[: len(avals) // 2]]


def _by_places(*values: Any, computation: ClosedJaxpr, **params: Any) -> list[Any]:
    """The same made of other operations: all windows take their elements place by place."""
    window = Geometry(**params)
    combine = computations.vectorized(computation)
    count = len(values) // 2
    operands, inits = values[:count], values[count:]
    config = window.padding_config()
    shape = window.out_shape(typeof(operands[0]).shape)
    outs = [broadcast_to(init, shape) for init in inits]
    if 0 in shape:
        return outs
    padded = [
        pad_p.bind(x, init, padding_config=config) for x, init in zip(operands, inits, strict=True)
    ]
    for offset in window.offsets():
        outs = combine(outs, [window.at(x, offset, shape) for x in padded])
    return outs


def _window_vmap(
    size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    *,
    computation: ClosedJaxpr,
    **params: Any,
) -> tuple[list[Any], list[int]]:
    count = len(operands) // 2
    d = dims[0]
    if d is not None and list(dims) == [d] * count + [None] * count:
        window = Geometry(**params).with_axis(d)
        outs = reduce_window_p.bind(*operands, computation=computation, **window._asdict())
        return outs, [d] * count
    composite = partial(_by_places, computation=computation, **params)
    return composite_batch(composite, size, operands, dims)


def _window_lowering(
    ctx: LoweringContext, *values: Any, computation: ClosedJaxpr, **params: Any
) -> list[Any]:
    attributes = window_attributes(Geometry(**params))
    regions = [computations.computation_region(computation)]
    return list(ctx.op("stablehlo.reduce_window", values, attributes=attributes, regions=regions))


reduce_window_p: Primitive = primitive(
    "reduce_window",
    composite_impl(_by_places),
    rules.abstract_eval(_window_type),
    composite_jvp(_by_places),
    rules.vmap(_window_vmap),
    rules.transpose.absent("not linear: its tangents are made of other operations"),
    rules.lowering["stablehlo"](_window_lowering),
    windowed(count=0),
    multiple_results=True,
)
"""Operands: arrays of one shape, then as many initial values."""
