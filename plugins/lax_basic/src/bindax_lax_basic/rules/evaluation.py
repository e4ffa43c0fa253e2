"""Parts of ``impl`` rules: NumPy's functions, made exact in dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from bindax_lax_basic.dtypes import accumulator_dtype

NumPyArray = np.ndarray[Any, Any]
NumPyFunction = Callable[..., Any]


def exact(function: NumPyFunction) -> NumPyFunction:
    """A NumPy function whose result has the dtype of its first operand.

    NumPy computes on the narrow integers of ml_dtypes in a wider dtype; the result is cast back,
    which wraps around as arithmetic of that width does.

    >>> exact(np.true_divide)(np.array([3, 4], np.int8), np.int8(2))
    array([1, 2], dtype=int8)
    """

    def run(*arrays: Any, **params: Any) -> Any:
        out = function(*arrays, **params)
        dtype = arrays[0].dtype
        return out if out.dtype is dtype else out.astype(dtype, copy=False)

    return run


def comparable(x: NumPyArray) -> NumPyArray:
    """Values that NumPy orders: those of ml_dtypes in a wider dtype."""
    return x.astype(accumulator_dtype(x.dtype)) if x.dtype.kind == "V" else x


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial with the given coefficients, constant first, by Horner's rule.

    >>> polynomial(2.0, [1, 0, 3])
    13.0
    """
    out: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def choose(
    x: NumPyArray, otherwise: Callable[[Any], Any], *cases: tuple[Any, Callable[[Any], Any]]
) -> NumPyArray:
    """The first case that holds for each element, computed for those elements only.

    >>> x = np.array([-4.0, 4.0])
    >>> choose(x, np.sqrt, (x < 0, np.negative))
    array([4., 2.])
    """
    out = np.empty_like(x)
    left = np.ones(x.shape, bool)
    for condition, function in (*cases, (True, otherwise)):
        chosen = left & condition
        if chosen.all():
            return np.asarray(function(x))
        if chosen.any():
            out[chosen] = function(x[chosen])
            left &= ~chosen
    return out


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays of float64 as one of any floats, rounded once.

    >>> import math
    >>> in_double(np.vectorize(math.gamma))(np.array([3, 4], np.float32))
    array([2., 6.], dtype=float32)
    """

    @wraps(function)
    def run(*arrays: NumPyArray) -> Any:
        wide = np.broadcast_arrays(*[x.astype(np.float64) for x in arrays])
        return np.asarray(function(*wide)).astype(arrays[0].dtype)

    return run
