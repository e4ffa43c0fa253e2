"""The index of the largest or smallest element along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Region,
    Rule,
    ShapedArray,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.comparison import DISCRETE
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.rules import lowering as lower
from bindax_lax_basic.rules.evaluation import NumPyArray, comparable
from bindax_lax_basic.rules.linear import no_derivative
from bindax_lax_basic.rules.sharding import without
from bindax_lax_basic.rules.types import axis_argument, require_kind
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.broadcast_and_reduce_sum import reduction_batch

__all__ = ["argmax", "argmax_p", "argmin", "argmin_p"]


def argmax(operand: Any, axis: int, index_dtype: Any) -> Array:
    """Index of the first largest element along an axis; that of the first nan if there is one.

    Args:
        operand: an array of an ordered dtype.
        axis: the axis to search, which must not be empty.
        index_dtype: the integer dtype of the result.

    >>> argmax(np.array([[1, 5, 5], [7, 0, 2]]), 1, "int32")
    Array([1, 0], dtype=int32)
    """
    return _bind(argmax_p, operand, axis, index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Array:
    """Index of the first smallest element along an axis; like ``argmax``.

    >>> argmin(np.array([[1, 5, 5], [7, 0, 0]]), 1, "int32")
    Array([0, 1], dtype=int32)
    """
    return _bind(argmin_p, operand, axis, index_dtype)


def _bind(which: Primitive, operand: Any, axis: int, index_dtype: Any) -> Any:
    place = axis_argument(which.name, axis, typeof(operand).ndim)
    return which.bind(operand, axes=(place,), index_dtype=dtypes.canonical_dtype(index_dtype))


def _arg_type(name: str) -> Rule:
    def rule(x: ShapedArray, *, axes: tuple[int, ...], index_dtype: DType) -> ShapedArray:
        require_kind(name, x, dtypes.ORDERED)
        if not dtypes.is_integer(index_dtype):
            raise TypeError(
                f"{name}: index_dtype must be an integer dtype, but it is {index_dtype.name}."
            )
        if len(axes) != 1 or not 0 <= axes[0] < x.ndim:
            raise ValueError(f"{name}: {axes} is not one axis of {x.str_short()}.")
        if x.shape[axes[0]] < 1:
            raise ValueError(
                f"{name}: axis {axes[0]} of {x.str_short()} is empty, so no element has an index."
            )
        shape = x.shape[: axes[0]] + x.shape[axes[0] + 1 :]
        return ShapedArray(shape, index_dtype)

    return rules.abstract_eval(rule)


def _arg_lowering(direction: str, initial: Callable[[DType], Any]) -> Rule:
    """A reduction of pairs of value and index; nan wins, and of equals the lower index."""

    def rule(ctx: LoweringContext, x: Any, *, axes: tuple[int, ...], index_dtype: DType) -> Any:
        aval = ctx.avals_in[0].strip_weak_type()
        value, index = ShapedArray((), aval.dtype), ShapedArray((), index_dtype)
        flag = ShapedArray((), dtypes.bool_)

        def body(inner: LoweringContext, a: Any, i: Any, b: Any, j: Any) -> Sequence[Any]:
            def op(name: str, *values: Any) -> Any:
                return inner.op(name, values, result_avals=[flag])[0]

            better = compare(inner, direction, a, b, value)
            if dtypes.is_inexact(aval.dtype):
                better = op("stablehlo.or", better, compare(inner, "NE", a, a, value))
            both_nan = op(
                "stablehlo.and",
                compare(inner, "NE", a, a, value),
                compare(inner, "NE", b, b, value),
            )
            tie = op("stablehlo.or", compare(inner, "EQ", a, b, value), both_nan)
            earlier = compare(inner, "LT", i, j, index)
            wins_index = op(
                "stablehlo.or",
                op("stablehlo.and", better, op("stablehlo.not", both_nan)),
                op("stablehlo.and", tie, earlier),
            )
            return [
                *inner.op("stablehlo.select", [better, a, b], result_avals=[value]),
                *inner.op("stablehlo.select", [wins_index, i, j], result_avals=[index]),
            ]

        indices = aval.update(dtype=index_dtype)
        (iota,) = ctx.op(
            "stablehlo.iota",
            [],
            result_avals=[indices],
            attributes={"iota_dimension": f"{axes[0]} : i64"},
        )
        start = lower.full(ctx, value, initial(aval.dtype))
        out_shape = ctx.avals_out[0].shape
        results = ctx.op(
            "stablehlo.reduce",
            [x, iota, start, lower.full(ctx, index, 0)],
            result_avals=[value.update(shape=out_shape), index.update(shape=out_shape)],
            attributes={"dimensions": lower.integers(axes)},
            regions=[Region((value, index, value, index), body)],
        )
        return results[1]

    return in_wider(rule)


def _arg_rules(
    name: str, search: Callable[..., Any], direction: str, initial: Callable[[DType], Any]
) -> tuple[Rule, ...]:
    def run(x: NumPyArray, *, axes: tuple[int, ...], index_dtype: DType) -> Any:
        return search(comparable(x), axis=axes[0]).astype(index_dtype)

    return (
        rules.impl(run),
        _arg_type(name),
        no_derivative(),
        reduction_batch(),
        DISCRETE,
        _arg_lowering(direction, initial),
        without("axes"),
    )


argmax_p: Primitive = primitive("argmax", *_arg_rules("argmax", np.argmax, "GT", dtypes.smallest))
argmin_p: Primitive = primitive("argmin", *_arg_rules("argmin", np.argmin, "LT", dtypes.largest))
