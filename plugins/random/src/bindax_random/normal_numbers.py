"""Normally distributed numbers."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array
from bindax_lax_basic import (
    complex as complex_number,
)
from bindax_lax_basic import (
    convert_element_type,
    erf,
    erf_inv,
    mul,
    nextafter,
    stop_gradient,
)
from bindax_lax_basic import (
    max as maximum,
)
from bindax_lax_basic import (
    min as minimum,
)
from bindax_lax_basic.axes import broadcast_to
from bindax_lax_basic.dtypes import DType, canonical_dtype, default_dtype, is_inexact, real_dtype
from bindax_lax_basic.extend import shape_argument
from bindax_random._operands import Shape, float_dtype, result_shape
from bindax_random.keys import single_key
from bindax_random.uniform_numbers import split_in, uniform_floats


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Draw numbers of the standard normal distribution.

    Complex ones have independent parts, and a mean square of one.

    Args:
        key: a random key.
        shape: the shape of the result.
        dtype: a float or complex dtype; the default float dtype if omitted.

    Raises:
        ValueError: when the dtype is neither.

    >>> from bindax_random import key, normal
    >>> normal(key(42), (2,))
    Array([-0.02830462,  0.46713185], dtype=float32)
    """
    typed = single_key("normal", key)
    sizes = shape_argument("normal", shape)
    found = default_dtype("float") if dtype is None else canonical_dtype(dtype)
    if not is_inexact(found):
        raise ValueError(f"normal: dtype must be a float or complex dtype, but got {found.name}.")
    if found.kind != "c":
        return normal_floats(typed, sizes, found)
    parts = [normal_floats(one, sizes, real_dtype(found)) for one in split_in(typed)]
    return complex_number(*parts) / np.sqrt(2.0).astype(found)


def normal_floats(typed: Any, shape: Shape, dtype: DType) -> Any:
    """Standard normal floats of one typed key, by the inverse of the distribution function."""
    low = np.nextafter(np.array(-1).astype(dtype), np.array(0).astype(dtype))
    drawn = uniform_floats(typed, shape, dtype, low, np.ones((), dtype))
    return mul(np.sqrt(2.0).astype(dtype), erf_inv(drawn))


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None
) -> Array:
    """Draw numbers of the standard normal distribution that lie between two bounds.

    Args:
        key: a random key.
        lower: the lower bound; it is not drawn.
        upper: the upper bound; it is not drawn.
        shape: the shape of the result; that of the bounds together if omitted.
        dtype: a float dtype; the default one if omitted.

    Raises:
        ValueError: when the dtype is no float dtype, or a bound cannot be broadcast.

    >>> from bindax_random import key, truncated_normal
    >>> truncated_normal(key(42), -1.0, 1.0, (2,))
    Array([-0.01932603,  0.31317016], dtype=float32)
    """
    typed = single_key("truncated_normal", key)
    found = float_dtype("truncated_normal", dtype)
    sizes = result_shape("truncated_normal", shape, lower, upper)
    root = np.sqrt(2.0).astype(found)
    low, high = [convert_element_type(x, found) for x in (lower, upper)]
    drawn = uniform_floats(typed, sizes, found, erf(low / root), erf(high / root))
    out = mul(root, erf_inv(drawn))
    # Rounding must not give the bounds themselves.
    infinity = np.array(np.inf).astype(found)
    least, greatest = [
        broadcast_to(nextafter(stop_gradient(x), end), sizes)
        for x, end in ((low, infinity), (high, -infinity))
    ]
    return minimum(maximum(out, least), greatest)
