"""Choosing one element of each window, and combining values at its place by any computation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    DebugInfo,
    LoweringContext,
    Primitive,
    ShapedArray,
    describe_function,
    primitive,
    rules,
    tree_structure,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.reductions import reduction_computations as computations
from bindax_lax_basic.rules.composites import composite_batch, composite_impl, composite_jvp
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import require_same_dtype
from bindax_lax_basic.window.choice import chosen_places, scatter_at
from bindax_lax_basic.window.geometry import Geometry, check_geometry, geometry
from bindax_lax_basic.window.select_and_add import check_source, scatter_operation
from bindax_lax_basic.window.sharding import windowed
from bindax_transforms import trace_to_jaxpr

__all__ = ["select_and_scatter", "select_and_scatter_p"]

NAME = "select_and_scatter"


def select_and_scatter(
    operand: Any,
    select: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None,
    padding: Any,
    source: Any,
    init_value: Any,
    scatter: Callable[[Any, Any], Any],
) -> Array:
    """Combine values with an initial one where each window of an array has its chosen element.

    Args:
        operand: the array whose windows choose; the result has its shape.
        select: whether of two scalars the first, which is chosen so far, stays.
        window_dimensions: as for ``reduce_window``, like the two that follow.
        window_strides: the distance of neighbouring windows.
        padding: what is added around; it is never chosen.
        source: a value for each window, of the dtype of ``operand``.
        init_value: a scalar that the result starts from.
        scatter: combines what is at a place with a value, two scalars.

    Raises:
        TypeError: when dtypes or shapes do not fit together, or the functions return other types.

    >>> from bindax_lax_basic import add, ge
    >>> x = np.array([1.0, 5.0, 2.0, 3.0])
    >>> select_and_scatter(x, ge, (2,), (2,), "VALID", np.array([7.0, 8.0]), 0.5, add)
    Array([0.5, 7.5, 0.5, 8.5], dtype=float64)
    """
    aval = typeof(operand)
    window = geometry(NAME, aval.shape, window_dimensions, window_strides, padding)
    start = adopt_dtype(init_value, operand)[0]
    scalar = ShapedArray((), aval.dtype)
    chooser = trace_to_jaxpr(lambda a, b: [select(a, b)], [scalar, scalar], DebugInfo(NAME, select))
    if chooser.out_avals != [ShapedArray((), dtypes.bool_)]:
        raise TypeError(
            f"{NAME}: select must return bool[], but {describe_function(select)} returns "
            f"{chooser.out_avals[0].str_short()}."
        )
    computations.refuse_traced_consts(NAME, select, chooser)
    combiner = computations.trace_computation(NAME, scatter, [scalar], tree_structure(0))
    return select_and_scatter_p.bind(
        operand,
        source,
        start,
        select=chooser,
        scatter=combiner,
        window_dimensions=window.window_dimensions,
        window_strides=window.window_strides,
        padding=window.padding,
    )


def _window(params: dict[str, Any]) -> Geometry:
    """The geometry, which has no dilation."""
    ones = (1,) * len(params["window_dimensions"])
    return Geometry(**params, base_dilation=ones, window_dilation=ones)


def _type(
    operand: ShapedArray,
    source: ShapedArray,
    start: ShapedArray,
    *,
    select: ClosedJaxpr,
    scatter: ClosedJaxpr,
    **params: Any,
) -> ShapedArray:
    require_same_dtype(NAME, (operand, source, start))
    if start.shape:
        raise TypeError(f"{NAME}: init_value must be a scalar, but it is {start.str_short()}.")
    check_geometry(NAME, operand, _window(params))
    check_source(NAME, source, operand, _window(params))
    return operand.strip_weak_type()


def _scattered(
    operand: Any,
    source: Any,
    start: Any,
    *,
    select: ClosedJaxpr,
    scatter: ClosedJaxpr,
    **params: Any,
) -> Any:
    """The same made of other operations, one place of all windows at a time."""
    window = _window(params)
    keeps, combine = computations.vectorized(select), computations.vectorized(scatter)
    places = chosen_places(operand, lambda a, b: keeps([a], [b])[0], window)
    shape = typeof(operand).shape
    return scatter_at(source, start, places, lambda a, b: combine([a], [b])[0], window, shape)


def _vmap(
    size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, int]:
    outs, out_dims = composite_batch(lambda *xs: [_scattered(*xs, **params)], size, operands, dims)
    return outs[0], out_dims[0]


def _lowering(
    ctx: LoweringContext, *values: Any, select: ClosedJaxpr, scatter: ClosedJaxpr, **params: Any
) -> Any:
    regions = [computations.computation_region(program) for program in (select, scatter)]
    return scatter_operation(ctx, list(values), _window(params), regions)


select_and_scatter_p: Primitive = primitive(
    NAME,
    composite_impl(_scattered),
    rules.abstract_eval(_type),
    composite_jvp(_scattered),
    rules.vmap(_vmap),
    rules.transpose.absent("not linear: its tangents are made of other operations"),
    rules.lowering["stablehlo"](_lowering),
    windowed(count=2, chooses=True),
)
"""Operands: the array whose windows choose, the values, and the initial value."""
