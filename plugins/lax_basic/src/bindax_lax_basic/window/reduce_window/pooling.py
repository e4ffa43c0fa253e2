"""Sums, maxima and minima of the windows that slide over an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    LoweringContext,
    Primitive,
    Rule,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.comparison import ge_p, le_p
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.linear import linear
from bindax_lax_basic.rules.types import Kinds, require_kind
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.creation import filled
from bindax_lax_basic.shape.slice_and_pad import pad_array
from bindax_lax_basic.window.geometry import Geometry, check_geometry, window_attributes
from bindax_lax_basic.window.select_and_add import select_and_gather_add_p
from bindax_lax_basic.window.sharding import windowed
from bindax_transforms.zeros import UndefPrimal

__all__ = ["reduce_window_max_p", "reduce_window_min_p", "reduce_window_sum_p"]


Initial = Callable[[Any], Any]


def _pool_type(name: str, accepts: Kinds) -> Rule:
    def rule(x: ShapedArray, **params: Any) -> ShapedArray:
        require_kind(name, x, accepts)
        window = Geometry(**params)
        check_geometry(name, x, window)
        return x.update(shape=window.out_shape(x.shape))

    return rules.abstract_eval(rule)


def _pool_impl(ufunc: np.ufunc, initial: Initial) -> Rule:
    """Axis by axis: the windows are boxes, and the operation commutes."""

    def run(x: NumPyArray, **params: Any) -> NumPyArray:
        window = Geometry(**params)
        wide = dtypes.accumulator_dtype(x.dtype)
        out = x.astype(wide, copy=False)
        start = np.asarray(initial(x.dtype)).astype(x.dtype).astype(wide)
        for axis in range(x.ndim):
            out = _pool_axis(ufunc, out, start, axis, window.along(axis))
        return out.astype(x.dtype, copy=False)

    return rules.impl(run)


def _pool_axis(
    ufunc: np.ufunc, x: NumPyArray, start: Any, axis: int, window: Geometry
) -> NumPyArray:
    """The windows of one axis, by as many operations on arrays as a window has elements."""
    (length,), (stride,) = window.window_dimensions, window.window_strides
    (count,) = window.out_shape((x.shape[axis],))
    nothing = ((0, 0, 0),)
    config = (*nothing * axis, *window.padding_config(), *nothing * (x.ndim - axis - 1))
    padded = np.moveaxis(pad_array(x, start, padding_config=config), axis, 0)
    out = np.full((count, *padded.shape[1:]), start, x.dtype)
    if count:
        for place in range(length):
            (first,) = window.starts((place,))
            ufunc(out, padded[first : first + (count - 1) * stride + 1 : stride], out=out)
    return np.moveaxis(out, 0, axis)


def _pool_batch(
    primitive: Primitive, size: int, operands: Sequence[Any], dims: Sequence[int], **params: Any
) -> tuple[Any, int]:
    (x,), (d,) = operands, dims
    return primitive.bind(x, **Geometry(**params).with_axis(d)._asdict()), d


def _pool_lowering(operation: str, initial: Initial) -> lower.Lowering:
    def rule(ctx: LoweringContext, x: Any, **params: Any) -> Any:
        scalar = ShapedArray((), ctx.avals_in[0].dtype)
        return ctx.op(
            "stablehlo.reduce_window",
            [x, lower.full(ctx, scalar, initial(scalar.dtype))],
            attributes=window_attributes(Geometry(**params)),
            regions=[lower.of_two(operation, scalar)],
        )[0]

    return rule


def _sum_transpose(ct: Any, x: UndefPrimal, **params: Any) -> list[Any]:
    """Sums of windows of the cotangents; strides and dilations of the base change places."""
    window = Geometry(**params)
    if typeof(ct).size == 0 or x.aval.size == 0:
        return [filled(x.aval, 0)]
    padding = []
    for axis, (size, count) in enumerate(zip(x.aval.shape, typeof(ct).shape, strict=True)):
        one = window.along(axis)
        (reach,) = one.spans()
        ((low, _),) = one.padding
        before = reach - 1 - low
        needed = reach + (size - 1) * one.base_dilation[0]
        spread = (count - 1) * one.window_strides[0] + 1
        padding.append((before, needed - spread - before))
    back = window._replace(
        window_strides=window.base_dilation,
        base_dilation=window.window_strides,
        padding=tuple(padding),
    )
    return [reduce_window_sum_p.bind(ct, **back._asdict())]


reduce_window_sum_p: Primitive = primitive(
    "reduce_window_sum",
    _pool_impl(np.add, lambda dtype: 0),
    _pool_type("reduce_window_sum", dtypes.NUMBER),
    linear(),
    rules.vmap(_pool_batch, takes_primitive=True),
    rules.transpose(_sum_transpose),
    in_wider(_pool_lowering("stablehlo.add", lambda dtype: 0), dtypes.summing_dtype),
    windowed(linear=True),
)


def _extremum_jvp(select_prim: Primitive) -> Rule:
    """The tangent of the element that was chosen, the first of those that tie."""

    def rule(
        primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        return out, select_and_gather_add_p.bind(t, x, select_prim=select_prim, **params)

    return rules.jvp(rule, takes_primitive=True)


def _extremum(name: str, ufunc: np.ufunc, initial: Initial, select_prim: Primitive) -> Primitive:
    return primitive(
        f"reduce_window_{name}",
        _pool_impl(ufunc, initial),
        _pool_type(f"reduce_window_{name}", dtypes.ORDERED),
        _extremum_jvp(select_prim),
        rules.vmap(_pool_batch, takes_primitive=True),
        rules.transpose.absent("not linear"),
        rules.lowering["stablehlo"](_pool_lowering(f"stablehlo.{name}imum", initial)),
        windowed(),
    )


reduce_window_max_p: Primitive = _extremum("max", np.maximum, dtypes.smallest, ge_p)
reduce_window_min_p: Primitive = _extremum("min", np.minimum, dtypes.largest, le_p)
