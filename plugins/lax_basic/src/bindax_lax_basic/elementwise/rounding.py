"""Rounding to integers: floor, ceil, and round."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    primitive,
    rules,
)
from bindax_lax_basic.dtypes import FLOAT
from bindax_lax_basic.elementwise.comparison import discrete
from bindax_lax_basic.rules.elementwise import elementwise
from bindax_lax_basic.rules.evaluation import NumPyArray

__all__ = ["RoundingMethod", "ceil", "ceil_p", "floor", "floor_p", "round", "round_p"]


STEPWISE = rules.transpose.absent("its derivative is zero, so nothing linear is left to transpose")


def floor(x: Any) -> Array:
    """Elementwise greatest integer not above a real float, as a float.

    >>> floor(np.array([1.7, -1.2]))
    Array([ 1., -2.], dtype=float64)
    """
    return floor_p.bind(x)


floor_p: Primitive = primitive(
    "floor", *elementwise("floor", np.floor, FLOAT), *discrete("stablehlo.floor", STEPWISE)
)


def ceil(x: Any) -> Array:
    """Elementwise least integer not below a real float, as a float.

    >>> ceil(np.array([1.2, -1.7]))
    Array([ 2., -1.], dtype=float64)
    """
    return ceil_p.bind(x)


ceil_p: Primitive = primitive(
    "ceil", *elementwise("ceil", np.ceil, FLOAT), *discrete("stablehlo.ceil", STEPWISE)
)


class RoundingMethod(enum.IntEnum):
    """Where ``round`` takes numbers half-way between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """Elementwise nearest integer to a real float, as a float.

    Args:
        x: an array of real floats.
        rounding_method: where numbers half-way between two integers go.

    >>> round(np.array([0.5, 1.5, -0.5]))
    Array([ 1.,  2., -1.], dtype=float64)
    >>> round(np.array([0.5, 1.5]), RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2.], dtype=float64)
    """
    if rounding_method not in tuple(RoundingMethod):
        raise ValueError(
            f"round: rounding_method must be one of lax.RoundingMethod, but it is "
            f"{rounding_method!r:.60}."
        )
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


def _round_impl(x: NumPyArray, *, rounding_method: RoundingMethod) -> Any:
    if x.dtype.itemsize == 1:  # one half and zero, which float8_e8m0fnu lacks
        x = x.astype(np.float32)
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    # The greatest number below a half: where the sum is not exact, it is rounded to the right side.
    half = np.nextafter(x.dtype.type(0.5), x.dtype.type(0))
    return np.trunc(x + np.copysign(half, x))


def _round_lowering(ctx: LoweringContext, x: Any, *, rounding_method: RoundingMethod) -> Any:
    even = rounding_method == RoundingMethod.TO_NEAREST_EVEN
    name = "stablehlo.round_nearest_even" if even else "stablehlo.round_nearest_afz"
    return ctx.op(name, [x])[0]


round_p: Primitive = primitive(
    "round", *elementwise("round", _round_impl, FLOAT), *discrete(_round_lowering, STEPWISE)
)
