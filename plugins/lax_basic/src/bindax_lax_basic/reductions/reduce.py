"""Reduction by any computation."""

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
from bindax_core.sharding import ambiguous
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p
from bindax_lax_basic.elementwise.comparison import and_p, or_p, xor_p
from bindax_lax_basic.elementwise.selection import max_p, min_p
from bindax_lax_basic.reductions import reduction_computations as computations
from bindax_lax_basic.reductions import reductions
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.composites import composite_batch, composite_impl, composite_jvp
from bindax_lax_basic.rules.linear import Batched, Values
from bindax_lax_basic.rules.sharding import alike
from bindax_lax_basic.rules.types import axes_argument
from bindax_lax_basic.shape.broadcast_and_reduce_sum import (
    Dims,
    broadcast_to,
    lift_axes,
    reduce_sum_p,
    reduced_shape,
)
from bindax_lax_basic.shape.concatenate import concatenate_p
from bindax_lax_basic.shape.reshape import squeeze_p
from bindax_lax_basic.shape.slice_and_pad import every
from bindax_transforms.extend import decided

__all__ = ["reduce", "reduce_p"]


_REDUCTIONS: Mapping[Primitive, Primitive] = {
    add_p: reduce_sum_p,
    mul_p: reductions.reduce_prod_p,
    max_p: reductions.reduce_max_p,
    min_p: reductions.reduce_min_p,
    and_p: reductions.reduce_and_p,
    or_p: reductions.reduce_or_p,
    xor_p: reductions.reduce_xor_p,
}


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Any:
    """Combine the elements of arrays over axes by any function.

    Args:
        operands: an array, or a tree of arrays of one shape that are reduced together.
        init_values: for each a scalar of its dtype that is neutral: evaluation combines it with
            the elements once, but compilers may do so any number of times. The neutral element of
            a sum and its like may have any dtype.
        computation: takes two trees of scalars, what has been combined and more of it, and
            returns their combination. It must be associative; the grouping is not specified, and
            compilers may also change the order.
        dimensions: the axes to reduce.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        The tree of the results.

    Raises:
        ValueError: when the trees differ, an axis is out of bounds or named twice, or an initial
            value is no scalar.
        TypeError: when shapes or dtypes do not fit together, or the computation returns other
            types than it takes, or uses traced arrays from outside.

    A sum, product, extremum or bit operation by itself becomes its own primitive.

    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> reduce(x, 0.0, lambda a, b: a + b, (1,))
    Array([3., 7.], dtype=float64)
    >>> reduce(x, 0.0, lambda a, b: a + b + a * b, (1,))
    Array([ 5., 19.], dtype=float64)
    """
    if out_sharding is not None:
        return decided(reduce, out_sharding, (operands, init_values, computation, dimensions))
    values, tree, program = computations.reduction_operands(
        "reduce", operands, init_values, computation, _REDUCTIONS
    )
    aval = typeof(values[0])
    axes = axes_argument("reduce", dimensions, aval.ndim, "dimensions")
    which = computations.sole_primitive(program)
    if which is not None:
        out = _REDUCTIONS[which].bind(values[0], axes=axes)
        if not computations.is_identity(which, values[1]):
            out = which.bind(broadcast_to(values[1], typeof(out).shape), out)
        outs = [out]
    else:
        outs = reduce_p.bind(*values, computation=program, dimensions=axes)
    return tree_unflatten(tree, outs)


def _type(*avals: ShapedArray, computation: ClosedJaxpr, dimensions: Dims) -> list[ShapedArray]:
    computations.check_operands("reduce", avals)
    count = len(avals) // 2
    shape = reduced_shape("reduce", avals[0], dimensions)
    return [ShapedArray(shape, aval.dtype) for aval in avals[:count]]


def _by_halves(*values: Any, computation: ClosedJaxpr, dimensions: Dims) -> list[Any]:
    """The same made of other operations: neighbours are combined until one is left."""
    combine = computations.vectorized(computation)
    count = len(values) // 2
    xs = [reductions.reduced_axes_first(x, dimensions) for x in values[:count]]
    length, *kept = typeof(xs[0]).shape
    inits = [broadcast_to(init, tuple(kept)) for init in values[count:]]
    if length == 0:
        return inits
    while length > 1:
        even = length - length % 2
        pairs = combine(
            [every(x, 0, 0, even, 2) for x in xs], [every(x, 0, 1, even, 2) for x in xs]
        )
        if length % 2:
            lasts = [every(x, 0, even, length) for x in xs]
            both = zip(pairs, lasts, strict=True)
            pairs = [concatenate_p.bind(x, last, dimension=0) for x, last in both]
        xs, length = pairs, length // 2 + length % 2
    return combine(inits, [squeeze_p.bind(x, dimensions=(0,)) for x in xs])


def _vmap(
    size: int, operands: Values, dims: Sequence[int | None], *, dimensions: Dims, **params: Any
) -> Batched:
    count = len(operands) // 2
    alike = len(set(dims[:count])) == 1 and all(d is None for d in dims[count:])
    if alike and dims[0] is not None:
        lifted, out_dim = lift_axes(dimensions, dims[0])
        outs = reduce_p.bind(*operands, dimensions=lifted, **params)
        return outs, [out_dim] * count
    composite = partial(_by_halves, dimensions=dimensions, **params)
    return composite_batch(composite, size, operands, dims)


def _lowering(
    ctx: LoweringContext, *values: Any, computation: ClosedJaxpr, dimensions: Dims
) -> list[Any]:
    attributes = {"dimensions": lower.integers(dimensions)}
    regions = [computations.computation_region(computation)]
    return list(ctx.op("stablehlo.reduce", values, attributes=attributes, regions=regions))


def _sharding(
    primitive: Primitive, *avals: ShapedArray, computation: ClosedJaxpr, dimensions: Dims
) -> list[Any]:
    operands = avals[: len(avals) // 2]
    own = alike(primitive, operands)
    if any(own[axis] is not None for axis in dimensions):
        problem = "combines by a computation along a divided axis, which no devices exchange"
        raise ambiguous(primitive, problem, avals)
    return [tuple([entry for i, entry in enumerate(own) if i not in dimensions])] * len(operands)


reduce_p: Primitive = primitive(
    "reduce",
    composite_impl(_by_halves),
    rules.abstract_eval(_type),
    composite_jvp(_by_halves),
    rules.vmap(_vmap),
    rules.transpose.absent("not linear: its tangents are made of other operations"),
    rules.lowering["stablehlo"](_lowering),
    rules.sharding(_sharding, takes_primitive=True),
    multiple_results=True,
)
"""Operands: arrays of one shape, then as many initial values."""
