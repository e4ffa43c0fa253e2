"""Checks of what a program computes, whose failures are values that functions return.

An error that depends on a traced value cannot be raised while a function is traced. ``check`` says
what must hold; ``checkify`` makes a function return, beside its results, which check failed first.

>>> import numpy as np
>>> from bindax_transforms import jit
>>> error, out = jit(checkify(lambda x: 1.0 / x, errors=div_checks))(np.float32(0.0))
>>> error.get()
'division by zero'
"""

from bindax_experimental.checkify.check import check, check_error, debug_check
from bindax_experimental.checkify.errors import (
    CheckError,
    DivisionByZeroError,
    Error,
    ErrorCategory,
    FailedCheckError,
    JaxRuntimeError,
    NaNError,
    OOBError,
    all_checks,
    automatic_checks,
    div_checks,
    float_checks,
    index_checks,
    init_error,
    nan_checks,
    user_checks,
)
from bindax_experimental.checkify.interpreter import Checks, checked, checkify

__all__ = [
    "CheckError",
    "Checks",
    "DivisionByZeroError",
    "Error",
    "ErrorCategory",
    "FailedCheckError",
    "JaxRuntimeError",
    "NaNError",
    "OOBError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checked",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]
