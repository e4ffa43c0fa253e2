"""Joining arrays along an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, Primitive, ShapedArray, primitive, rules, typeof
from bindax_core.sharding import ambiguous
from bindax_lax_basic.rules.batching import leading_batch
from bindax_lax_basic.rules.linear import jointly_linear
from bindax_lax_basic.rules.lowering import as_one, integer
from bindax_lax_basic.rules.sharding import alike, entries
from bindax_lax_basic.rules.types import axis_argument, describe, require_same_dtype
from bindax_lax_basic.rules.wider_types import in_wider
from bindax_lax_basic.shape.slice_and_pad import every
from bindax_transforms.zeros import UndefPrimal

__all__ = ["concatenate", "concatenate_p"]


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Join arrays along an axis that they have.

    Args:
        operands: arrays of one dtype, and of one shape but for the axis; at least one.
        dimension: the axis.

    Raises:
        TypeError: when dtypes or shapes do not agree.

    >>> concatenate([np.arange(2), np.arange(3)], 0)
    Array([0, 1, 0, 1, 2], dtype=int64)
    """
    given: Any = operands
    if isinstance(given, Mapping | str):
        raise TypeError(
            f"concatenate: operands must be a list or tuple of arrays, but got {given!r:.60} of "
            f"type {type(given).__name__}."
        )
    operands = given if hasattr(given, "__getitem__") else list(given)
    if len(operands) == 0:
        raise ValueError("concatenate needs at least one array.")
    axis = axis_argument("concatenate", dimension, typeof(operands[0]).ndim, "dimension")
    return concatenate_p.bind(*operands, dimension=axis)


def _concatenate_type(*avals: ShapedArray, dimension: int) -> ShapedArray:
    require_same_dtype("concatenate", avals)
    first = avals[0]
    others = {(a.ndim, a.shape[:dimension], a.shape[dimension + 1 :]) for a in avals}
    if len(others) > 1:
        raise TypeError(
            f"concatenate: the shapes must be equal but for axis {dimension}, but got "
            f"{describe(avals)}."
        )
    if not 0 <= dimension < first.ndim:
        raise ValueError(f"concatenate: {first.str_short()} has no axis {dimension}.")
    size = sum([aval.shape[dimension] for aval in avals])
    shape = (*first.shape[:dimension], size, *first.shape[dimension + 1 :])
    return first.update(shape=shape, weak_type=all(aval.weak_type for aval in avals))


def _concatenate_transpose(ct: Any, *operands: Any, dimension: int) -> list[Any]:
    results: list[Any] = []
    start = 0
    for x in operands:
        undefined = type(x) is UndefPrimal
        stop = start + (x.aval if undefined else typeof(x)).shape[dimension]
        results.append(every(ct, dimension, start, stop) if undefined else None)
        start = stop
    return results


def _concatenate_sharding(
    primitive: Primitive, *avals: ShapedArray, dimension: int
) -> tuple[Any, ...]:
    if len({entries(aval)[dimension] for aval in avals}) > 1:
        problem = f"All operands should have the same sharding along axis {dimension}"
        raise ambiguous(primitive, problem, avals)
    return alike(primitive, avals)


concatenate_p: Primitive = primitive(
    "concatenate",
    rules.impl(lambda *arrays, dimension: np.concatenate(arrays, axis=dimension)),
    rules.abstract_eval(_concatenate_type),
    jointly_linear(),
    leading_batch("dimension"),
    rules.transpose(_concatenate_transpose),
    in_wider(as_one("stablehlo.concatenate", dimension=integer)),
    rules.sharding(_concatenate_sharding, takes_primitive=True, linear=True),
)
