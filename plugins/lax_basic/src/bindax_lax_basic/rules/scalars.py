"""Python scalars as arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bindax_core.extend import Array, Dimension, ShapedArray
from bindax_lax_basic.dtypes import DType, bool_

NUMBERS: Final = frozenset({bool, int, float, complex, np.int64, np.float64, np.complex128})
"""Python's numbers, and NumPy's scalars of their precision: they become arrays of any dtype."""

_SCALAR_CACHE_LIMIT: Final = 4096
_scalars: dict[tuple[type, Any, DType], Array] = {}


def scalar_array(value: Any, dtype: DType) -> Array:
    """A number as a weakly typed array of a dtype, cached: an operand, to be given to nobody else.

    Raises:
        OverflowError: when an integer does not fit into an integer dtype.
    """
    key = (type(value), value, dtype)
    found = _scalars.get(key)
    if found is None or found.is_deleted():  # by who got it as the result of an operation
        if isinstance(value, Dimension):
            from bindax_lax_basic.elementwise.conversion import convert

            return convert(value, dtype, dtype != bool_)
        try:
            # NumPy would wrap a scalar of its own around, where a Python integer is an error.
            plain = value.item() if isinstance(value, np.generic) else value
            with np.errstate(over="ignore"):  # what is too large becomes infinite
                host = np.asarray(plain, dtype)
        except OverflowError:
            raise OverflowError(
                f"the Python integer {value} does not fit into {dtype.name}; convert the array "
                f"it meets to a wider dtype first."
            ) from None
        found = Array.from_numpy(host, ShapedArray((), dtype, weak_type=dtype != bool_))
        # 0.0 equals -0.0 and nan nothing, so these three would be confused or never found.
        if value == value and (value != 0 or type(value) in (int, np.int64)):
            if len(_scalars) >= _SCALAR_CACHE_LIMIT:
                _scalars.clear()
            _scalars[key] = found
    return found
