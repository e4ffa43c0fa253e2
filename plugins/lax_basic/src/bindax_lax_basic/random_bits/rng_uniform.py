"""Random numbers from a generator that the process, or the compiled program, keeps."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bindax_core.extend import Array, LoweringContext, Primitive, ShapedArray, primitive, rules
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import describe, require_kind, require_same_dtype, shape_argument

__all__ = ["rng_uniform", "rng_uniform_p"]


Shape = tuple[int, ...]
_KINDS = frozenset({"float", "signed integer", "unsigned integer"})
_DRAWN = ("int32", "uint32", "bfloat16", "float16", "float32")


@cache
def _generator() -> np.random.Generator:
    """The generator of the process, made at the first use: NumPy's module for it loads slowly."""
    return np.random.default_rng(0)


def rng_uniform(a: Any, b: Any, shape: Any) -> Array:
    """Random numbers from a uniform distribution, other ones at each evaluation.

    Nothing makes them repeatable: evaluation takes them from one generator of the process, and each
    compiled program from one of its own. Use ``rng_bit_generator`` where that matters.

    Args:
        a: the lower bound, a scalar; it is included.
        b: the upper bound, a scalar of the same dtype; it is not.
        shape: the shape of the result.

    Raises:
        TypeError: when a bound is no scalar, or dtypes differ or are not real numbers.

    >>> drawn = np.asarray(rng_uniform(2.0, 3.0, (4,)))
    >>> bool(np.all((2.0 <= drawn) & (drawn < 3.0)))
    True
    """
    a, b = adopt_dtype(a, b)
    return rng_uniform_p.bind(a, b, shape=shape_argument("rng_uniform", shape))


def _type(a: ShapedArray, b: ShapedArray, *, shape: Shape) -> ShapedArray:
    require_kind("rng_uniform", a, _KINDS, 0)
    require_same_dtype("rng_uniform", (a, b))
    if a.shape or b.shape:
        raise TypeError(f"rng_uniform takes scalars as bounds, but got {describe((a, b))}.")
    return ShapedArray(shape, a.dtype)


def _impl(a: NumPyArray, b: NumPyArray, *, shape: Shape) -> Any:
    if dtypes.is_integer(a.dtype):
        # Without numbers between the bounds the result is not specified; it is the lower one.
        above = b if b > a else a + 1
        return _generator().integers(int(a), int(above), shape).astype(a.dtype)
    low, high = a.astype(np.float64), b.astype(np.float64)
    drawn = (low + (high - low) * _generator().random(shape)).astype(a.dtype)
    # Rounding to the dtype may have given the upper bound itself.
    return np.where(drawn < b, drawn, np.nextafter(b, a)) if a < b else drawn


def _lowering(ctx: LoweringContext, a: Any, b: Any, *, shape: Shape) -> Any:
    sizes = ctx.constant(np.asarray(shape, np.int64))
    attributes = {"rng_distribution": "#stablehlo<rng_distribution UNIFORM>"}
    (out,) = ctx.avals_out
    wide = ShapedArray((), _drawn_dtype(out.dtype))
    if wide.dtype == out.dtype:
        return ctx.op("stablehlo.rng", [a, b, sizes], attributes=attributes)[0]
    bounds = [ctx.op("stablehlo.convert", [x], result_avals=[wide])[0] for x in (a, b)]
    aval = out.update(dtype=wide.dtype)
    (drawn,) = ctx.op("stablehlo.rng", [*bounds, sizes], [aval], attributes)
    return ctx.op("stablehlo.convert", [drawn])[0]


def _drawn_dtype(dtype: DType) -> DType:
    """The dtype in which XLA draws: it ends the process for narrower ones."""
    if dtype.name in _DRAWN or dtype.itemsize > 4:
        return dtype
    if not dtypes.is_integer(dtype):
        return np.dtype(np.float32)
    signed = dtypes.kind_of(dtype) == "signed integer"
    return np.dtype(np.int32) if signed else np.dtype(np.uint32)


rng_uniform_p: Primitive = primitive(
    "rng_uniform",
    rules.impl(_impl),
    rules.abstract_eval(_type),
    rules.jvp.absent(
        "JAX has none either; draw from 0 to 1 and scale the numbers, which is differentiable"
    ),
    rules.vmap.absent("each pair of bounds draws by itself, in a loop"),
    rules.transpose.absent("it is not linear"),
    rules.lowering["stablehlo"](_lowering),
)
