"""``jax.dtypes``: what ``bindax.dtypes`` has not."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax import dtypes
from bindax_core.extend import ExtendedDType

__all__ = ["canonicalize_dtype", "issubdtype", "itemsize_bits", "scalar_type_of"]


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """The dtype that arrays have for one that is named, the default float for None.

    Raises:
        ValueError: for an extended dtype, as those of random keys, unless these are allowed.
    """
    if dtype is None:
        return dtypes.canonicalize_dtype(float)
    if isinstance(dtype, ExtendedDType):
        if not allow_extended_dtype:
            raise ValueError(
                f"canonicalize_dtype: {dtype} is an extended dtype; give allow_extended_dtype=True."
            )
        return dtype
    return dtypes.canonicalize_dtype(dtype)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Tell whether a dtype belongs to a kind; None is the default float, as for NumPy."""
    first, second = (np.float64 if arg is None else arg for arg in (arg1, arg2))
    return dtypes.issubdtype(first, second)


def itemsize_bits(dtype: Any) -> int:
    """The size of an element in bits."""
    name = np.dtype(dtype).name
    narrow = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
    return int(narrow.get(name, np.dtype(dtype).itemsize * 8))


def scalar_type_of(x: Any) -> type:
    """The Python type of the elements of an array: bool, int, float or complex."""
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
