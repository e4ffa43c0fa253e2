"""Choosing one element of each window, and reading or adding at its place.

The derivatives of windowed extrema are made of these: the tangent of a maximum is read at the place
of the maximum, and its cotangent is added there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Region,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import add_p
from bindax_lax_basic.elementwise.comparison import ge_p, le_p
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.batching import batch_first
from bindax_lax_basic.rules.composites import composite_impl
from bindax_lax_basic.rules.elementwise import composition
from bindax_lax_basic.rules.linear import multilinear
from bindax_lax_basic.rules.types import require_kind
from bindax_lax_basic.window.choice import chosen_places, read_at, scatter_at
from bindax_lax_basic.window.geometry import (
    Geometry,
    check_geometry,
    geometry,
    padding_attribute,
    window_attributes,
)
from bindax_lax_basic.window.sharding import windowed

__all__ = [
    "select_and_gather_add",
    "select_and_gather_add_p",
    "select_and_scatter_add",
    "select_and_scatter_add_p",
]


FLAG = ShapedArray((), dtypes.bool_)
_DIRECTIONS = {ge_p: "GE", le_p: "LE"}


def select_and_gather_add(
    tangents: Any,
    operand: Any,
    select_prim: Primitive,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Array:
    """Read an array where another has the extremum of each of its windows.

    Args:
        tangents: the array that is read.
        operand: the array whose windows choose, of the same shape.
        select_prim: ``ge_p`` chooses the greatest, ``le_p`` the least; the first of equals.
        window_dimensions: as for ``reduce_window``, like all that follow.
        window_strides: the distance of neighbouring windows.
        padding: what is added around; it is never chosen.
        base_dilation: the distance to which elements are spread.
        window_dilation: the distance of the elements of a window.

    >>> select_and_gather_add(np.arange(4.0), np.array([1.0, 5.0, 2.0, 3.0]), ge_p, (2,), (2,))
    Array([1., 3.], dtype=float64)
    """
    arguments = window_dimensions, window_strides, padding, base_dilation, window_dilation
    window = geometry("select_and_gather_add", typeof(operand).shape, *arguments)
    return select_and_gather_add_p.bind(
        tangents, operand, select_prim=select_prim, **window._asdict()
    )


def select_and_scatter_add(
    source: Any,
    operand: Any,
    select_prim: Primitive,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
) -> Array:
    """Add values to zeros where an array has the extremum of each of its windows.

    Args:
        source: a value for each window.
        operand: the array whose windows choose; the result has its shape.
        select_prim: ``ge_p`` chooses the greatest, ``le_p`` the least; the first of equals.
        window_dimensions: as for ``reduce_window``, like all that follow.
        window_strides: the distance of neighbouring windows.
        padding: what is added around; it is never chosen.

    >>> select_and_scatter_add(np.ones(2), np.array([1.0, 5.0, 2.0, 3.0]), ge_p, (2,), (2,))
    Array([0., 1., 0., 1.], dtype=float64)
    """
    arguments = window_dimensions, window_strides, padding
    window = geometry("select_and_scatter_add", typeof(operand).shape, *arguments)
    return select_and_scatter_add_p.bind(
        source, operand, select_prim=select_prim, **window._asdict()
    )


def _checked(
    name: str, x: ShapedArray, operand: ShapedArray, select_prim: Primitive, params: dict[str, Any]
) -> Geometry:
    """The geometry of windows, where it and the operands are legal."""
    require_kind(name, x, dtypes.NUMBER, 0)
    require_kind(name, operand, dtypes.ORDERED, 1)
    if select_prim not in _DIRECTIONS:
        raise TypeError(f"{name}: select_prim must be ge_p or le_p, but it is {select_prim!r}.")
    window = Geometry(**params)
    check_geometry(name, operand, window)
    return window


def _gather_type(
    x: ShapedArray, operand: ShapedArray, *, select_prim: Primitive, **params: Any
) -> ShapedArray:
    name = "select_and_gather_add"
    window = _checked(name, x, operand, select_prim, params)
    if x.shape != operand.shape:
        raise TypeError(
            f"{name} requires arrays of equal shapes, but got {x.str_short()} and "
            f"{operand.str_short()}."
        )
    return x.update(shape=window.out_shape(operand.shape))


def _scatter_type(
    source: ShapedArray, operand: ShapedArray, *, select_prim: Primitive, **params: Any
) -> ShapedArray:
    name = "select_and_scatter_add"
    window = _checked(name, source, operand, select_prim, params)
    check_source(name, source, operand, window)
    return source.update(shape=operand.shape)


def check_source(name: str, source: ShapedArray, operand: ShapedArray, window: Geometry) -> None:
    """Raise unless there is one value for each window."""
    if source.shape != window.out_shape(operand.shape):
        raise TypeError(
            f"{name}: the source {source.str_short()} must have one element for each window of "
            f"{operand.str_short()}, so the shape {window.out_shape(operand.shape)}."
        )


def _read(x: Any, operand: Any, *, select_prim: Primitive, **params: Any) -> Any:
    window = Geometry(**params)
    return read_at(x, chosen_places(operand, select_prim.bind, window), window)


def _add(source: Any, operand: Any, *, select_prim: Primitive, **params: Any) -> Any:
    window = Geometry(**params)
    places = chosen_places(operand, select_prim.bind, window)
    zero = np.zeros((), typeof(source).dtype)
    return scatter_at(source, zero, places, add_p.bind, window, typeof(operand).shape)


def _batch(
    primitive: Primitive,
    size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    *,
    select_prim: Primitive,
    **params: Any,
) -> tuple[Any, int]:
    aligned = [batch_first(x, d, size) for x, d in zip(operands, dims, strict=True)]
    window = Geometry(**params).with_axis(0)
    return primitive.bind(*aligned, select_prim=select_prim, **window._asdict()), 0


def _gather_lowering(
    ctx: LoweringContext, x: Any, operand: Any, *, select_prim: Primitive, **params: Any
) -> Any:
    """A reduction of what chooses, what is read, and whether it is there at all."""
    read, key = (ShapedArray((), aval.dtype) for aval in ctx.avals_in)
    shape_in, shape_out = ctx.avals_in[0].shape, ctx.avals_out[0].shape

    def body(inner: LoweringContext, *values: Any) -> Sequence[Any]:
        def flag(name: str, *flags: Any) -> Any:
            return inner.op(name, flags, result_avals=[FLAG])[0]

        first, second = values[:3], values[3:]
        better = compare(inner, _DIRECTIONS[select_prim], first[0], second[0], key)
        wins = flag("stablehlo.or", better, flag("stablehlo.not", second[2]))
        keep = flag("stablehlo.and", first[2], wins)
        return [
            inner.op("stablehlo.select", [keep, a, b], result_avals=[aval])[0]
            for a, b, aval in zip(first, second, (key, read, FLAG), strict=True)
        ]

    there = lower.full(ctx, FLAG.update(shape=shape_in), True)
    starts = [lower.full(ctx, aval, 0) for aval in (key, read, FLAG)]
    results = ctx.op(
        "stablehlo.reduce_window",
        [operand, x, there, *starts],
        result_avals=[aval.update(shape=shape_out) for aval in (key, read, FLAG)],
        attributes=window_attributes(Geometry(**params)),
        regions=[Region((key, read, FLAG) * 2, body)],
    )
    return results[1]


def _scatter_lowering(
    ctx: LoweringContext, source: Any, operand: Any, *, select_prim: Primitive, **params: Any
) -> Any:
    window = Geometry(**params)
    if any(d != 1 for d in (*window.base_dilation, *window.window_dilation)):
        return composition(_add)(ctx, source, operand, select_prim=select_prim, **params)
    value, key = (ShapedArray((), aval.dtype) for aval in ctx.avals_in)

    def select(inner: LoweringContext, a: Any, b: Any) -> Sequence[Any]:
        return [compare(inner, _DIRECTIONS[select_prim], a, b, key)]

    regions = [Region((key, key), select), lower.of_two("stablehlo.add", value)]
    return scatter_operation(ctx, [operand, source, lower.full(ctx, value, 0)], window, regions)


def scatter_operation(
    ctx: LoweringContext, operands: Sequence[Any], window: Geometry, regions: Sequence[Region]
) -> Any:
    """``stablehlo.select_and_scatter`` of operand, source and initial value."""
    attributes = {
        "window_dimensions": lower.integers(window.window_dimensions),
        "window_strides": lower.integers(window.window_strides),
        "padding": padding_attribute(window.padding),
    }
    name = "stablehlo.select_and_scatter"
    return ctx.op(name, operands, attributes=attributes, regions=regions)[0]


select_and_gather_add_p: Primitive = primitive(
    "select_and_gather_add",
    composite_impl(_read),
    rules.abstract_eval(_gather_type),
    multilinear(positions=(0,)),
    rules.vmap(_batch, takes_primitive=True),
    rules.transpose(
        lambda ct, x, y, **params: [select_and_scatter_add_p.bind(ct, y, **params), None]
    ),
    rules.lowering["stablehlo"](_gather_lowering),
    windowed(count=2, chooses=True, linear=(0,)),
)
select_and_scatter_add_p: Primitive = primitive(
    "select_and_scatter_add",
    composite_impl(_add),
    rules.abstract_eval(_scatter_type),
    multilinear(positions=(0,)),
    rules.vmap(_batch, takes_primitive=True),
    rules.transpose(
        lambda ct, x, y, **params: [select_and_gather_add_p.bind(ct, y, **params), None]
    ),
    rules.lowering["stablehlo"](_scatter_lowering),
    windowed(count=2, chooses=True, linear=(0,)),
)
