"""``jax.dtypes``: what ``bindax.dtypes`` has not."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["itemsize_bits", "scalar_type_of"]


def itemsize_bits(dtype: Any) -> int:
    """The size of an element in bits."""
    name = np.dtype(dtype).name
    narrow = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
    return int(narrow.get(name, np.dtype(dtype).itemsize * 8))


def scalar_type_of(x: Any) -> type:
    """The Python type of the elements of an array: bool, int, float or complex."""
    from bindax import dtypes

    kinds: tuple[tuple[Any, type], ...] = (
        (np.bool_, bool),
        (np.integer, int),
        (np.floating, float),
        (np.complexfloating, complex),
    )
    dtype = dtypes.result_type(x)
    for kind, scalar in kinds:
        if dtypes.issubdtype(dtype, kind):
            return scalar
    raise TypeError(f"elements of dtype {dtype} are no numbers.")
