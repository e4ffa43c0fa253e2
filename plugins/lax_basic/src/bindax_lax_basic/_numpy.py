"""Words for ``impl`` rules: NumPy's functions, made exact in dtype and silent.

XLA computes ``log(0)`` and overflows without a word, and so must evaluation; the state that NumPy
keeps for its floating-point warnings is set around each call, never for the user's own code.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

NumPyArray = np.ndarray[Any, Any]
NumPyFunction = Callable[..., Any]
Plan = Callable[..., NumPyFunction]
"""From the types of arrays to the function that computes on them: ``impl(plan, planned=True)``."""


def _find_error_state() -> tuple[contextvars.ContextVar[Any], Any] | None:
    """NumPy's context variable for error handling, and the value that ignores all errors.

    Setting it is four times faster than entering ``np.errstate``, which does nothing else.
    """
    with np.errstate(all="ignore"):
        for variable, value in contextvars.copy_context().items():
            if variable.name == "numpy.ufunc.extobj":
                return variable, value
    return None


_error_state = _find_error_state()


def quiet(function: NumPyFunction) -> NumPyFunction:
    """The same function, without NumPy's floating-point warnings.

    >>> import numpy as np
    >>> float(quiet(np.log)(0.0))
    -inf
    """
    if _error_state is None:

        @wraps(function)
        def slow(*arrays: Any, **params: Any) -> Any:
            with np.errstate(all="ignore"):
                return function(*arrays, **params)

        return slow
    variable, ignore = _error_state

    def silent(*arrays: Any, **params: Any) -> Any:
        token = variable.set(ignore)
        try:
            return function(*arrays, **params)
        finally:
            variable.reset(token)

    return silent


def exact(function: NumPyFunction) -> NumPyFunction:
    """A silent NumPy function whose result has the dtype of its first operand.

    NumPy computes on the narrow integers of ml_dtypes in a wider dtype; the result is cast back,
    which wraps around as arithmetic of that width does.
    """

    def run(*arrays: Any, **params: Any) -> Any:
        out = function(*arrays, **params)
        dtype = arrays[0].dtype
        return out if out.dtype == dtype else out.astype(dtype)

    return quiet(run)


# Arithmetic on few numbers takes as long as anything done besides. Functions of one and two arrays
# have words of their own, without the cost of ``*``, and what their types decide is planned ahead.


def quiet_unary(function: NumPyFunction) -> NumPyFunction:
    """``quiet`` for functions of one array without parameters."""
    if _error_state is None:
        return quiet(function)
    variable, ignore = _error_state

    def silent(x: NumPyArray) -> Any:
        token = variable.set(ignore)
        try:
            return function(x)
        finally:
            variable.reset(token)

    return silent


def quiet_binary(function: NumPyFunction) -> NumPyFunction:
    """``quiet`` for functions of two arrays without parameters."""
    if _error_state is None:
        return quiet(function)
    variable, ignore = _error_state

    def silent(x: NumPyArray, y: NumPyArray) -> Any:
        token = variable.set(ignore)
        try:
            return function(x, y)
        finally:
            variable.reset(token)

    return silent


def exact_unary(function: NumPyFunction) -> Plan:
    """``exact`` for functions of one array without parameters, as a plan for its type."""
    choose = _exact_or_native(quiet_unary(function), exact(function))
    return lambda x: choose(x.dtype)


def exact_binary(function: NumPyFunction) -> Plan:
    """``exact`` for functions of two arrays without parameters, as a plan for their types."""
    choose = _exact_or_native(quiet_binary(function), exact(function))
    return lambda x, y: choose(x.dtype, y.dtype)


def _exact_or_native(native: NumPyFunction, general: NumPyFunction) -> Plan:
    """The function itself for dtypes that it keeps, so that its results need no look."""

    @cache
    def choose(*dtypes: Any) -> NumPyFunction:
        out = native(*[np.ones(1, dtype) for dtype in dtypes])
        return native if out.dtype == dtypes[0] else general

    return choose
