"""The functions that bind a primitive to one or two arrays as they are, for ``direct``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import Primitive
from bindax_lax_basic import (
    arithmetic,
    bits,
    comparison,
    complex_numbers,
    division,
    exponential,
    powers,
    rounding,
    selection,
    trigonometry,
)
from bindax_lax_basic.contraction import dot_general_p, plain_product
from bindax_lax_basic.cumulative import cummax_p, cummin_p, cumprod_p, cumsum_p, first_axis
from bindax_lax_basic.sorting import last_axis, sort_p

Parameters = Callable[..., dict[str, Any] | None]

_WITHOUT_PARAMETERS = {
    arithmetic: "add mul neg sub",
    bits: "clz mulhi population_count shift_left shift_right_arithmetic shift_right_logical",
    comparison: "eq ge gt is_finite le lt ne",
    complex_numbers: "complex imag real",
    division: "atan2 div nextafter rem",
    exponential: "cbrt exp exp2 expm1 log log1p logistic rsqrt sqrt square",
    powers: "pow",
    rounding: "abs ceil floor sign",
    selection: "max min",
    trigonometry: "acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh",
}
"""For each family the elementwise functions named like their primitives."""


def direct_calls() -> dict[str, tuple[Primitive, Parameters | None]]:
    """For the names of functions what ``direct`` takes: the primitive, and the parameters.

    >>> direct_calls()["exp"]
    (Primitive('exp'), None)
    """
    calls: dict[str, tuple[Primitive, Parameters | None]] = {
        "dot": (dot_general_p, plain_product),
        "sort": (sort_p, last_axis),
    }
    for accumulation in (cumsum_p, cumprod_p, cummax_p, cummin_p):
        calls[accumulation.name] = (accumulation, first_axis)
    for primitive in (comparison.and_p, comparison.not_p, comparison.or_p, comparison.xor_p):
        calls[f"bitwise_{primitive.name}"] = (primitive, None)
    for family, names in _WITHOUT_PARAMETERS.items():
        calls |= {name: (getattr(family, f"{name}_p"), None) for name in names.split()}
    return calls
