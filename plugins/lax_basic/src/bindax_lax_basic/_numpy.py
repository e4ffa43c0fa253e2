"""Words for ``impl`` rules: NumPy's functions, made exact in dtype and silent.

XLA computes ``log(0)`` and overflows without a word, and so must evaluation; the state that NumPy
keeps for its floating-point warnings is set around each call, never for the user's own code.
"""

from __future__ import annotations

import contextvars
import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray

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

_ALIGNMENT = 64
"""The boundary, in bytes, on which compilers take memory as it is; NumPy's begins anywhere."""

_MANY_BYTES = 1 << 20
"""The fewest bytes for which the boundary matters: fewer are soon copied."""


def empty(shape: tuple[int, ...], dtype: Any) -> NumPyArray:
    """``np.empty``, where a compiler can take the result without a copy.

    >>> empty((2, 3), np.float32).shape
    (2, 3)
    """
    dtype = np.dtype(dtype)
    count = math.prod(shape) * dtype.itemsize
    memory = np.empty(count + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    out: NumPyArray = memory[start : start + count].view(dtype).reshape(shape)
    return out


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
    return _exact_plan(function, quiet_unary(function))


def exact_binary(function: NumPyFunction) -> Plan:
    """``exact`` for functions of two arrays without parameters, as a plan for their types."""
    return _exact_plan(function, quiet_binary(function))


def _exact_plan(function: NumPyFunction, native: NumPyFunction) -> Plan:
    """The function itself for dtypes that it keeps, so that its results need no look."""
    general = exact(function)

    @cache
    def keeps(*dtypes: Any) -> bool:
        out = native(*[np.ones(1, dtype) for dtype in dtypes])
        return bool(out.dtype == dtypes[0])

    def plan(*avals: ShapedArray) -> NumPyFunction:
        if not keeps(*[x.dtype for x in avals]):
            return general
        shape, dtype = max([x.shape for x in avals], key=len), avals[0].dtype
        many = math.prod(shape) * dtype.itemsize >= _MANY_BYTES
        return _into_empty(function, shape, dtype, native) if many else native

    return plan


def _into_empty(
    function: NumPyFunction, shape: tuple[int, ...], dtype: Any, otherwise: NumPyFunction
) -> NumPyFunction:
    """A universal function that gives its result memory of ``empty``, if its operands are plain."""
    if not isinstance(function, np.ufunc):
        return otherwise
    compute = quiet(function)

    def run(*arrays: NumPyArray) -> Any:
        if not all(x.flags.c_contiguous and x.shape in (shape, ()) for x in arrays):
            return otherwise(*arrays)  # it keeps their order of axes
        return compute(*arrays, out=empty(shape, dtype))

    return run
