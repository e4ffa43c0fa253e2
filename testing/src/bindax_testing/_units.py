"""Distances of values in units in the last place, for every floating-point dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_testing._compare import wide


def spacing(values: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The unit in the last place of a dtype at values; at complex ones, at their absolute value.

    >>> spacing(np.array([1.0, 2.0]), np.dtype("float32")).tolist()
    [1.1920928955078125e-07, 2.384185791015625e-07]
    """
    real = np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype
    one, zero = np.ones((), real), np.zeros((), real)
    unit = float(np.nextafter(one, one + one)) - 1.0
    least = float(np.nextafter(zero, one))
    with np.errstate(all="ignore"):
        size = np.abs(wide(values))
    size = np.where(np.isfinite(size), size, 0.0)
    return np.asarray(np.maximum(np.ldexp(unit, np.frexp(size)[1] - 1), least))


def units_apart(got: Any, wanted: Any) -> np.ndarray[Any, Any]:
    """The distance of values from exact ones, in units in the last place of their dtype.

    >>> import numpy as np
    >>> units_apart(np.array([1 + 2**-23], np.float32), np.array([1.0])).tolist()
    [1.0]
    """
    a, b = wide(got), wide(wanted)
    with np.errstate(all="ignore"):
        distance = np.abs(a - b) / spacing(wanted, np.asarray(got).dtype)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))
