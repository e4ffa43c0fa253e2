"""Elementwise choice between arrays: select_n, clamp, max and min."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_core.sharding import laid_as
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import ANY
from bindax_lax_basic.elementwise.comparison import and_p, eq_p, gt_p, lt_p
from bindax_lax_basic.elementwise.conversion import compare, convert
from bindax_lax_basic.rules import types
from bindax_lax_basic.rules.batching import elementwise_batch
from bindax_lax_basic.rules.elementwise import elementwise, nonlinear
from bindax_lax_basic.rules.evaluation import NumPyArray, exact
from bindax_lax_basic.rules.linear import Dual, Values, jointly_linear, zero_tangent
from bindax_lax_basic.rules.lowering import Lowering, full, operation, same_shape
from bindax_lax_basic.rules.operands import adopt_dtype, adopt_type, broadcast_shapes, constant
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_transforms.zeros import UndefPrimal, Zero, add_tangents

__all__ = ["clamp", "clamp_p", "max", "max_p", "min", "min_p", "select", "select_n", "select_n_p"]


def select_n(which: Any, *cases: Any) -> Array:
    """Choose each element from one of several arrays.

    Args:
        which: an array of booleans (two cases: False takes the first) or of integers, the numbers
            of the cases; a scalar, or of the shape of the cases. What is out of range means the
            nearest case.
        *cases: arrays of one dtype and shape.

    Raises:
        TypeError: when dtypes or shapes do not agree.

    >>> select_n(np.array([True, False]), np.array([1, 2]), np.array([10, 20]))
    Array([10,  2], dtype=int64)
    """
    if not cases:
        raise TypeError("select_n needs at least one case to choose from.")
    if dtypes.is_integer(typeof(which).dtype):
        which = convert(which, np.dtype(np.int32), False)
    return select_n_p.bind(which, *adopt_dtype(*cases))


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """Choose each element from ``on_true`` where ``pred`` holds, else from ``on_false``.

    >>> select(np.array([True, False]), np.array([1, 2]), np.array([10, 20]))
    Array([ 1, 20], dtype=int64)
    """
    return select_n(pred, on_false, on_true)


def _select_type(which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
    if which.dtype not in (dtypes.bool_, np.dtype(np.int32)):
        raise TypeError(
            f"select_n chooses by booleans or int32, but which is {which.str_short()}; convert it "
            f"with which.astype('bool') or which.astype('int32')."
        )
    if which.dtype == dtypes.bool_ and len(cases) > 2:
        raise TypeError(
            f"select_n by the booleans {which.str_short()} takes at most two cases, but got "
            f"{len(cases)}; choose by integers instead."
        )
    types.require_same_dtype("select_n", cases)
    if len({case.shape for case in cases}) > 1:
        raise TypeError(f"select_n needs cases of one shape, but got {types.describe(cases)}.")
    shape = cases[0].shape
    if which.shape not in ((), shape):
        raise TypeError(
            f"select_n: which must be a scalar or have the shape of the cases, but it is "
            f"{which.str_short()} and they are {cases[0].str_short()}."
        )
    return cases[0].update(weak_type=all(case.weak_type for case in cases))


def _select_impl(which: NumPyArray, *cases: NumPyArray) -> Any:
    if len(cases) == 1:
        return cases[0]
    if len(cases) == 2:
        return np.where(which if which.dtype == np.bool_ else which > 0, cases[1], cases[0])
    chosen = np.clip(which, 0, len(cases) - 1)
    if not which.shape:
        return cases[int(chosen)]
    if len(cases) < 32:
        return np.choose(chosen, cases)
    return np.take_along_axis(np.stack(cases), chosen[None], 0)[0]


def _select_transpose(ct: Any, which: Any, *cases: Any) -> list[Any]:
    zero = laid_as(broadcast_to(constant(0, ct), typeof(ct).shape), typeof(ct))

    def routed(i: int) -> Any:
        return select_n_p.bind(which, *[ct if i == j else zero for j in range(len(cases))])

    return [None, *[routed(i) if type(x) is UndefPrimal else None for i, x in enumerate(cases)]]


def _select_lowering(ctx: LoweringContext, which: Any, *cases: Any) -> Any:
    if len(cases) == 1:
        return cases[0]
    aval = ctx.avals_in[0]
    if aval.dtype == dtypes.bool_:
        return ctx.op("stablehlo.select", [which, cases[1], cases[0]])[0]
    out = cases[-1]
    for i in reversed(range(len(cases) - 1)):
        # Out of range means the nearest case, so each threshold keeps all that is not above it.
        keep = compare(ctx, "LE", which, full(ctx, aval, i), aval)
        (out,) = ctx.op("stablehlo.select", [keep, cases[i], out])
    return out


def _bind_select(which: Any, *cases: Any) -> Any:
    """Bind select_n to batched operands, where a scalar case may stand beside arrays."""
    shape = builtins.max([typeof(case).shape for case in cases], key=len) or typeof(which).shape
    return select_n_p.bind(which, *[broadcast_to(case, shape) for case in cases])


select_n_p: Primitive = primitive(
    "select_n",
    rules.impl(_select_impl),
    rules.abstract_eval(_select_type),
    jointly_linear(slice(1, None)),
    elementwise_batch(_bind_select),
    rules.transpose(_select_transpose),
    rules.lowering["stablehlo"](_select_lowering),
    rules.sharding("elementwise", linear=(1, 2)),
)


def max(x: Any, y: Any) -> Array:
    """Elementwise larger of two arrays; nan where either is nan.

    Args:
        x: an array of any dtype; complex numbers are compared by real, then imaginary part.
        y: an array of the same dtype and shape, but that axes of size 1 are repeated; or a scalar,
            as ``x`` may be one.

    Where the two are equal, the derivative is one half with respect to each.

    >>> max(np.array([1.0, 3.0]), 2.0)
    Array([2., 3.], dtype=float64)
    """
    return max_p.bind(*adopt_type(x, y))


def min(x: Any, y: Any) -> Array:
    """Elementwise smaller of two arrays; nan where either is nan; operands as for ``max``.

    >>> min(np.array([1.0, 3.0]), 2.0)
    Array([1., 2.], dtype=float64)
    """
    return min_p.bind(*adopt_type(x, y))


def _share(x: Any, y: Any, out: Any) -> Any:
    """One where x is the result alone, one half where both are, zero where only y is."""
    zero, half, one = (constant(v, out) for v in (0.0, 0.5, 1.0))
    won = select_scalars(eq_p.bind(x, out), zero, one)
    return _bind_select(eq_p.bind(x, y), won, select_scalars(eq_p.bind(x, y), one, half))


def select_scalars(which: Any, on_false: Any, on_true: Any) -> Any:
    """``select_n`` between arrays of the shape of ``which`` or scalars.

    >>> select_scalars(np.array([True, False]), np.float32(0), np.float32(1))
    Array([1., 0.], dtype=float32)
    """
    shape = typeof(which).shape
    return select_n_p.bind(which, broadcast_to(on_false, shape), broadcast_to(on_true, shape))


def kept_where(mask: Any, x: Any) -> Any:
    """Numbers where a mask holds, and 0 elsewhere; they broadcast."""
    shape = broadcast_shapes(typeof(mask).shape, typeof(x).shape)
    return select_scalars(broadcast_to(mask, shape), constant(0, x), x)


def extremum(name: str) -> Callable[[LoweringContext, ShapedArray, Any, Any], Any]:
    """The lowering of the ``min`` or ``max`` of two values of one type."""

    def combine(ctx: LoweringContext, aval: ShapedArray, x: Any, y: Any) -> Any:
        if aval.dtype.kind == "c":
            return _lexicographic(ctx, x, y, aval, "GT" if name == "max" else "LT")
        return ctx.op(f"stablehlo.{name}imum", [x, y], result_avals=[aval])[0]

    return combine


def _extremum_lowering(name: str) -> Lowering:
    combine = extremum(name)

    def rule(ctx: LoweringContext, *values: Any) -> Any:
        return combine(ctx, ctx.avals_out[0], *same_shape(ctx, values))

    return rule


def _lexicographic(ctx: LoweringContext, x: Any, y: Any, aval: ShapedArray, direction: str) -> Any:
    """The larger (GT) or smaller (LT) complex number, by real part and then imaginary part."""
    # As in NumPy, a nan in either part wins, the first one of two, and of equal numbers the first.
    part = aval.update(dtype=dtypes.real_dtype(aval.dtype))
    flag = aval.update(dtype=dtypes.bool_, weak_type=False)

    def parts(name: str) -> tuple[Any, Any]:
        return tuple(ctx.op(name, [v], result_avals=[part])[0] for v in (x, y))

    (xr, yr), (xi, yi) = parts("stablehlo.real"), parts("stablehlo.imag")
    equal = compare(ctx, "EQ", xr, yr, part)
    by_real = compare(ctx, direction, xr, yr, part)
    by_imag = compare(ctx, f"{direction[0]}E", xi, yi, part)

    def has_nan(real: Any, imag: Any) -> Any:
        either = [compare(ctx, "NE", v, v, part) for v in (real, imag)]
        return ctx.op("stablehlo.or", either, result_avals=[flag])[0]

    (wins,) = ctx.op("stablehlo.select", [equal, by_imag, by_real], result_avals=[flag])
    (number,) = ctx.op("stablehlo.not", [has_nan(yr, yi)], result_avals=[flag])
    (wins,) = ctx.op("stablehlo.and", [wins, number], result_avals=[flag])
    (wins,) = ctx.op("stablehlo.or", [wins, has_nan(xr, xi)], result_avals=[flag])
    return ctx.op("stablehlo.select", [wins, x, y], result_avals=[aval])[0]


max_p: Primitive = primitive(
    "max",
    *elementwise("max", np.maximum, ANY, ANY),
    *nonlinear(_extremum_lowering("max"), _share, lambda x, y, out: _share(y, x, out)),
)
min_p: Primitive = primitive(
    "min",
    *elementwise("min", np.minimum, ANY, ANY),
    *nonlinear(_extremum_lowering("min"), _share, lambda x, y, out: _share(y, x, out)),
)


def clamp(min: Any, x: Any, max: Any) -> Array:
    """Elementwise ``x``, limited to between two bounds.

    Args:
        min: the lower bound: a scalar, or of the shape of ``x``.
        x: an array of any dtype; complex numbers are compared by real, then imaginary part, and
            have no derivative here.
        max: the upper bound, likewise.

    >>> clamp(0.0, np.array([-1.0, 0.5, 2.0]), 1.0)
    Array([0. , 0.5, 1. ], dtype=float64)
    """
    return clamp_p.bind(*adopt_dtype(min, x, max))


def _clamp_type(low: ShapedArray, x: ShapedArray, high: ShapedArray) -> ShapedArray:
    for argument, bound in (("min", low), ("max", high)):
        if bound.shape not in ((), x.shape):
            raise TypeError(
                f"clamp: {argument} must be a scalar or have the shape of the operand, but it is "
                f"{bound.str_short()} and the operand is {x.str_short()}."
            )
    out = types.elementwise_type("clamp", ANY, ANY, ANY)(low, x, high)
    return out.update(shape=types.common_shape("clamp", (x,)))


def _clamp_impl(low: NumPyArray, x: NumPyArray, high: NumPyArray) -> Any:
    if x.dtype.kind in "iuf":
        return np.clip(x, low, high)
    return np.minimum(np.maximum(x, low), high)


def _clamp_lowering(ctx: LoweringContext, low: Any, x: Any, high: Any) -> Any:
    if ctx.avals_out[0].dtype.kind != "c":
        return operation("stablehlo.clamp")(ctx, low, x, high)
    low, x, high = same_shape(ctx, (low, x, high))
    above = extremum("max")(ctx, ctx.avals_out[0], x, low)
    return extremum("min")(ctx, ctx.avals_out[0], above, high)


def _clamp_jvp(primals: Values, tangents: Values) -> Dual:
    low, x, high = primals
    out = clamp_p.bind(low, x, high)
    conditions: tuple[Callable[[], Any], ...] = (
        lambda: and_p.bind(gt_p.bind(low, x), lt_p.bind(low, high)),
        lambda: and_p.bind(gt_p.bind(x, low), lt_p.bind(x, high)),
        # Between bounds in the wrong order, the upper one is the result.
        lambda: lt_p.bind(high, max_p.bind(low, x)),
    )
    total: Any = zero_tangent(out)
    for condition, t in zip(conditions, tangents, strict=True):
        if type(t) is not Zero:
            total = add_tangents(total, select_scalars(condition(), constant(0, t), t))
    return out, total


def _bind_clamp(low: Any, x: Any, high: Any) -> Any:
    """Bind clamp to batched operands, where a scalar operand may stand beside batched bounds."""
    shape = next((shape for v in (low, x, high) if (shape := typeof(v).shape)), ())
    return clamp_p.bind(low, broadcast_to(x, shape), high)


clamp_p: Primitive = primitive(
    "clamp",
    rules.impl(exact(_clamp_impl)),
    rules.abstract_eval(_clamp_type),
    rules.jvp(_clamp_jvp, symbolic_zeros=True),
    elementwise_batch(_bind_clamp),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](_clamp_lowering),
    rules.sharding("elementwise"),
)
